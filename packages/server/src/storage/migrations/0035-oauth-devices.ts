import type { Migration } from "../database/migrate.ts"

/**
 * Programs without a browser wait for a user to enter a code. `hash` is that of the code that the
 * program exchanges for tokens, once the user has allowed it and the row has moved to `oauth_codes`.
 */
export const oauthDevices: Migration = {
  version: 35,
  name: "oauth-devices",
  statements: ({ types: { bytes, text, time }, tableOptions }) => [
    `create table oauth_devices (
      hash ${bytes} primary key,
      user_code ${text} not null unique,
      scope ${text} not null,
      expires_at ${time} not null
    ) ${tableOptions}`,
    "create index oauth_devices_by_expiry on oauth_devices (expires_at)",
  ],
}
