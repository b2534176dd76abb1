CREATE TABLE audit_entries (
  id text primary key,
  at integer not null,
  action text not null,
  actor_id text,
  actor_name text not null,
  subject_id text,
  subject_name text,
  details text not null
) strict;

CREATE INDEX audit_entries_by_action on audit_entries (action, at desc, id desc);

CREATE INDEX audit_entries_by_time on audit_entries (at desc, id desc);

CREATE TABLE authorizations (
  id text primary key,
  user_id text not null references users on delete cascade,
  client_id text not null references oauth_clients on delete cascade,
  client_name text not null,
  scopes text not null,
  created_at integer not null,
  last_used_at integer not null,
  expires_at integer not null
) strict;

CREATE INDEX authorizations_by_client on authorizations (client_id);

CREATE INDEX authorizations_by_user on authorizations (user_id, created_at desc, id desc);

CREATE TABLE blobs (
  owner_id text not null references users on delete cascade,
  key text not null,
  size integer not null,
  content_type text,
  modified_at integer not null,
  content blob,
  object_id text references objects,
  primary key (owner_id, key)
) strict;

CREATE INDEX blobs_by_object on blobs (object_id);

CREATE TABLE bundle_files (
  bundle_hash text primary key references bundles (hash) on delete cascade,
  content blob not null
) strict;

CREATE TABLE bundle_types (
  bundle_hash text primary key references bundles (hash) on delete cascade,
  content blob not null
) strict;

CREATE TABLE bundles (
  hash text primary key,
  created_at integer not null,
  code blob not null,
  cache blob
) strict;

CREATE TABLE comments (
  id text primary key,
  val_id text not null references vals on delete cascade,
  val_owner_id text not null,
  author_id text not null references users on delete cascade,
  comment text not null,
  created_at integer not null
) strict;

CREATE INDEX comments_by_author on comments (author_id, created_at desc, id desc);

CREATE INDEX comments_by_val on comments (val_id, created_at desc, id desc);

CREATE INDEX comments_received on comments (val_owner_id, created_at desc, id desc) where author_id <> val_owner_id;

CREATE TABLE dependencies (
  from_val_id text not null references vals on delete cascade,
  to_val_id text not null references vals on delete cascade,
  to_owner_id text not null,
  created_at integer not null,
  primary key (from_val_id, to_val_id)
) strict;

CREATE INDEX dependencies_by_owner on dependencies (to_owner_id, created_at desc, from_val_id desc, to_val_id desc);

CREATE INDEX dependencies_by_source on dependencies (from_val_id, created_at desc, to_val_id desc);

CREATE INDEX dependencies_by_target on dependencies (to_val_id, created_at desc, from_val_id desc);

CREATE TABLE email_codes (
  user_id text primary key references users on delete cascade,
  email text not null,
  hash blob not null,
  attempts integer not null default 0,
  expires_at integer not null
) strict;

CREATE TABLE email_contents (
  email_id text primary key references emails on delete cascade,
  content blob not null
) strict;

CREATE TABLE emails (
  id text primary key,
  account_id text not null references users on delete cascade,
  kind text not null check (kind in ('val', 'api', 'notice', 'confirmation')),
  run_id text,
  val_id text,
  val_name text,
  sender text not null,
  recipients text not null,
  recipient_count integer not null,
  subject text not null,
  bytes integer not null,
  stored_bytes integer not null,
  status text not null check (status in ('waiting', 'sent', 'failed')),
  attempts integer not null default 0,
  next_attempt_at integer,
  fence integer not null default 0,
  error text,
  created_at integer not null,
  ended_at integer
) strict;

CREATE INDEX emails_by_account on emails (account_id, created_at desc, id desc);

CREATE INDEX emails_by_run on emails (run_id, id) where run_id is not null;

CREATE INDEX emails_by_status on emails (account_id, status, created_at desc, id desc);

CREATE INDEX emails_ended on emails (ended_at) where ended_at is not null;

CREATE INDEX emails_stored on emails (account_id, stored_bytes) where stored_bytes > 0;

CREATE INDEX emails_stored_by_end on emails (ended_at) where stored_bytes > 0;

CREATE INDEX emails_waiting on emails (next_attempt_at) where next_attempt_at is not null;

CREATE INDEX emails_waiting_by_account on emails (account_id, next_attempt_at, id) where next_attempt_at is not null;

CREATE TABLE idempotency_keys (
  user_id text not null references users on delete cascade,
  key text not null,
  fingerprint blob not null,
  answer blob,
  expires_at integer not null,
  node_id text,
  progress blob,
  primary key (user_id, key)
) strict;

CREATE INDEX idempotency_keys_by_expiry on idempotency_keys (expires_at);

CREATE TABLE identities (
  id text primary key,
  user_id text not null references users on delete cascade,
  issuer text not null,
  subject text not null,
  email text,
  scopes text not null,
  created_at integer not null,
  last_used_at integer
) strict;

CREATE UNIQUE INDEX identities_by_subject on identities (issuer, subject);

CREATE INDEX identities_by_user on identities (user_id, created_at desc, id desc);

CREATE TABLE imports (
  val_id text not null,
  version integer not null,
  username_key text not null,
  name_key text not null,
  pinned_val_id text,
  pinned_version integer,
  specifiers text,
  pinned_at integer,
  primary key (val_id, version, username_key, name_key),
  foreign key (val_id, version) references versions on delete cascade
) strict;

CREATE INDEX imports_by_name on imports (username_key, name_key);

CREATE INDEX imports_by_pin on imports (pinned_val_id) where pinned_val_id is not null;

CREATE TABLE incoming_mails (
  run_id text primary key references runs on delete cascade,
  email text not null
) strict;

CREATE TABLE invitations (
  id text primary key,
  hash blob not null unique,
  creator_id text not null references users on delete cascade,
  note text,
  created_at integer not null,
  expires_at integer not null,
  email text,
  quotas text
) strict;

CREATE INDEX invitations_by_creator on invitations (creator_id);

CREATE INDEX invitations_by_expiry on invitations (expires_at);

CREATE TABLE likes (
  user_id text not null references users on delete cascade,
  val_id text not null references vals on delete cascade,
  created_at integer not null,
  primary key (user_id, val_id)
) strict;

CREATE INDEX likes_by_user on likes (user_id, created_at desc, val_id desc);

CREATE INDEX likes_by_val on likes (val_id);

CREATE TABLE locks (
  val_id text not null,
  version integer not null,
  state text not null check (state in ('pending', 'ready', 'failed')),
  attempts integer not null default 0,
  due_at integer not null,
  claimed_until integer,
  updated_at integer not null,
  bundle_hash text,
  resolution text,
  primary key (val_id, version),
  foreign key (val_id, version) references versions on delete cascade
) strict;

CREATE INDEX locks_by_bundle on locks (bundle_hash) where bundle_hash is not null;

CREATE INDEX locks_due on locks (due_at) where state = 'pending';

CREATE TABLE mail_contents (
  run_id text primary key,
  owner_id text not null,
  bytes integer not null,
  content blob,
  object_id text references objects
) strict;

CREATE INDEX mail_contents_by_object on mail_contents (object_id);

CREATE INDEX mail_contents_by_owner on mail_contents (owner_id, bytes);

CREATE TABLE mail_keys (
  key text primary key,
  received_at integer not null
) strict;

CREATE INDEX mail_keys_by_time on mail_keys (received_at);

CREATE TABLE nodes (
  id text primary key,
  host text not null,
  pid integer not null,
  pid_started text not null,
  lease_until integer not null,
  begun text,
  is_gone integer not null default 0,
  claims text
) strict;

CREATE TABLE notifications (
  id text primary key,
  owner_id text not null references users (id) on delete cascade,
  type text not null,
  key text not null,
  val_id text not null references vals (id) on delete cascade,
  actor_id text references users (id) on delete cascade,
  comment_id text references comments (id) on delete cascade,
  other_val_id text references vals (id) on delete cascade,
  created_at integer not null,
  read_at integer
) strict;

CREATE INDEX notifications_by_actor on notifications (actor_id);

CREATE INDEX notifications_by_comment on notifications (comment_id);

CREATE UNIQUE INDEX notifications_by_key on notifications (owner_id, key);

CREATE INDEX notifications_by_other_val on notifications (other_val_id);

CREATE INDEX notifications_by_time on notifications (owner_id, created_at desc, id desc);

CREATE INDEX notifications_by_val on notifications (val_id);

CREATE INDEX notifications_unread on notifications (owner_id) where read_at is null;

CREATE TABLE oauth_clients (
  id text primary key,
  name text not null,
  redirect_uris text not null,
  created_at integer not null,
  last_used_at integer
) strict;

CREATE INDEX oauth_clients_unused on oauth_clients (created_at, id) where last_used_at is null;

CREATE TABLE oauth_codes (
  hash blob primary key,
  client_id text not null references oauth_clients on delete cascade,
  user_id text not null references users on delete cascade,
  redirect_uri text not null,
  challenge text not null,
  scopes text not null,
  expires_at integer not null,
  authorization_id text references authorizations on delete cascade
) strict;

CREATE INDEX oauth_codes_by_authorization on oauth_codes (authorization_id);

CREATE INDEX oauth_codes_by_client on oauth_codes (client_id);

CREATE INDEX oauth_codes_by_expiry on oauth_codes (expires_at);

CREATE INDEX oauth_codes_by_user on oauth_codes (user_id);

CREATE TABLE object_chunks (
  object_id text not null references objects on delete cascade,
  number integer not null,
  content blob not null,
  primary key (object_id, number)
) strict;

CREATE TABLE objects (
  id text primary key,
  owner_id text not null,
  place text not null check (place in ('database', 's3')),
  size integer,
  unused_since integer
) strict;

CREATE INDEX objects_unused on objects (place, unused_since) where unused_since is not null;

CREATE INDEX objects_unused_by_owner on objects (owner_id, unused_since) where unused_since is not null and size is not null;

CREATE TABLE refresh_tokens (
  hash blob primary key,
  authorization_id text not null references authorizations on delete cascade,
  used_at integer
) strict;

CREATE INDEX refresh_tokens_by_authorization on refresh_tokens (authorization_id, used_at);

CREATE TABLE run_purges (
  val_id text primary key
) strict;

CREATE TABLE run_responses (
  run_id text primary key,
  response text not null
) strict;

CREATE TABLE runs (
  id text primary key,
  val_id text not null,
  version integer not null,
  account_id text not null,
  owner_id text not null,
  parent_id text,
  node_id text,
  source text not null check (source = 'http' or source in ('ui', 'api', 'interval', 'email')),
  status text not null check (status = 'succeeded' or status in ('queued', 'running', 'failed', 'timed_out', 'cancelled', 'crashed')),
  started_at integer not null,
  ended_at integer,
  cancel_requested integer not null default 0,
  logs_truncated integer not null default 0,
  error text,
  request text,
  input text,
  args text,
  return_value text,
  logs text,
  egress text,
  bytes integer not null default 0,
  due_at integer,
  fence integer not null default 0,
  attempt integer not null default 1,
  retries integer not null default 0,
  depth integer not null default 0,
  follows_current integer not null default 0,
  last_line text,
  log_gap text
) strict;

CREATE INDEX runs_by_account on runs (account_id, started_at desc, id desc, bytes);

CREATE INDEX runs_by_account_and_source on runs (account_id, source, started_at desc, id desc) where source <> 'http';

CREATE INDEX runs_by_val on runs (val_id, started_at desc, id desc);

CREATE INDEX runs_by_val_and_source on runs (val_id, source, started_at desc, id desc) where source <> 'http';

CREATE INDEX runs_of_others on runs (val_id, account_id, started_at desc, id desc) where account_id <> owner_id;

CREATE INDEX runs_open on runs (node_id, id) where status <> 'succeeded' and status in ('queued', 'running');

CREATE INDEX runs_open_of_schedules on runs (val_id) where source = 'interval' and status <> 'succeeded' and status in ('queued', 'running');

CREATE INDEX runs_to_cancel on runs (id) where cancel_requested = 1 and ended_at is null;

CREATE INDEX runs_waiting on runs (account_id, due_at, id) where due_at is not null;

CREATE INDEX runs_waiting_by_time on runs (due_at) where due_at is not null;

CREATE INDEX runs_with_error_by_account on runs (account_id, started_at desc, id desc) where status <> 'succeeded' and status in ('failed', 'timed_out', 'cancelled', 'crashed');

CREATE INDEX runs_with_error_by_val on runs (val_id, started_at desc, id desc) where status <> 'succeeded' and status in ('failed', 'timed_out', 'cancelled', 'crashed');

CREATE TABLE schedules (
  val_id text primary key references vals (id) on delete cascade,
  owner_id text not null references users (id) on delete cascade,
  cron text,
  every text,
  time_zone text not null,
  overlap text not null,
  catch_up text not null,
  is_paused integer not null,
  paused_reason text,
  anchor_at integer not null,
  next_at integer,
  waits_for_id text,
  released_at integer,
  last_run_at integer,
  last_run_id text,
  last_status text,
  failure_count integer not null,
  notice text,
  created_at integer not null,
  updated_at integer not null,
  check ((cron is null) <> (every is null)),
  check (overlap in ('skip', 'queue', 'allow')),
  check (catch_up in ('none', 'one'))
) strict;

CREATE INDEX schedules_by_owner on schedules (owner_id, created_at desc, val_id desc);

CREATE INDEX schedules_due on schedules (next_at) where next_at is not null and waits_for_id is null;

CREATE INDEX schedules_waiting on schedules (waits_for_id) where waits_for_id is not null;

CREATE INDEX schedules_with_notice on schedules (val_id) where notice is not null;

CREATE TABLE schema_migrations (
  version integer primary key,
  name text not null,
  applied_at integer not null
);

CREATE VIRTUAL TABLE search_body using fts5 ( body, content = 'search_texts', content_rowid = 'key', detail = none, columnsize = 0, tokenize = 'trigram case_sensitive 1');

CREATE VIRTUAL TABLE search_name using fts5 ( name, content = 'search_texts', content_rowid = 'key', detail = none, columnsize = 0, tokenize = 'trigram case_sensitive 1');

CREATE TABLE search_texts (
  key integer primary key autoincrement,
  val_id text not null unique references vals on delete cascade,
  is_public integer not null,
  name text not null,
  body text not null
) strict;

CREATE TRIGGER search_texts_deleted after delete on search_texts when old.is_public = 1 begin insert into search_name (search_name, rowid, name) values ('delete', old.key, old.name); insert into search_body (search_body, rowid, body) values ('delete', old.key, old.body); end;

CREATE TRIGGER search_texts_inserted after insert on search_texts when new.is_public = 1 begin insert into search_name (rowid, name) values (new.key, new.name); insert into search_body (rowid, body) values (new.key, new.body); end;

CREATE TRIGGER search_texts_updated after update of is_public, name on search_texts begin insert into search_name (search_name, rowid, name) select 'delete', old.key, old.name where old.is_public = 1; insert into search_body (search_body, rowid, body) select 'delete', old.key, old.body where old.is_public = 1; insert into search_name (rowid, name) select new.key, new.name where new.is_public = 1; insert into search_body (rowid, body) select new.key, new.body where new.is_public = 1; end;

CREATE TABLE secrets (
  user_id text not null references users on delete cascade,
  name text not null,
  key_id text not null,
  sealed blob not null,
  hosts text,
  created_at integer not null,
  updated_at integer not null,
  primary key (user_id, name)
) strict;

CREATE INDEX secrets_by_key on secrets (key_id);

CREATE INDEX secrets_by_user on secrets (user_id, created_at desc, name desc);

CREATE TABLE settings (
  name text primary key,
  value text not null
) strict;

CREATE TABLE tokens (
  id text primary key,
  user_id text not null references users on delete cascade,
  hash blob not null unique,
  name text not null,
  scopes text not null,
  created_at integer not null,
  expires_at integer,
  last_used_at integer,
  node_id text,
  kind text not null default 'token' check (kind in ('token', 'session', 'link')),
  parent_id text references tokens on delete cascade,
  user_agent text,
  is_from_setting integer not null default 0,
  authorization_id text references authorizations on delete cascade
) strict;

CREATE INDEX tokens_by_authorization on tokens (authorization_id);

CREATE INDEX tokens_by_node on tokens (node_id) where node_id is not null;

CREATE INDEX tokens_by_parent on tokens (parent_id);

CREATE INDEX tokens_by_user on tokens (user_id, kind, created_at desc, id desc);

CREATE TABLE used_sign_ins (
  hash blob primary key,
  expires_at integer not null
) strict;

CREATE INDEX used_sign_ins_by_expiry on used_sign_ins (expires_at);

CREATE TABLE users (
  id text primary key,
  username text not null,
  username_key text not null unique,
  email text,
  bio text,
  profile_image_url text,
  tier text,
  created_at integer not null,
  secrets_version integer not null default 0,
  blob_bytes integer not null default 0,
  blob_count integer not null default 0,
  suspended_at integer,
  deleted_at integer,
  purge_at integer,
  quotas text,
  email_verified_at integer,
  muted_notifications text
) strict;

CREATE INDEX users_by_email on users (lower(email));

CREATE INDEX users_special on users (id) where suspended_at is not null or quotas is not null;

CREATE INDEX users_to_purge on users (id) where purge_at is not null;

CREATE TABLE val_secrets (
  val_id text not null references vals (id) on delete cascade,
  name text not null,
  key_id text not null,
  sealed blob not null,
  hosts text,
  created_at integer not null,
  updated_at integer not null,
  primary key (val_id, name)
) strict;

CREATE INDEX val_secrets_by_key on val_secrets (key_id);

CREATE INDEX val_secrets_by_time on val_secrets (val_id, created_at desc, name desc);

CREATE TABLE vals (
  id text primary key,
  owner_id text not null references users on delete cascade,
  name text not null,
  name_key text not null,
  privacy text not null check (privacy in ('public', 'unlisted', 'private')),
  type text not null check (type in ('http', 'script', 'interval', 'email')),
  readme text,
  version integer not null,
  version_last integer not null,
  like_count integer not null default 0,
  reference_count integer not null default 0,
  created_at integer not null,
  updated_at integer not null,
  run_started_at integer,
  run_ended_at integer,
  forked_from_id text,
  forked_from_version integer,
  fork_count integer not null default 0,
  run_count integer not null default 0,
  trend integer not null default 0,
  unique (owner_id, name_key)
) strict;

CREATE INDEX vals_by_owner on vals (owner_id, created_at desc, id desc);

CREATE INDEX vals_hidden_by_owner on vals (owner_id, like_count desc, created_at desc, id desc) where privacy <> 'public';

CREATE INDEX vals_hidden_forks on vals (forked_from_id, owner_id, created_at desc, id desc) where forked_from_id is not null and privacy <> 'public';

CREATE INDEX vals_public on vals (created_at desc, id desc) where privacy = 'public';

CREATE INDEX vals_public_by_name on vals (name_key) where privacy = 'public';

CREATE INDEX vals_public_by_owner on vals (owner_id, created_at desc, id desc) where privacy = 'public';

CREATE INDEX vals_public_by_rank on vals (like_count desc, created_at desc, id desc) where privacy = 'public';

CREATE INDEX vals_public_by_runs on vals (run_count desc, created_at desc, id desc) where privacy = 'public';

CREATE INDEX vals_public_by_trend on vals (trend desc, created_at desc, id desc) where privacy = 'public';

CREATE INDEX vals_public_forks on vals (forked_from_id, created_at desc, id desc) where forked_from_id is not null and privacy = 'public';

CREATE TABLE versions (
  val_id text not null references vals on delete cascade,
  version integer not null,
  created_at integer not null,
  run_started_at integer,
  run_ended_at integer,
  code text not null,
  primary key (val_id, version)
) strict;

CREATE TABLE webhook_deliveries (
  id text primary key,
  webhook_id text not null,
  owner_id text not null,
  type text not null,
  event_key text not null,
  at integer not null,
  depth integer not null,
  data text not null,
  is_manual integer not null default 0,
  status text not null,
  lane text,
  attempts integer not null default 0,
  attempts_before integer not null default 0,
  fence integer not null default 0,
  next_attempt_at integer,
  tried_since integer not null,
  created_at integer not null,
  ended_at integer,
  run_id text,
  response_status integer,
  error text,
  request text,
  response text,
  attempt_list text
) strict;

CREATE UNIQUE INDEX webhook_deliveries_by_event on webhook_deliveries (webhook_id, event_key);

CREATE INDEX webhook_deliveries_by_owner on webhook_deliveries (owner_id, created_at);

CREATE INDEX webhook_deliveries_by_webhook on webhook_deliveries (webhook_id, created_at desc, id desc);

CREATE INDEX webhook_deliveries_ended on webhook_deliveries (ended_at) where ended_at is not null;

CREATE INDEX webhook_deliveries_waiting on webhook_deliveries (next_attempt_at) where next_attempt_at is not null;

CREATE INDEX webhook_deliveries_waiting_by_lane on webhook_deliveries (lane, id) where next_attempt_at is not null;

CREATE INDEX webhook_deliveries_waiting_by_owner on webhook_deliveries (owner_id, next_attempt_at) where next_attempt_at is not null;

CREATE INDEX webhook_deliveries_waiting_by_webhook on webhook_deliveries (webhook_id) where next_attempt_at is not null;

CREATE TABLE webhooks (
  id text primary key,
  owner_id text not null references users on delete cascade,
  url text,
  target_val_id text references vals on delete cascade,
  events text not null,
  has_run_events integer not null,
  val_id text,
  description text,
  status text not null,
  disabled_reason text,
  failing_since integer,
  dropped_count integer not null default 0,
  key_id text not null,
  sealed blob not null,
  previous_until integer,
  created_at integer not null,
  updated_at integer not null
) strict;

CREATE INDEX webhooks_by_key on webhooks (key_id);

CREATE INDEX webhooks_by_owner on webhooks (owner_id, created_at desc, id desc);

CREATE INDEX webhooks_by_target on webhooks (target_val_id);

CREATE INDEX webhooks_of_runs on webhooks (owner_id) where has_run_events = 1 and status = 'active';
