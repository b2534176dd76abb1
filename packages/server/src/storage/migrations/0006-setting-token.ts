import type { Migration } from "../database/migrate.ts"

/**
 * Marks the token of the server's setting, so that another one replaces it. Adds the scope `backup`,
 * which was part of `admin` before, to all tokens with `admin`.
 */
export const settingToken: Migration = {
  version: 6,
  name: "setting_token",
  statements: ({ types: { integer } }) => [
    `alter table tokens add column is_from_setting ${integer} not null default 0`,
    "update tokens set scopes = scopes || ' backup' where ' ' || scopes || ' ' like '% admin %' and ' ' || scopes || ' ' not like '% backup %'",
  ],
}
