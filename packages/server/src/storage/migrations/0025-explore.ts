import type { Migration } from "../database/migrate.ts"

/**
 * `run_count` counts the runs of a val, to within a minute: it is written rarely, because an index
 * has it. `trend` is a time, see the domain; a val with likes begins with the time of the latest.
 */
export const explore: Migration = {
  version: 25,
  name: "explore",
  statements: ({ types: { time } }) => [
    `alter table vals add column run_count ${time} not null default 0`,
    `alter table vals add column trend ${time} not null default 0`,
    `update vals set run_count = (select count(*) from runs where runs.val_id = vals.id),
      trend = coalesce((select max(likes.created_at) from likes where likes.val_id = vals.id), 0)`,
    `create index vals_public_by_runs on vals (run_count desc, created_at desc, id desc) where privacy = 'public'`,
    `create index vals_public_by_trend on vals (trend desc, created_at desc, id desc) where privacy = 'public'`,
  ],
}
