-- Received mail, notifications, and what the outbox sends: emails and deliveries to webhooks.

-- Received mail. A message has a row for each val that it was sent to, and a run. Its content is
-- deleted earlier than the run. The keys tell a second delivery of the same message.
-- `mail_contents` does not refer to runs with a constraint: its objects must be released before its
-- rows are deleted.
create table incoming_mails (
  run_id ID primary key references runs on delete cascade,
  email TEXT not null
);

create table mail_contents (
  run_id ID primary key,
  owner_id ID not null,
  bytes INTEGER not null,
  content BYTES,
  object_id ID references objects
);
create index mail_contents_by_object on mail_contents (object_id);
create index mail_contents_by_owner on mail_contents (owner_id, bytes);

create table mail_keys (
  key TEXT primary key,
  received_at TIME not null
);
create index mail_keys_by_time on mail_keys (received_at);

-- Outgoing emails. `emails` is an outbox: a row waits while it has a `next_attempt_at`. Its content
-- has a table of its own, because lists do not read it, and is deleted when the email was sent;
-- `stored_bytes` is its size until then. An email and a delivery record their node while they are
-- sent: when the node is gone, another one sends them without waiting for the end of a lease.
create table emails (
  id ID primary key,
  account_id ID not null references users on delete cascade,
  kind TEXT not null check (kind in ('val', 'api', 'notice', 'confirmation')),
  run_id ID,
  val_id ID,
  val_name TEXT,
  sender TEXT not null,
  recipients TEXT not null,
  recipient_count INTEGER not null,
  subject TEXT not null,
  bytes INTEGER not null,
  stored_bytes INTEGER not null,
  status TEXT not null check (status in ('waiting', 'sent', 'failed')),
  attempts INTEGER not null default 0,
  next_attempt_at TIME,
  fence INTEGER not null default 0,
  error TEXT,
  created_at TIME not null,
  ended_at TIME,
  node_id ID
);
create index emails_being_sent on emails (node_id) where node_id is not null;
create index emails_by_account on emails (account_id, created_at desc, id desc);
create index emails_by_run on emails (run_id, id) where run_id is not null;
create index emails_by_status on emails (account_id, status, created_at desc, id desc);
create index emails_ended on emails (ended_at) where ended_at is not null;
create index emails_stored on emails (account_id, stored_bytes) where stored_bytes > 0;
create index emails_stored_by_end on emails (ended_at) where stored_bytes > 0;
create index emails_waiting on emails (next_attempt_at) where next_attempt_at is not null;
create index emails_waiting_by_account on emails (account_id, next_attempt_at, id)
  where next_attempt_at is not null;

create table email_contents (
  email_id ID primary key references emails on delete cascade,
  content BYTES not null
);

-- `sealed` is JSON with the secrets, `events` is JSON.
create table webhooks (
  id ID primary key,
  owner_id ID not null references users on delete cascade,
  url TEXT,
  target_val_id ID references vals on delete cascade,
  events TEXT not null,
  has_run_events INTEGER not null,
  val_id ID,
  description TEXT,
  status TEXT not null,
  disabled_reason TEXT,
  failing_since TIME,
  dropped_count INTEGER not null default 0,
  key_id TEXT not null,
  sealed BYTES not null,
  previous_until TIME,
  created_at TIME not null,
  updated_at TIME not null
);
create index webhooks_by_key on webhooks (key_id);
create index webhooks_by_owner on webhooks (owner_id, created_at desc, id desc);
create index webhooks_by_target on webhooks (target_val_id);
create index webhooks_of_runs on webhooks (owner_id) where has_run_events = 1 and status = 'active';

-- What is sent to webhooks. A delivery waits while it has a `next_attempt_at`. Deliveries of a lane
-- are sent in the order of their ids. They have no foreign key: an event must not fail because its
-- webhook is deleted at the same moment. The columns about attempts are JSON.
create table webhook_deliveries (
  id ID primary key,
  webhook_id ID not null,
  owner_id ID not null,
  type TEXT not null,
  event_key TEXT not null,
  at TIME not null,
  depth INTEGER not null,
  data TEXT not null,
  is_manual INTEGER not null default 0,
  status TEXT not null,
  lane TEXT,
  attempts INTEGER not null default 0,
  attempts_before INTEGER not null default 0,
  fence INTEGER not null default 0,
  next_attempt_at TIME,
  tried_since TIME not null,
  created_at TIME not null,
  ended_at TIME,
  run_id ID,
  response_status INTEGER,
  error TEXT,
  request TEXT,
  response TEXT,
  attempt_list TEXT,
  node_id ID
);
create index webhook_deliveries_being_sent on webhook_deliveries (node_id)
  where node_id is not null;
create unique index webhook_deliveries_by_event on webhook_deliveries (webhook_id, event_key);
create index webhook_deliveries_by_owner on webhook_deliveries (owner_id, created_at);
create index webhook_deliveries_by_webhook on webhook_deliveries (webhook_id, created_at desc, id desc);
create index webhook_deliveries_ended on webhook_deliveries (ended_at) where ended_at is not null;
create index webhook_deliveries_waiting on webhook_deliveries (next_attempt_at)
  where next_attempt_at is not null;
create index webhook_deliveries_waiting_by_lane on webhook_deliveries (lane, id)
  where next_attempt_at is not null;
create index webhook_deliveries_waiting_by_owner on webhook_deliveries (owner_id, next_attempt_at)
  where next_attempt_at is not null;
create index webhook_deliveries_waiting_by_webhook on webhook_deliveries (webhook_id)
  where next_attempt_at is not null;

-- What a user is told about their vals. A row refers to what it is about, so that it always shows
-- the present state, and disappears with it; `file_id` is the file of a schedule. `key` makes an event one notification, however often
-- it happens.
create table notifications (
  id ID primary key,
  owner_id ID not null references users (id) on delete cascade,
  type TEXT not null,
  key TEXT not null,
  val_id ID not null references vals (id) on delete cascade,
  actor_id ID references users (id) on delete cascade,
  comment_id ID references comments (id) on delete cascade,
  other_val_id ID references vals (id) on delete cascade,
  created_at TIME not null,
  read_at TIME,
  file_id ID
);
create index notifications_by_actor on notifications (actor_id);
create index notifications_by_comment on notifications (comment_id);
create unique index notifications_by_key on notifications (owner_id, key);
create index notifications_by_other_val on notifications (other_val_id);
create index notifications_by_time on notifications (owner_id, created_at desc, id desc);
create index notifications_by_val on notifications (val_id);
create index notifications_unread on notifications (owner_id) where read_at is null;
