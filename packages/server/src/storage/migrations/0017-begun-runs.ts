import type { Migration } from "../database/migrate.ts"

/**
 * `begun` is a JSON object: the claims of the node whose code has started, as run ids with their
 * fences. One row says so for all runs of a node, because writing each run once more would take as
 * long as claiming it. A node that is gone stays here until its runs were taken from it.
 */
export const begunRuns: Migration = {
  version: 17,
  name: "begun-runs",
  statements: ({ types: { integer, text } }) => [
    `alter table nodes add column begun ${text}`,
    `alter table nodes add column is_gone ${integer} not null default 0`,
  ],
}
