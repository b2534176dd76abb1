import type { Migration } from "../database/migrate.ts"

/**
 * `claims` is a JSON object: the runs of the queue that the node has claimed, by account, as run ids
 * with their fences. One row says so for all runs of a node: writing each run would change its entries in six
 * indexes. A claimed run keeps its `due_at` until it is recorded as running or ended.
 *
 * A fence above 0 marks the runs of the queue. It no longer changes with a claim, but whenever a
 * claim ends without an outcome.
 */
export const claims: Migration = {
  version: 21,
  name: "claims",
  statements: ({ types: { text } }) => [
    `alter table nodes add column claims ${text}`,
    "update runs set fence = 1 where due_at is not null and fence = 0",
    "create index runs_to_cancel on runs (id) where cancel_requested = 1 and ended_at is null",
  ],
}
