import type { Migration } from "../database/migrate.ts"

/**
 * How much each run takes on disk, so that accounts can have a limit for it. What was written
 * before counts as nothing: it goes when it is too old. The index holds the sizes, because the rows
 * are what is large.
 */
export const runBytes: Migration = {
  version: 9,
  name: "run-bytes",
  statements: ({ types: { integer } }) => [
    `alter table runs add column bytes ${integer} not null default 0`,
    "drop index runs_by_account",
    "create index runs_by_account on runs (account_id, started_at desc, id desc, bytes)",
  ],
}
