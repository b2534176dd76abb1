import type { Migration } from "../database/migrate.ts"

/**
 * Schedules of files. Those that exist are of the entry file of `main`, or of the val's first file if
 * there is no entry file. `val_id` is the val of the file. Only schedules that are not paused count
 * for the limit of their owner. A notification about a schedule names its file.
 */
export const scheduleFiles: Migration = {
  version: 36,
  name: "schedule-files",
  statements: ({ types: { id, integer, text, time }, tableOptions }) => [
    `create table new_schedules (
      file_id ${id} primary key references files (id) on delete cascade,
      val_id ${id} not null,
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
    `insert into new_schedules (file_id, val_id, ${kept})
      select f.id, s.val_id, ${kept
        .split(", ")
        .map((column) => `s.${column}`)
        .join(", ")}
      from schedules s join branches b on b.id = s.val_id
      left join versions n on n.branch_id = b.id and n.version = b.version
      left join states e on e.branch_id = n.branch_id and e.path = n.entry_path and e.since = n.entry_since
      join files f on f.id = coalesce(e.file_id, s.val_id)`,
    "drop table schedules",
    "alter table new_schedules rename to schedules",
    "create index schedules_by_owner on schedules (owner_id, created_at desc, file_id desc)",
    "create index schedules_active on schedules (owner_id) where is_paused = 0",
    `create index schedules_due on schedules (next_at)
      where next_at is not null and waits_for_id is null`,
    "create index schedules_waiting on schedules (waits_for_id) where waits_for_id is not null",
    "create index schedules_with_notice on schedules (file_id) where notice is not null",
    `alter table notifications add column file_id ${id}`,
  ],
}

const kept = `owner_id, cron, every, time_zone, overlap, catch_up, is_paused, paused_reason, anchor_at, next_at, \
waits_for_id, released_at, last_run_at, last_run_id, last_status, failure_count, notice, created_at, updated_at`
