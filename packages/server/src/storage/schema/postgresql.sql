create extension pg_trgm;

create table audit_entries (
  id uuid not null,
  at bigint not null,
  action text collate "C" not null,
  actor_id uuid,
  actor_name text collate "C" not null,
  subject_id uuid,
  subject_name text collate "C",
  details text collate "C" not null,
  constraint audit_entries_pkey PRIMARY KEY (id)
);

create table authorizations (
  id uuid not null,
  user_id uuid not null,
  client_id uuid not null,
  client_name text collate "C" not null,
  scopes text collate "C" not null,
  created_at bigint not null,
  last_used_at bigint not null,
  expires_at bigint not null,
  constraint authorizations_client_id_fkey FOREIGN KEY (client_id) REFERENCES oauth_clients(id) ON DELETE CASCADE,
  constraint authorizations_pkey PRIMARY KEY (id),
  constraint authorizations_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table blobs (
  owner_id uuid not null,
  key text collate "C" not null,
  size bigint not null,
  content_type text collate "C",
  modified_at bigint not null,
  content bytea,
  object_id uuid,
  constraint blobs_object_id_fkey FOREIGN KEY (object_id) REFERENCES objects(id),
  constraint blobs_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint blobs_pkey PRIMARY KEY (owner_id, key)
);

create table bundle_files (
  bundle_hash text collate "C" not null,
  content bytea not null,
  constraint bundle_files_bundle_hash_fkey FOREIGN KEY (bundle_hash) REFERENCES bundles(hash) ON DELETE CASCADE,
  constraint bundle_files_pkey PRIMARY KEY (bundle_hash)
);

create table bundle_types (
  bundle_hash text collate "C" not null,
  content bytea not null,
  constraint bundle_types_bundle_hash_fkey FOREIGN KEY (bundle_hash) REFERENCES bundles(hash) ON DELETE CASCADE,
  constraint bundle_types_pkey PRIMARY KEY (bundle_hash)
);

create table bundles (
  hash text collate "C" not null,
  created_at bigint not null,
  code bytea not null,
  cache bytea,
  constraint bundles_pkey PRIMARY KEY (hash)
);

create table comments (
  id uuid not null,
  val_id uuid not null,
  val_owner_id uuid not null,
  author_id uuid not null,
  comment text collate "C" not null,
  created_at bigint not null,
  constraint comments_author_id_fkey FOREIGN KEY (author_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint comments_pkey PRIMARY KEY (id),
  constraint comments_val_id_fkey FOREIGN KEY (val_id) REFERENCES vals(id) ON DELETE CASCADE
);

create table dependencies (
  from_val_id uuid not null,
  to_val_id uuid not null,
  to_owner_id uuid not null,
  created_at bigint not null,
  constraint dependencies_from_val_id_fkey FOREIGN KEY (from_val_id) REFERENCES vals(id) ON DELETE CASCADE,
  constraint dependencies_pkey PRIMARY KEY (from_val_id, to_val_id),
  constraint dependencies_to_val_id_fkey FOREIGN KEY (to_val_id) REFERENCES vals(id) ON DELETE CASCADE
);

create table email_codes (
  user_id uuid not null,
  email text collate "C" not null,
  hash bytea not null,
  attempts integer not null default 0,
  expires_at bigint not null,
  constraint email_codes_pkey PRIMARY KEY (user_id),
  constraint email_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table email_contents (
  email_id uuid not null,
  content bytea not null,
  constraint email_contents_email_id_fkey FOREIGN KEY (email_id) REFERENCES emails(id) ON DELETE CASCADE,
  constraint email_contents_pkey PRIMARY KEY (email_id)
);

create table emails (
  id uuid not null,
  account_id uuid not null,
  kind text collate "C" not null,
  run_id uuid,
  val_id uuid,
  val_name text collate "C",
  sender text collate "C" not null,
  recipients text collate "C" not null,
  recipient_count integer not null,
  subject text collate "C" not null,
  bytes integer not null,
  stored_bytes integer not null,
  status text collate "C" not null,
  attempts integer not null default 0,
  next_attempt_at bigint,
  fence integer not null default 0,
  error text collate "C",
  created_at bigint not null,
  ended_at bigint,
  constraint emails_account_id_fkey FOREIGN KEY (account_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint emails_kind_check CHECK ((kind = ANY (ARRAY['val'::text, 'api'::text, 'notice'::text, 'confirmation'::text]))),
  constraint emails_pkey PRIMARY KEY (id),
  constraint emails_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'sent'::text, 'failed'::text])))
);

create table idempotency_keys (
  user_id uuid not null,
  key text collate "C" not null,
  fingerprint bytea not null,
  answer bytea,
  expires_at bigint not null,
  node_id uuid,
  progress bytea,
  constraint idempotency_keys_pkey PRIMARY KEY (user_id, key),
  constraint idempotency_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table identities (
  id uuid not null,
  user_id uuid not null,
  issuer text collate "C" not null,
  subject text collate "C" not null,
  email text collate "C",
  scopes text collate "C" not null,
  created_at bigint not null,
  last_used_at bigint,
  constraint identities_pkey PRIMARY KEY (id),
  constraint identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table imports (
  val_id uuid not null,
  version integer not null,
  username_key text collate "C" not null,
  name_key text collate "C" not null,
  pinned_val_id uuid,
  pinned_version integer,
  specifiers text collate "C",
  pinned_at bigint,
  constraint imports_pkey PRIMARY KEY (val_id, version, username_key, name_key),
  constraint imports_val_id_version_fkey FOREIGN KEY (val_id, version) REFERENCES versions(val_id, version) ON DELETE CASCADE
);

create table incoming_mails (
  run_id uuid not null,
  email text collate "C" not null,
  constraint incoming_mails_pkey PRIMARY KEY (run_id),
  constraint incoming_mails_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(id) ON DELETE CASCADE
);

create table invitations (
  id uuid not null,
  hash bytea not null,
  creator_id uuid not null,
  note text collate "C",
  created_at bigint not null,
  expires_at bigint not null,
  email text collate "C",
  quotas text collate "C",
  constraint invitations_creator_id_fkey FOREIGN KEY (creator_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint invitations_hash_key UNIQUE (hash),
  constraint invitations_pkey PRIMARY KEY (id)
);

create table likes (
  user_id uuid not null,
  val_id uuid not null,
  created_at bigint not null,
  constraint likes_pkey PRIMARY KEY (user_id, val_id),
  constraint likes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint likes_val_id_fkey FOREIGN KEY (val_id) REFERENCES vals(id) ON DELETE CASCADE
);

create table locks (
  val_id uuid not null,
  version integer not null,
  state text collate "C" not null,
  attempts integer not null default 0,
  due_at bigint not null,
  claimed_until bigint,
  updated_at bigint not null,
  bundle_hash text collate "C",
  resolution text collate "C",
  constraint locks_pkey PRIMARY KEY (val_id, version),
  constraint locks_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'ready'::text, 'failed'::text]))),
  constraint locks_val_id_version_fkey FOREIGN KEY (val_id, version) REFERENCES versions(val_id, version) ON DELETE CASCADE
);

create table mail_contents (
  run_id uuid not null,
  owner_id uuid not null,
  bytes integer not null,
  content bytea,
  object_id uuid,
  constraint mail_contents_object_id_fkey FOREIGN KEY (object_id) REFERENCES objects(id),
  constraint mail_contents_pkey PRIMARY KEY (run_id)
);

create table mail_keys (
  key text collate "C" not null,
  received_at bigint not null,
  constraint mail_keys_pkey PRIMARY KEY (key)
);

create table nodes (
  id uuid not null,
  host text collate "C" not null,
  pid integer not null,
  pid_started text collate "C" not null,
  lease_until bigint not null,
  begun text collate "C",
  is_gone integer not null default 0,
  claims text collate "C",
  constraint nodes_pkey PRIMARY KEY (id)
);

create table notifications (
  id uuid not null,
  owner_id uuid not null,
  type text collate "C" not null,
  key text collate "C" not null,
  val_id uuid not null,
  actor_id uuid,
  comment_id uuid,
  other_val_id uuid,
  created_at bigint not null,
  read_at bigint,
  constraint notifications_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint notifications_comment_id_fkey FOREIGN KEY (comment_id) REFERENCES comments(id) ON DELETE CASCADE,
  constraint notifications_other_val_id_fkey FOREIGN KEY (other_val_id) REFERENCES vals(id) ON DELETE CASCADE,
  constraint notifications_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint notifications_pkey PRIMARY KEY (id),
  constraint notifications_val_id_fkey FOREIGN KEY (val_id) REFERENCES vals(id) ON DELETE CASCADE
);

create table oauth_clients (
  id uuid not null,
  name text collate "C" not null,
  redirect_uris text collate "C" not null,
  created_at bigint not null,
  last_used_at bigint,
  constraint oauth_clients_pkey PRIMARY KEY (id)
);

create table oauth_codes (
  hash bytea not null,
  client_id uuid not null,
  user_id uuid not null,
  redirect_uri text collate "C" not null,
  challenge text collate "C" not null,
  scopes text collate "C" not null,
  expires_at bigint not null,
  authorization_id uuid,
  constraint oauth_codes_authorization_id_fkey FOREIGN KEY (authorization_id) REFERENCES authorizations(id) ON DELETE CASCADE,
  constraint oauth_codes_client_id_fkey FOREIGN KEY (client_id) REFERENCES oauth_clients(id) ON DELETE CASCADE,
  constraint oauth_codes_pkey PRIMARY KEY (hash),
  constraint oauth_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table object_chunks (
  object_id uuid not null,
  number integer not null,
  content bytea not null,
  constraint object_chunks_object_id_fkey FOREIGN KEY (object_id) REFERENCES objects(id) ON DELETE CASCADE,
  constraint object_chunks_pkey PRIMARY KEY (object_id, number)
);

create table objects (
  id uuid not null,
  owner_id uuid not null,
  place text collate "C" not null,
  size bigint,
  unused_since bigint,
  constraint objects_pkey PRIMARY KEY (id),
  constraint objects_place_check CHECK ((place = ANY (ARRAY['database'::text, 's3'::text])))
);

create table refresh_tokens (
  hash bytea not null,
  authorization_id uuid not null,
  used_at bigint,
  constraint refresh_tokens_authorization_id_fkey FOREIGN KEY (authorization_id) REFERENCES authorizations(id) ON DELETE CASCADE,
  constraint refresh_tokens_pkey PRIMARY KEY (hash)
);

create table run_purges (
  val_id uuid not null,
  constraint run_purges_pkey PRIMARY KEY (val_id)
);

create table run_responses (
  run_id uuid not null,
  response text collate "C" not null,
  constraint run_responses_pkey PRIMARY KEY (run_id)
);

create table runs (
  id uuid not null,
  val_id uuid not null,
  version integer not null,
  account_id uuid not null,
  owner_id uuid not null,
  parent_id uuid,
  node_id uuid,
  source text collate "C" not null,
  status text collate "C" not null,
  started_at bigint not null,
  ended_at bigint,
  cancel_requested integer not null default 0,
  logs_truncated integer not null default 0,
  error text collate "C",
  request text collate "C",
  input text collate "C",
  args text collate "C",
  return_value text collate "C",
  logs text collate "C",
  egress text collate "C",
  bytes integer not null default 0,
  due_at bigint,
  fence integer not null default 0,
  attempt integer not null default 1,
  retries integer not null default 0,
  depth integer not null default 0,
  follows_current integer not null default 0,
  last_line text collate "C",
  log_gap text collate "C",
  constraint runs_pkey PRIMARY KEY (id),
  constraint runs_source_check CHECK (((source = 'http'::text) OR (source = ANY (ARRAY['ui'::text, 'api'::text, 'interval'::text, 'email'::text])))),
  constraint runs_status_check CHECK (((status = 'succeeded'::text) OR (status = ANY (ARRAY['queued'::text, 'running'::text, 'failed'::text, 'timed_out'::text, 'cancelled'::text, 'crashed'::text]))))
);

create table schedules (
  val_id uuid not null,
  owner_id uuid not null,
  cron text collate "C",
  every text collate "C",
  time_zone text collate "C" not null,
  overlap text collate "C" not null,
  catch_up text collate "C" not null,
  is_paused integer not null,
  paused_reason text collate "C",
  anchor_at bigint not null,
  next_at bigint,
  waits_for_id uuid,
  released_at bigint,
  last_run_at bigint,
  last_run_id uuid,
  last_status text collate "C",
  failure_count integer not null,
  notice text collate "C",
  created_at bigint not null,
  updated_at bigint not null,
  constraint schedules_catch_up_check CHECK ((catch_up = ANY (ARRAY['none'::text, 'one'::text]))),
  constraint schedules_check CHECK (((cron IS NULL) <> (every IS NULL))),
  constraint schedules_overlap_check CHECK ((overlap = ANY (ARRAY['skip'::text, 'queue'::text, 'allow'::text]))),
  constraint schedules_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint schedules_pkey PRIMARY KEY (val_id),
  constraint schedules_val_id_fkey FOREIGN KEY (val_id) REFERENCES vals(id) ON DELETE CASCADE
);

create table schema_migrations (
  version integer not null,
  name text collate "C" not null,
  applied_at bigint not null,
  constraint schema_migrations_pkey PRIMARY KEY (version)
);

create table search_texts (
  key bigint not null generated always as identity,
  val_id uuid not null,
  is_public integer not null,
  name text collate "C" not null,
  body text collate "C" not null,
  constraint search_texts_pkey PRIMARY KEY (key),
  constraint search_texts_val_id_fkey FOREIGN KEY (val_id) REFERENCES vals(id) ON DELETE CASCADE,
  constraint search_texts_val_id_key UNIQUE (val_id)
);

create table secrets (
  user_id uuid not null,
  name text collate "C" not null,
  key_id text collate "C" not null,
  sealed bytea not null,
  hosts text collate "C",
  created_at bigint not null,
  updated_at bigint not null,
  constraint secrets_pkey PRIMARY KEY (user_id, name),
  constraint secrets_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table settings (
  name text collate "C" not null,
  value text collate "C" not null,
  constraint settings_pkey PRIMARY KEY (name)
);

create table tokens (
  id uuid not null,
  user_id uuid not null,
  hash bytea not null,
  name text collate "C" not null,
  scopes text collate "C" not null,
  created_at bigint not null,
  expires_at bigint,
  last_used_at bigint,
  node_id uuid,
  kind text collate "C" not null default 'token'::text,
  parent_id uuid,
  user_agent text collate "C",
  is_from_setting integer not null default 0,
  authorization_id uuid,
  constraint tokens_authorization_id_fkey FOREIGN KEY (authorization_id) REFERENCES authorizations(id) ON DELETE CASCADE,
  constraint tokens_hash_key UNIQUE (hash),
  constraint tokens_kind_check CHECK ((kind = ANY (ARRAY['token'::text, 'session'::text, 'link'::text]))),
  constraint tokens_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES tokens(id) ON DELETE CASCADE,
  constraint tokens_pkey PRIMARY KEY (id),
  constraint tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table used_sign_ins (
  hash bytea not null,
  expires_at bigint not null,
  constraint used_sign_ins_pkey PRIMARY KEY (hash)
);

create table users (
  id uuid not null,
  username text collate "C" not null,
  username_key text collate "C" not null,
  email text collate "C",
  bio text collate "C",
  profile_image_url text collate "C",
  tier text collate "C",
  created_at bigint not null,
  secrets_version integer not null default 0,
  blob_bytes bigint not null default 0,
  blob_count integer not null default 0,
  suspended_at bigint,
  deleted_at bigint,
  purge_at bigint,
  quotas text collate "C",
  email_verified_at bigint,
  muted_notifications text collate "C",
  constraint users_pkey PRIMARY KEY (id),
  constraint users_username_key_key UNIQUE (username_key)
);

create table val_secrets (
  val_id uuid not null,
  name text collate "C" not null,
  key_id text collate "C" not null,
  sealed bytea not null,
  hosts text collate "C",
  created_at bigint not null,
  updated_at bigint not null,
  constraint val_secrets_pkey PRIMARY KEY (val_id, name),
  constraint val_secrets_val_id_fkey FOREIGN KEY (val_id) REFERENCES vals(id) ON DELETE CASCADE
);

create table vals (
  id uuid not null,
  owner_id uuid not null,
  name text collate "C" not null,
  name_key text collate "C" not null,
  privacy text collate "C" not null,
  type text collate "C" not null,
  readme text collate "C",
  version integer not null,
  version_last integer not null,
  like_count integer not null default 0,
  reference_count integer not null default 0,
  created_at bigint not null,
  updated_at bigint not null,
  run_started_at bigint,
  run_ended_at bigint,
  forked_from_id uuid,
  forked_from_version integer,
  fork_count integer not null default 0,
  run_count bigint not null default 0,
  trend bigint not null default 0,
  constraint vals_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint vals_owner_id_name_key_key UNIQUE (owner_id, name_key),
  constraint vals_pkey PRIMARY KEY (id),
  constraint vals_privacy_check CHECK ((privacy = ANY (ARRAY['public'::text, 'unlisted'::text, 'private'::text]))),
  constraint vals_type_check CHECK ((type = ANY (ARRAY['http'::text, 'script'::text, 'interval'::text, 'email'::text])))
);

create table versions (
  val_id uuid not null,
  version integer not null,
  created_at bigint not null,
  run_started_at bigint,
  run_ended_at bigint,
  code text collate "C" not null,
  constraint versions_pkey PRIMARY KEY (val_id, version),
  constraint versions_val_id_fkey FOREIGN KEY (val_id) REFERENCES vals(id) ON DELETE CASCADE
);

create table webhook_deliveries (
  id uuid not null,
  webhook_id uuid not null,
  owner_id uuid not null,
  type text collate "C" not null,
  event_key text collate "C" not null,
  at bigint not null,
  depth integer not null,
  data text collate "C" not null,
  is_manual integer not null default 0,
  status text collate "C" not null,
  lane text collate "C",
  attempts integer not null default 0,
  attempts_before integer not null default 0,
  fence integer not null default 0,
  next_attempt_at bigint,
  tried_since bigint not null,
  created_at bigint not null,
  ended_at bigint,
  run_id uuid,
  response_status integer,
  error text collate "C",
  request text collate "C",
  response text collate "C",
  attempt_list text collate "C",
  constraint webhook_deliveries_pkey PRIMARY KEY (id)
);

create table webhooks (
  id uuid not null,
  owner_id uuid not null,
  url text collate "C",
  target_val_id uuid,
  events text collate "C" not null,
  has_run_events integer not null,
  val_id uuid,
  description text collate "C",
  status text collate "C" not null,
  disabled_reason text collate "C",
  failing_since bigint,
  dropped_count integer not null default 0,
  key_id text collate "C" not null,
  sealed bytea not null,
  previous_until bigint,
  created_at bigint not null,
  updated_at bigint not null,
  constraint webhooks_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint webhooks_pkey PRIMARY KEY (id),
  constraint webhooks_target_val_id_fkey FOREIGN KEY (target_val_id) REFERENCES vals(id) ON DELETE CASCADE
);

CREATE INDEX audit_entries_by_action ON audit_entries USING btree (action, at DESC, id DESC);

CREATE INDEX audit_entries_by_time ON audit_entries USING btree (at DESC, id DESC);

CREATE INDEX authorizations_by_client ON authorizations USING btree (client_id);

CREATE INDEX authorizations_by_user ON authorizations USING btree (user_id, created_at DESC, id DESC);

CREATE INDEX blobs_by_object ON blobs USING btree (object_id);

CREATE INDEX comments_by_author ON comments USING btree (author_id, created_at DESC, id DESC);

CREATE INDEX comments_by_val ON comments USING btree (val_id, created_at DESC, id DESC);

CREATE INDEX comments_received ON comments USING btree (val_owner_id, created_at DESC, id DESC) WHERE (author_id <> val_owner_id);

CREATE INDEX dependencies_by_owner ON dependencies USING btree (to_owner_id, created_at DESC, from_val_id DESC, to_val_id DESC);

CREATE INDEX dependencies_by_source ON dependencies USING btree (from_val_id, created_at DESC, to_val_id DESC);

CREATE INDEX dependencies_by_target ON dependencies USING btree (to_val_id, created_at DESC, from_val_id DESC);

CREATE INDEX emails_by_account ON emails USING btree (account_id, created_at DESC, id DESC);

CREATE INDEX emails_by_run ON emails USING btree (run_id, id) WHERE (run_id IS NOT NULL);

CREATE INDEX emails_by_status ON emails USING btree (account_id, status, created_at DESC, id DESC);

CREATE INDEX emails_ended ON emails USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE INDEX emails_stored ON emails USING btree (account_id, stored_bytes) WHERE (stored_bytes > 0);

CREATE INDEX emails_stored_by_end ON emails USING btree (ended_at) WHERE (stored_bytes > 0);

CREATE INDEX emails_waiting ON emails USING btree (next_attempt_at) WHERE (next_attempt_at IS NOT NULL);

CREATE INDEX emails_waiting_by_account ON emails USING btree (account_id, next_attempt_at, id) WHERE (next_attempt_at IS NOT NULL);

CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys USING btree (expires_at);

CREATE UNIQUE INDEX identities_by_subject ON identities USING btree (issuer, subject);

CREATE INDEX identities_by_user ON identities USING btree (user_id, created_at DESC, id DESC);

CREATE INDEX imports_by_name ON imports USING btree (username_key, name_key);

CREATE INDEX imports_by_pin ON imports USING btree (pinned_val_id) WHERE (pinned_val_id IS NOT NULL);

CREATE INDEX invitations_by_creator ON invitations USING btree (creator_id);

CREATE INDEX invitations_by_expiry ON invitations USING btree (expires_at);

CREATE INDEX likes_by_user ON likes USING btree (user_id, created_at DESC, val_id DESC);

CREATE INDEX likes_by_val ON likes USING btree (val_id);

CREATE INDEX locks_by_bundle ON locks USING btree (bundle_hash) WHERE (bundle_hash IS NOT NULL);

CREATE INDEX locks_due ON locks USING btree (due_at) WHERE (state = 'pending'::text);

CREATE INDEX mail_contents_by_object ON mail_contents USING btree (object_id);

CREATE INDEX mail_contents_by_owner ON mail_contents USING btree (owner_id, bytes);

CREATE INDEX mail_keys_by_time ON mail_keys USING btree (received_at);

CREATE INDEX notifications_by_actor ON notifications USING btree (actor_id);

CREATE INDEX notifications_by_comment ON notifications USING btree (comment_id);

CREATE UNIQUE INDEX notifications_by_key ON notifications USING btree (owner_id, key);

CREATE INDEX notifications_by_other_val ON notifications USING btree (other_val_id);

CREATE INDEX notifications_by_time ON notifications USING btree (owner_id, created_at DESC, id DESC);

CREATE INDEX notifications_by_val ON notifications USING btree (val_id);

CREATE INDEX notifications_unread ON notifications USING btree (owner_id) WHERE (read_at IS NULL);

CREATE INDEX oauth_clients_unused ON oauth_clients USING btree (created_at, id) WHERE (last_used_at IS NULL);

CREATE INDEX oauth_codes_by_authorization ON oauth_codes USING btree (authorization_id);

CREATE INDEX oauth_codes_by_client ON oauth_codes USING btree (client_id);

CREATE INDEX oauth_codes_by_expiry ON oauth_codes USING btree (expires_at);

CREATE INDEX oauth_codes_by_user ON oauth_codes USING btree (user_id);

CREATE INDEX objects_unused ON objects USING btree (place, unused_since) WHERE (unused_since IS NOT NULL);

CREATE INDEX objects_unused_by_owner ON objects USING btree (owner_id, unused_since) WHERE ((unused_since IS NOT NULL) AND (size IS NOT NULL));

CREATE INDEX refresh_tokens_by_authorization ON refresh_tokens USING btree (authorization_id, used_at);

CREATE INDEX runs_by_account ON runs USING btree (account_id, started_at DESC, id DESC, bytes);

CREATE INDEX runs_by_account_and_source ON runs USING btree (account_id, source, started_at DESC, id DESC) WHERE (source <> 'http'::text);

CREATE INDEX runs_by_val ON runs USING btree (val_id, started_at DESC, id DESC);

CREATE INDEX runs_by_val_and_source ON runs USING btree (val_id, source, started_at DESC, id DESC) WHERE (source <> 'http'::text);

CREATE INDEX runs_of_others ON runs USING btree (val_id, account_id, started_at DESC, id DESC) WHERE (account_id <> owner_id);

CREATE INDEX runs_open ON runs USING btree (node_id, id) WHERE ((status <> 'succeeded'::text) AND (status = ANY (ARRAY['queued'::text, 'running'::text])));

CREATE INDEX runs_open_of_schedules ON runs USING btree (val_id) WHERE ((source = 'interval'::text) AND (status <> 'succeeded'::text) AND (status = ANY (ARRAY['queued'::text, 'running'::text])));

CREATE INDEX runs_to_cancel ON runs USING btree (id) WHERE ((cancel_requested = 1) AND (ended_at IS NULL));

CREATE INDEX runs_waiting ON runs USING btree (account_id, due_at, id) WHERE (due_at IS NOT NULL);

CREATE INDEX runs_waiting_by_time ON runs USING btree (due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX runs_with_error_by_account ON runs USING btree (account_id, started_at DESC, id DESC) WHERE ((status <> 'succeeded'::text) AND (status = ANY (ARRAY['failed'::text, 'timed_out'::text, 'cancelled'::text, 'crashed'::text])));

CREATE INDEX runs_with_error_by_val ON runs USING btree (val_id, started_at DESC, id DESC) WHERE ((status <> 'succeeded'::text) AND (status = ANY (ARRAY['failed'::text, 'timed_out'::text, 'cancelled'::text, 'crashed'::text])));

CREATE INDEX schedules_by_owner ON schedules USING btree (owner_id, created_at DESC, val_id DESC);

CREATE INDEX schedules_due ON schedules USING btree (next_at) WHERE ((next_at IS NOT NULL) AND (waits_for_id IS NULL));

CREATE INDEX schedules_waiting ON schedules USING btree (waits_for_id) WHERE (waits_for_id IS NOT NULL);

CREATE INDEX schedules_with_notice ON schedules USING btree (val_id) WHERE (notice IS NOT NULL);

CREATE INDEX search_bodies ON search_texts USING gin (body gin_trgm_ops) WHERE (is_public = 1);

CREATE INDEX search_names ON search_texts USING gin (name gin_trgm_ops) WHERE (is_public = 1);

CREATE INDEX secrets_by_key ON secrets USING btree (key_id);

CREATE INDEX secrets_by_user ON secrets USING btree (user_id, created_at DESC, name DESC);

CREATE INDEX tokens_by_authorization ON tokens USING btree (authorization_id);

CREATE INDEX tokens_by_node ON tokens USING btree (node_id) WHERE (node_id IS NOT NULL);

CREATE INDEX tokens_by_parent ON tokens USING btree (parent_id);

CREATE INDEX tokens_by_user ON tokens USING btree (user_id, kind, created_at DESC, id DESC);

CREATE INDEX used_sign_ins_by_expiry ON used_sign_ins USING btree (expires_at);

CREATE INDEX users_by_email ON users USING btree (lower(email));

CREATE INDEX users_special ON users USING btree (id) WHERE ((suspended_at IS NOT NULL) OR (quotas IS NOT NULL));

CREATE INDEX users_to_purge ON users USING btree (id) WHERE (purge_at IS NOT NULL);

CREATE INDEX val_secrets_by_key ON val_secrets USING btree (key_id);

CREATE INDEX val_secrets_by_time ON val_secrets USING btree (val_id, created_at DESC, name DESC);

CREATE INDEX vals_by_owner ON vals USING btree (owner_id, created_at DESC, id DESC);

CREATE INDEX vals_hidden_by_owner ON vals USING btree (owner_id, like_count DESC, created_at DESC, id DESC) WHERE (privacy <> 'public'::text);

CREATE INDEX vals_hidden_forks ON vals USING btree (forked_from_id, owner_id, created_at DESC, id DESC) WHERE ((forked_from_id IS NOT NULL) AND (privacy <> 'public'::text));

CREATE INDEX vals_public ON vals USING btree (created_at DESC, id DESC) WHERE (privacy = 'public'::text);

CREATE INDEX vals_public_by_name ON vals USING btree (name_key) WHERE (privacy = 'public'::text);

CREATE INDEX vals_public_by_owner ON vals USING btree (owner_id, created_at DESC, id DESC) WHERE (privacy = 'public'::text);

CREATE INDEX vals_public_by_rank ON vals USING btree (like_count DESC, created_at DESC, id DESC) WHERE (privacy = 'public'::text);

CREATE INDEX vals_public_by_runs ON vals USING btree (run_count DESC, created_at DESC, id DESC) WHERE (privacy = 'public'::text);

CREATE INDEX vals_public_by_trend ON vals USING btree (trend DESC, created_at DESC, id DESC) WHERE (privacy = 'public'::text);

CREATE INDEX vals_public_forks ON vals USING btree (forked_from_id, created_at DESC, id DESC) WHERE ((forked_from_id IS NOT NULL) AND (privacy = 'public'::text));

CREATE UNIQUE INDEX webhook_deliveries_by_event ON webhook_deliveries USING btree (webhook_id, event_key);

CREATE INDEX webhook_deliveries_by_owner ON webhook_deliveries USING btree (owner_id, created_at);

CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries USING btree (webhook_id, created_at DESC, id DESC);

CREATE INDEX webhook_deliveries_ended ON webhook_deliveries USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries USING btree (next_attempt_at) WHERE (next_attempt_at IS NOT NULL);

CREATE INDEX webhook_deliveries_waiting_by_lane ON webhook_deliveries USING btree (lane, id) WHERE (next_attempt_at IS NOT NULL);

CREATE INDEX webhook_deliveries_waiting_by_owner ON webhook_deliveries USING btree (owner_id, next_attempt_at) WHERE (next_attempt_at IS NOT NULL);

CREATE INDEX webhook_deliveries_waiting_by_webhook ON webhook_deliveries USING btree (webhook_id) WHERE (next_attempt_at IS NOT NULL);

CREATE INDEX webhooks_by_key ON webhooks USING btree (key_id);

CREATE INDEX webhooks_by_owner ON webhooks USING btree (owner_id, created_at DESC, id DESC);

CREATE INDEX webhooks_by_target ON webhooks USING btree (target_val_id);

CREATE INDEX webhooks_of_runs ON webhooks USING btree (owner_id) WHERE ((has_run_events = 1) AND (status = 'active'::text));
