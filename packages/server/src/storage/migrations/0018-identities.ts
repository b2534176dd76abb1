import type { Migration } from "../database/migrate.ts"

/**
 * A person at an OpenID Connect provider, and the user whom a sign-in there signs in. `scopes` are
 * those of the sessions that it starts. `used_sign_ins` has the responses of the provider that were
 * used, until they would be refused because of their age.
 */
export const identities: Migration = {
  version: 18,
  name: "identities",
  statements: ({ types: { id, text, time, bytes }, tableOptions }) => [
    `create table identities (
      id ${id} primary key,
      user_id ${id} not null references users on delete cascade,
      issuer ${text} not null,
      subject ${text} not null,
      email ${text},
      scopes ${text} not null,
      created_at ${time} not null,
      last_used_at ${time}
    ) ${tableOptions}`,
    "create unique index identities_by_subject on identities (issuer, subject)",
    "create index identities_by_user on identities (user_id, created_at desc, id desc)",
    "create index users_by_email on users (lower(email))",
    `create table used_sign_ins (
      hash ${bytes} primary key,
      expires_at ${time} not null
    ) ${tableOptions}`,
    "create index used_sign_ins_by_expiry on used_sign_ins (expires_at)",
  ],
}
