-- Users, and what authenticates and administers them.

-- A suspended account is refused everywhere. A deleted account is suspended too, and has a
-- `purge_at` while its data is being deleted. `quotas` is JSON, null where the limits of the server
-- apply. `muted_notifications` is a JSON array of types. A code confirms the email address of a
-- user; `email_verified_at` is null until then.
create table users (
  id ID primary key,
  username TEXT not null,
  username_key TEXT not null unique,
  email TEXT,
  bio TEXT,
  profile_image_url TEXT,
  tier TEXT,
  created_at TIME not null,
  secrets_version INTEGER not null default 0,
  blob_bytes TIME not null default 0,
  blob_count INTEGER not null default 0,
  suspended_at TIME,
  deleted_at TIME,
  purge_at TIME,
  quotas TEXT,
  email_verified_at TIME,
  muted_notifications TEXT
);
create index users_by_email on users (lower(email));
create index users_special on users (id) where suspended_at is not null or quotas is not null;
create index users_to_purge on users (id) where purge_at is not null;

create table email_codes (
  user_id ID primary key references users on delete cascade,
  email TEXT not null,
  hash BYTES not null,
  attempts INTEGER not null default 0,
  expires_at TIME not null
);

-- Programs that users have authorized. An access token is a token with an authorization; deleting
-- the authorization deletes it and the refresh tokens. Used codes and refresh tokens are kept, so
-- that a second use is noticed.
create table oauth_clients (
  id ID primary key,
  name TEXT not null,
  redirect_uris TEXT not null,
  created_at TIME not null,
  last_used_at TIME
);
create index oauth_clients_unused on oauth_clients (created_at, id) where last_used_at is null;

create table authorizations (
  id ID primary key,
  user_id ID not null references users on delete cascade,
  client_id ID not null references oauth_clients on delete cascade,
  client_name TEXT not null,
  scopes TEXT not null,
  created_at TIME not null,
  last_used_at TIME not null,
  expires_at TIME not null
);
create index authorizations_by_client on authorizations (client_id);
create index authorizations_by_user on authorizations (user_id, created_at desc, id desc);

create table oauth_codes (
  hash BYTES primary key,
  client_id ID not null references oauth_clients on delete cascade,
  user_id ID not null references users on delete cascade,
  redirect_uri TEXT not null,
  challenge TEXT not null,
  scopes TEXT not null,
  expires_at TIME not null,
  authorization_id ID references authorizations on delete cascade
);
create index oauth_codes_by_authorization on oauth_codes (authorization_id);
create index oauth_codes_by_client on oauth_codes (client_id);
create index oauth_codes_by_expiry on oauth_codes (expires_at);
create index oauth_codes_by_user on oauth_codes (user_id);

-- Programs without a browser wait for a user to enter a code. `hash` is that of the code that the
-- program exchanges for tokens, once the user has allowed it and the row has moved to `oauth_codes`.
create table oauth_devices (
  hash BYTES primary key,
  user_code TEXT not null unique,
  scope TEXT not null,
  expires_at TIME not null
);
create index oauth_devices_by_expiry on oauth_devices (expires_at);

create table refresh_tokens (
  hash BYTES primary key,
  authorization_id ID not null references authorizations on delete cascade,
  used_at TIME
);
create index refresh_tokens_by_authorization on refresh_tokens (authorization_id, used_at);

-- A session is a token in a cookie, and a sign-in link is a token that can be used once.
-- `parent_id` is the token that either was created with: revoking it ends them. Tokens with a
-- `node_id` belong to the processes of a node: no list shows them, and they end with the node;
-- `val_id` is the val whose storage they reach. The token of the server's setting is marked, so that
-- another one replaces it.
create table tokens (
  id ID primary key,
  user_id ID not null references users on delete cascade,
  hash BYTES not null unique,
  name TEXT not null,
  scopes TEXT not null,
  created_at TIME not null,
  expires_at TIME,
  last_used_at TIME,
  node_id ID,
  kind TEXT not null default 'token' check (kind in ('token', 'session', 'link')),
  parent_id ID references tokens on delete cascade,
  user_agent TEXT,
  is_from_setting INTEGER not null default 0,
  authorization_id ID references authorizations on delete cascade,
  val_id ID
);
create index tokens_by_authorization on tokens (authorization_id);
create index tokens_by_node on tokens (node_id) where node_id is not null;
create index tokens_by_parent on tokens (parent_id);
create index tokens_by_user on tokens (user_id, kind, created_at desc, id desc);

-- A person at an OpenID Connect provider, and the user whom a sign-in there signs in. `scopes` are
-- those of the sessions that it starts. `used_sign_ins` has the responses of the provider that were
-- used, until they would be refused because of their age.
create table identities (
  id ID primary key,
  user_id ID not null references users on delete cascade,
  issuer TEXT not null,
  subject TEXT not null,
  email TEXT,
  scopes TEXT not null,
  created_at TIME not null,
  last_used_at TIME
);
create unique index identities_by_subject on identities (issuer, subject);
create index identities_by_user on identities (user_id, created_at desc, id desc);

create table used_sign_ins (
  hash BYTES primary key,
  expires_at TIME not null
);
create index used_sign_ins_by_expiry on used_sign_ins (expires_at);

-- Invitations contain the email address and the quotas, as JSON, that the invited person gets. The
-- audit log has no foreign keys, so that it outlives users.
create table invitations (
  id ID primary key,
  hash BYTES not null unique,
  creator_id ID not null references users on delete cascade,
  note TEXT,
  created_at TIME not null,
  expires_at TIME not null,
  email TEXT,
  quotas TEXT
);
create index invitations_by_creator on invitations (creator_id);
create index invitations_by_expiry on invitations (expires_at);

create table audit_entries (
  id ID primary key,
  at TIME not null,
  action TEXT not null,
  actor_id ID,
  actor_name TEXT not null,
  subject_id ID,
  subject_name TEXT,
  details TEXT not null
);
create index audit_entries_by_action on audit_entries (action, at desc, id desc);
create index audit_entries_by_time on audit_entries (at desc, id desc);

-- An idempotency key records its node and its progress, in the transaction of each write. Settings
-- are small facts about the installation.
create table idempotency_keys (
  user_id ID not null references users on delete cascade,
  key TEXT not null,
  fingerprint BYTES not null,
  answer BYTES,
  expires_at TIME not null,
  node_id ID,
  progress BYTES,
  primary key (user_id, key)
);
create index idempotency_keys_by_expiry on idempotency_keys (expires_at);

create table settings (
  name TEXT primary key,
  value TEXT not null
);
