import type { Migration } from "../database/migrate.ts"

/**
 * Which token the setting of the server names, so that another one replaces it. And the scope
 * `backup`, which was a part of `admin` until now: what could make a backup still can.
 */
export const settingToken: Migration = {
  version: 6,
  name: "setting_token",
  statements: ({ types: { integer } }) => [
    `alter table tokens add column is_from_setting ${integer} not null default 0`,
    "update tokens set scopes = scopes || ' backup' where ' ' || scopes || ' ' like '% admin %' and ' ' || scopes || ' ' not like '% backup %'",
  ],
}
