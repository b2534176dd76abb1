import type { Migration } from "../database/migrate.ts"

/**
 * Programs that users have authorized. An access token is a token with an authorization; deleting
 * the authorization deletes it and the refresh tokens. Used codes and refresh tokens are kept, so
 * that a second use is noticed.
 */
export const oauth: Migration = {
  version: 22,
  name: "oauth",
  statements: ({ types: { id, text, time, bytes }, tableOptions }) => [
    `create table oauth_clients (
      id ${id} primary key,
      name ${text} not null,
      redirect_uris ${text} not null,
      created_at ${time} not null,
      last_used_at ${time}
    ) ${tableOptions}`,
    "create index oauth_clients_unused on oauth_clients (created_at, id) where last_used_at is null",
    `create table authorizations (
      id ${id} primary key,
      user_id ${id} not null references users on delete cascade,
      client_id ${id} not null references oauth_clients on delete cascade,
      client_name ${text} not null,
      scopes ${text} not null,
      created_at ${time} not null,
      last_used_at ${time} not null,
      expires_at ${time} not null
    ) ${tableOptions}`,
    "create index authorizations_by_user on authorizations (user_id, created_at desc, id desc)",
    "create index authorizations_by_client on authorizations (client_id)",
    `create table oauth_codes (
      hash ${bytes} primary key,
      client_id ${id} not null references oauth_clients on delete cascade,
      user_id ${id} not null references users on delete cascade,
      redirect_uri ${text} not null,
      challenge ${text} not null,
      scopes ${text} not null,
      expires_at ${time} not null,
      authorization_id ${id} references authorizations on delete cascade
    ) ${tableOptions}`,
    "create index oauth_codes_by_expiry on oauth_codes (expires_at)",
    "create index oauth_codes_by_client on oauth_codes (client_id)",
    "create index oauth_codes_by_user on oauth_codes (user_id)",
    "create index oauth_codes_by_authorization on oauth_codes (authorization_id)",
    `create table refresh_tokens (
      hash ${bytes} primary key,
      authorization_id ${id} not null references authorizations on delete cascade,
      used_at ${time}
    ) ${tableOptions}`,
    "create index refresh_tokens_by_authorization on refresh_tokens (authorization_id, used_at)",
    `alter table tokens add column authorization_id ${id} references authorizations on delete cascade`,
    "create index tokens_by_authorization on tokens (authorization_id)",
  ],
}
