-- Vals: versions, imports, likes, comments, secrets and the texts of search; packages and blobs.

-- `version` is the current version; `version_last` is the highest number ever used, so that no
-- number is used twice. `run_count` counts the runs of a val, to within a minute: it is written
-- rarely, because an index has it. `trend` is a time, see the domain.
--
-- A fork records the val and the version that it was copied from. No foreign key: the fork stays
-- when the original is deleted. `fork_count` counts public forks only.
create table vals (
  id ID primary key,
  owner_id ID not null references users on delete cascade,
  name TEXT not null,
  name_key TEXT not null,
  privacy TEXT not null check (privacy in ('public', 'unlisted', 'private')),
  type TEXT not null check (type in ('http', 'script', 'interval', 'email')),
  readme TEXT,
  version INTEGER not null,
  version_last INTEGER not null,
  like_count INTEGER not null default 0,
  reference_count INTEGER not null default 0,
  created_at TIME not null,
  updated_at TIME not null,
  run_started_at TIME,
  run_ended_at TIME,
  forked_from_id ID,
  forked_from_version INTEGER,
  fork_count INTEGER not null default 0,
  run_count TIME not null default 0,
  trend TIME not null default 0,
  unique (owner_id, name_key)
);
create index vals_by_owner on vals (owner_id, created_at desc, id desc);
create index vals_hidden_by_owner on vals (owner_id, like_count desc, created_at desc, id desc)
  where privacy <> 'public';
create index vals_hidden_forks on vals (forked_from_id, owner_id, created_at desc, id desc)
  where forked_from_id is not null and privacy <> 'public';
create index vals_public on vals (created_at desc, id desc) where privacy = 'public';
create index vals_public_by_name on vals (name_key) where privacy = 'public';
create index vals_public_by_owner on vals (owner_id, created_at desc, id desc)
  where privacy = 'public';
create index vals_public_by_rank on vals (like_count desc, created_at desc, id desc)
  where privacy = 'public';
create index vals_public_by_runs on vals (run_count desc, created_at desc, id desc)
  where privacy = 'public';
create index vals_public_by_trend on vals (trend desc, created_at desc, id desc)
  where privacy = 'public';
create index vals_public_forks on vals (forked_from_id, created_at desc, id desc)
  where forked_from_id is not null and privacy = 'public';

create table versions (
  val_id ID not null references vals on delete cascade,
  version INTEGER not null,
  created_at TIME not null,
  run_started_at TIME,
  run_ended_at TIME,
  code TEXT not null,
  primary key (val_id, version)
);

-- The imports in the code of a version, whether or not such vals exist. `specifiers` are the
-- imports as they are in the code, a JSON array; null in rows of old servers, whose code must be
-- parsed again. Imports of other people's vals are pinned: to the val that had the name when the
-- version was saved, and to its version at that time or the version in the specifier. That val may
-- be renamed or deleted and another may take its name, but the saved version keeps importing the
-- same code. No foreign key: a pin to a deleted val must not become a name that others can take.
-- `pinned_at` is the time as of which a pinned val resolves its own imports; null where that is the
-- time at which the importing version was saved. A fork keeps the time of its original.
create table imports (
  val_id ID not null,
  version INTEGER not null,
  username_key TEXT not null,
  name_key TEXT not null,
  pinned_val_id ID,
  pinned_version INTEGER,
  specifiers TEXT,
  pinned_at TIME,
  primary key (val_id, version, username_key, name_key),
  foreign key (val_id, version) references versions on delete cascade
);
create index imports_by_name on imports (username_key, name_key);
create index imports_by_pin on imports (pinned_val_id) where pinned_val_id is not null;

-- The imports of current versions, resolved to vals.
create table dependencies (
  from_val_id ID not null references vals on delete cascade,
  to_val_id ID not null references vals on delete cascade,
  to_owner_id ID not null,
  created_at TIME not null,
  primary key (from_val_id, to_val_id)
);
create index dependencies_by_owner on dependencies (to_owner_id, created_at desc, from_val_id desc, to_val_id desc);
create index dependencies_by_source on dependencies (from_val_id, created_at desc, to_val_id desc);
create index dependencies_by_target on dependencies (to_val_id, created_at desc, from_val_id desc);

create table likes (
  user_id ID not null references users on delete cascade,
  val_id ID not null references vals on delete cascade,
  created_at TIME not null,
  primary key (user_id, val_id)
);
create index likes_by_user on likes (user_id, created_at desc, val_id desc);
create index likes_by_val on likes (val_id);

create table comments (
  id ID primary key,
  val_id ID not null references vals on delete cascade,
  val_owner_id ID not null,
  author_id ID not null references users on delete cascade,
  comment TEXT not null,
  created_at TIME not null
);
create index comments_by_author on comments (author_id, created_at desc, id desc);
create index comments_by_val on comments (val_id, created_at desc, id desc);
create index comments_received on comments (val_owner_id, created_at desc, id desc)
  where author_id <> val_owner_id;

-- Secrets of accounts, and of single vals, which take the place of the account's secrets of the
-- same name.
create table secrets (
  user_id ID not null references users on delete cascade,
  name TEXT not null,
  key_id TEXT not null,
  sealed BYTES not null,
  hosts TEXT,
  created_at TIME not null,
  updated_at TIME not null,
  primary key (user_id, name)
);
create index secrets_by_key on secrets (key_id);
create index secrets_by_user on secrets (user_id, created_at desc, name desc);

create table val_secrets (
  val_id ID not null references vals (id) on delete cascade,
  name TEXT not null,
  key_id TEXT not null,
  sealed BYTES not null,
  hosts TEXT,
  created_at TIME not null,
  updated_at TIME not null,
  primary key (val_id, name)
);
create index val_secrets_by_key on val_secrets (key_id);
create index val_secrets_by_time on val_secrets (val_id, created_at desc, name desc);

-- The texts that search compares, folded as in fold-text.ts. Only the rows of public vals are in
-- the search index, which base.ts adds.
create table search_texts (
  key IDENTITY,
  val_id ID not null unique references vals on delete cascade,
  is_public INTEGER not null,
  name TEXT not null,
  body TEXT not null
);

-- A version with remote imports has a lockfile (table `locks`), created in the same transaction, so
-- that it is resolved even if the node dies. After `claimed_until` another node may take over;
-- `due_at` is the time of the next attempt. Bundles are shared by all versions
-- with the same imports and are deleted with the last of them. Their files and types have tables of
-- their own, because a row of a backup has a maximum size, most programs need only the bundle, and
-- runs never read the types.
create table locks (
  val_id ID not null,
  version INTEGER not null,
  state TEXT not null check (state in ('pending', 'ready', 'failed')),
  attempts INTEGER not null default 0,
  due_at TIME not null,
  claimed_until TIME,
  updated_at TIME not null,
  bundle_hash TEXT,
  resolution TEXT,
  primary key (val_id, version),
  foreign key (val_id, version) references versions on delete cascade
);
create index locks_by_bundle on locks (bundle_hash) where bundle_hash is not null;
create index locks_due on locks (due_at) where state = 'pending';

create table bundles (
  hash TEXT primary key,
  created_at TIME not null,
  code BYTES not null,
  cache BYTES
);

create table bundle_files (
  bundle_hash TEXT primary key references bundles (hash) on delete cascade,
  content BYTES not null
);

create table bundle_types (
  bundle_hash TEXT primary key references bundles (hash) on delete cascade,
  content BYTES not null
);

-- A small blob is in its row, a large one is an object: chunks in the database, or a file in a
-- bucket. Objects never change. An object without a blob, or one whose upload was not finished, is
-- unused and is deleted in the background. An object has a size once a blob has referred to it.
create table objects (
  id ID primary key,
  owner_id ID not null,
  place TEXT not null check (place in ('database', 's3')),
  size TIME,
  unused_since TIME
);
create index objects_unused on objects (place, unused_since) where unused_since is not null;
create index objects_unused_by_owner on objects (owner_id, unused_since)
  where unused_since is not null and size is not null;

create table object_chunks (
  object_id ID not null references objects on delete cascade,
  number INTEGER not null,
  content BYTES not null,
  primary key (object_id, number)
);

create table blobs (
  owner_id ID not null references users on delete cascade,
  key TEXT not null,
  size TIME not null,
  content_type TEXT,
  modified_at TIME not null,
  content BYTES,
  object_id ID references objects,
  primary key (owner_id, key)
);
create index blobs_by_object on blobs (object_id);
