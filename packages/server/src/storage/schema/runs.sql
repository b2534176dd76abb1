-- Runs, which are the queue, the nodes that run them, and schedules.

-- A busy server writes thousands per second, nearly all of them successful http runs. SQLite takes
-- longer for `in` with a list than for the rest of such a row, so every condition tests the
-- frequent case before the list. No foreign key to vals: a val may have a million runs, which are
-- deleted in the background (run_purges).
--
-- `node_id` is the node of a run while it lasts. `input` is the part of a request, besides its
-- address, that a replay needs. `bytes` is the size of the run on disk, for a limit per account.
-- `last_line` is the start of its last log line, which lists show without reading the log. `file_id` is
-- the file that it has started and `branch_id` the branch; null where they are the id of the val.
--
-- Runs are the queue; `queue/queue.ts` has the states of a run. No node may start it before `due_at`.
-- `follows_current` is 1 until a run starts that is to run the version that is current then.
create table runs (
  id ID primary key,
  val_id ID not null,
  version INTEGER not null,
  account_id ID not null,
  owner_id ID not null,
  parent_id ID,
  node_id ID,
  source TEXT not null check (source = 'http' or source in ('ui', 'api', 'interval', 'email')),
  status TEXT not null
    check (status = 'succeeded' or status in ('queued', 'running', 'failed', 'timed_out', 'cancelled', 'crashed')),
  started_at TIME not null,
  ended_at TIME,
  cancel_requested INTEGER not null default 0,
  logs_truncated INTEGER not null default 0,
  error TEXT,
  request TEXT,
  input TEXT,
  args TEXT,
  return_value TEXT,
  logs TEXT,
  egress TEXT,
  bytes INTEGER not null default 0,
  due_at TIME,
  fence INTEGER not null default 0,
  attempt INTEGER not null default 1,
  retries INTEGER not null default 0,
  depth INTEGER not null default 0,
  follows_current INTEGER not null default 0,
  last_line TEXT,
  log_gap TEXT,
  file_id ID,
  branch_id ID
);
-- Contains the sizes, so that adding them up does not read the rows, which are large.
create index runs_by_account on runs (account_id, started_at desc, id desc, bytes);
-- The rare kinds have indexes of their own, so that a filter for them does not scan all the others.
-- The frequent kind, a successful run of an http val by its owner, is in two indexes only.
create index runs_by_account_and_source on runs (account_id, source, started_at desc, id desc)
  where source <> 'http';
create index runs_by_val on runs (val_id, started_at desc, id desc);
create index runs_by_val_and_source on runs (val_id, source, started_at desc, id desc)
  where source <> 'http';
create index runs_of_others on runs (val_id, account_id, started_at desc, id desc)
  where account_id <> owner_id;
create index runs_open on runs (node_id, id)
  where status <> 'succeeded' and status in ('queued', 'running');
create index runs_open_of_schedules on runs (val_id)
  where source = 'interval' and status <> 'succeeded' and status in ('queued', 'running');
create index runs_to_cancel on runs (id) where cancel_requested = 1 and ended_at is null;
create index runs_waiting on runs (account_id, due_at, id) where due_at is not null;
create index runs_waiting_by_time on runs (due_at) where due_at is not null;
create index runs_with_error_by_account on runs (account_id, started_at desc, id desc)
  where status <> 'succeeded' and status in ('failed', 'timed_out', 'cancelled', 'crashed');
create index runs_with_error_by_val on runs (val_id, started_at desc, id desc)
  where status <> 'succeeded' and status in ('failed', 'timed_out', 'cancelled', 'crashed');

-- Responses have a table of their own, so that lists do not read them. It does not refer to runs
-- with a constraint, which PostgreSQL would check for each of thousands of rows per second: runs
-- are deleted together with their responses.
create table run_responses (
  run_id ID primary key,
  response TEXT not null
);

create table run_purges (
  val_id ID primary key
);

-- A node lives until `lease_until`, by the clock of the database. It renews one lease for all of
-- its runs. `claims` is a JSON object: the runs of the queue that the node has claimed, by account,
-- as run ids with their fences. `begun` has those of them whose code has started. One row says so
-- for all runs of a node: writing each run would change its entries in six indexes. A node that is
-- gone stays here until its runs were taken from it.
create table nodes (
  id ID primary key,
  host TEXT not null,
  pid INTEGER not null,
  pid_started TEXT not null,
  lease_until TIME not null,
  begun TEXT,
  is_gone INTEGER not null default 0,
  claims TEXT
);

-- When files of type interval run; `val_id` is the val of the file. A schedule is due at `next_at`, by the clock of the database;
-- null while it is paused. `waits_for_id` is the run that must end before the due time may run, and
-- `released_at` is when such a wait ended last. `notice` is what its owner has yet to be told.
create table schedules (
  file_id ID primary key references files (id) on delete cascade,
  val_id ID not null,
  owner_id ID not null references users (id) on delete cascade,
  cron TEXT,
  every TEXT,
  time_zone TEXT not null,
  overlap TEXT not null,
  catch_up TEXT not null,
  is_paused INTEGER not null,
  paused_reason TEXT,
  anchor_at TIME not null,
  next_at TIME,
  waits_for_id ID,
  released_at TIME,
  last_run_at TIME,
  last_run_id ID,
  last_status TEXT,
  failure_count INTEGER not null,
  notice TEXT,
  created_at TIME not null,
  updated_at TIME not null,
  check ((cron is null) <> (every is null)),
  check (overlap in ('skip', 'queue', 'allow')),
  check (catch_up in ('none', 'one'))
);
-- Only schedules that are not paused count for the limit of their owner.
create index schedules_active on schedules (owner_id) where is_paused = 0;
create index schedules_by_owner on schedules (owner_id, created_at desc, file_id desc);
create index schedules_due on schedules (next_at)
  where next_at is not null and waits_for_id is null;
create index schedules_waiting on schedules (waits_for_id) where waits_for_id is not null;
create index schedules_with_notice on schedules (file_id) where notice is not null;
