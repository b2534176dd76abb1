import type { Migration } from "../database/migrate.ts"

/**
 * The file that a run has started, and its branch. Null where the id is that of the val: those of
 * its first file and of `main` are, and so are those of all runs so far.
 */
export const runFiles: Migration = {
  version: 34,
  name: "run-files",
  statements: ({ types: { id } }) => [
    `alter table runs add column file_id ${id}`,
    `alter table runs add column branch_id ${id}`,
  ],
}
