import type { Migration } from "../database/migrate.ts"

/**
 * Lockfiles are claimed as messages are: a row records its node and the number of its claim, and
 * waits again when the node is gone. Rows of earlier releases get their owner.
 */
export const lockfileClaims: Migration = {
  version: 29,
  name: "lockfile-claims",
  statements: ({ types: { id, integer, time } }) => [
    `alter table locks add column node_id ${id}`,
    `alter table locks add column fence ${integer} not null default 0`,
    `alter table locks add column next_attempt_at ${time}`,
    "update locks set next_attempt_at = due_at where state = 'pending'",
    "update locks set owner_id = (select v.owner_id from vals v where v.id = locks.val_id) where owner_id = '00000000-0000-0000-0000-000000000000'",
    "drop index locks_by_owner",
    "alter table locks drop column due_at",
    "alter table locks drop column claimed_until",
    "create index locks_by_owner on locks (owner_id, next_attempt_at) where next_attempt_at is not null",
    "create index locks_due on locks (next_attempt_at) where next_attempt_at is not null",
    "create index locks_being_resolved on locks (node_id) where node_id is not null",
  ],
}
