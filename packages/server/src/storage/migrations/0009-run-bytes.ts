import type { Migration } from "../database/migrate.ts"

/**
 * The size of each run on disk, for a limit per account. Older runs count as 0 and are deleted by
 * age. The index contains the sizes, so that adding them up does not read the rows, which are large.
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
