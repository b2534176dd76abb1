import type { Migration } from "../database/migrate.ts"

/**
 * When vals of type interval run. A schedule is due at `next_at`, by the clock of the database; null
 * while it is paused. `waits_for_id` is the run that must end before the due time may run, and
 * `released_at` is when such a wait ended last. `notice` is what its owner has yet to be told.
 */
export const schedules: Migration = {
  version: 11,
  name: "schedules",
  statements: ({ types: { id, text, time, integer }, tableOptions }) => [
    `create table schedules (
      val_id ${id} primary key references vals (id) on delete cascade,
      owner_id ${id} not null references users (id) on delete cascade,
      cron ${text},
      every ${text},
      time_zone ${text} not null,
      overlap ${text} not null,
      catch_up ${text} not null,
      is_paused ${integer} not null,
      paused_reason ${text},
      anchor_at ${time} not null,
      next_at ${time},
      waits_for_id ${id},
      released_at ${time},
      last_run_at ${time},
      last_run_id ${id},
      last_status ${text},
      failure_count ${integer} not null,
      notice ${text},
      created_at ${time} not null,
      updated_at ${time} not null,
      check ((cron is null) <> (every is null)),
      check (overlap in ('skip', 'queue', 'allow')),
      check (catch_up in ('none', 'one'))
    ) ${tableOptions}`,
    "create index schedules_by_owner on schedules (owner_id, created_at desc, val_id desc)",
    "create index schedules_due on schedules (next_at) where next_at is not null and waits_for_id is null",
    "create index schedules_with_notice on schedules (val_id) where notice is not null",
    "create index schedules_waiting on schedules (waits_for_id) where waits_for_id is not null",
  ],
}
