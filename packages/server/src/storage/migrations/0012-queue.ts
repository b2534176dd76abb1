import type { Migration } from "../database/migrate.ts"

/**
 * Runs are the queue. A run waits while `due_at` is set: no node may start it before then. Claiming
 * it clears `due_at`, sets `node_id` and increments `fence`; so does taking it from a node that is
 * gone. `follows_current` is 1 until a run starts that is to run the version that is current then.
 *
 * A node lives until `lease_until`, by the clock of the database. It renews one lease for all of its
 * runs. The heartbeats of older servers were never in the future, so their nodes count as gone.
 */
export const queue: Migration = {
  version: 12,
  name: "queue",
  statements: ({ types: { time, integer } }) => [
    `alter table runs add column due_at ${time}`,
    `alter table runs add column fence ${integer} not null default 0`,
    `alter table runs add column attempt ${integer} not null default 1`,
    `alter table runs add column retries ${integer} not null default 0`,
    `alter table runs add column depth ${integer} not null default 0`,
    `alter table runs add column follows_current ${integer} not null default 0`,
    "create index runs_waiting on runs (account_id, due_at, id) where due_at is not null",
    "create index runs_waiting_by_time on runs (due_at) where due_at is not null",
    `create index runs_open_of_schedules on runs (val_id)
      where source = 'interval' and status <> 'succeeded' and status in ('queued', 'running')`,
    "alter table nodes rename column seen_at to lease_until",
  ],
}
