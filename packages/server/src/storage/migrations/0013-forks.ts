import type { Migration } from "../database/migrate.ts"

/**
 * A fork records the val and the version that it was copied from. No foreign key: the fork stays
 * when the original is deleted. `fork_count` counts public forks only.
 *
 * `pinned_at` is the time as of which a pinned val resolves its own imports. It is null where that is
 * the time at which the importing version was saved; a fork keeps the time of its original.
 */
export const forks: Migration = {
  version: 13,
  name: "forks",
  statements: ({ types: { id, integer, time } }) => [
    `alter table vals add column forked_from_id ${id}`,
    `alter table vals add column forked_from_version ${integer}`,
    `alter table vals add column fork_count ${integer} not null default 0`,
    `create index vals_public_forks on vals (forked_from_id, created_at desc, id desc)
      where forked_from_id is not null and privacy = 'public'`,
    `create index vals_hidden_forks on vals (forked_from_id, owner_id, created_at desc, id desc)
      where forked_from_id is not null and privacy <> 'public'`,
    `alter table imports add column pinned_at ${time}`,
  ],
}
