import type { Migration } from "../database/migrate.ts"

/**
 * A branch and its parent can be merged. `branches.base_id` and `base_version` are the last version of
 * one of them that the other has taken in; null before the first merge, when it is version 0 of the
 * branch. `files.origin_id` is the file of the parent that a file of a branch is a copy of. Branches
 * that exist began with copies of the files that their parent had at the same paths.
 */
export const merges: Migration = {
  version: 39,
  name: "merges",
  statements: ({ types: { id, integer } }) => [
    `alter table branches add column base_id ${id}`,
    `alter table branches add column base_version ${integer}`,
    `alter table files add column origin_id ${id}`,
    `update files set origin_id = (
      select p.file_id from branches b
      join states c on c.branch_id = b.id and c.since = 0 and c.file_id = files.id
      join states p on p.branch_id = b.forked_from_id and p.path = c.path and p.since <= b.forked_from_version
      where b.id = files.branch_id order by p.since desc limit 1)
      where branch_id in (select id from branches where forked_from_id is not null)`,
  ],
}
