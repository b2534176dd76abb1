import type { Migration } from "../database/migrate.ts"

/** Owners take turns when their lockfiles are resolved. The next migration fills the new column. */
export const lockfileOwners: Migration = {
  version: 28,
  name: "lockfile-owners",
  statements: ({ types: { id } }) => [
    `alter table locks add column owner_id ${id} not null default '00000000-0000-0000-0000-000000000000'`,
    "drop index locks_due",
    "create index locks_by_owner on locks (owner_id, due_at) where state = 'pending'",
  ],
}
