-- Vals: versions, imports, likes, comments, secrets and the texts of search; packages and blobs.

-- `run_count` counts the runs of a val, to within a minute: it is written
-- rarely, because an index has it. `trend` is a time, see the domain.
--
-- A fork records the val and the version that it was copied from. No foreign key: the fork stays
-- when the original is deleted. `fork_count` counts public forks only. `image_url` is the address of a
-- picture, or a small one itself.
create table vals (
  id ID primary key,
  owner_id ID not null references users on delete cascade,
  name TEXT not null,
  name_key TEXT not null,
  privacy TEXT not null check (privacy in ('public', 'unlisted', 'private')),
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
  description TEXT,
  branch_count INTEGER not null default 1,
  image_url TEXT,
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

-- Every val has the branch `main`, which has the id of its val. `version` is the current version;
-- `version_last` the highest number ever used, so that no number is used twice. `entry_type` is the type
-- of the current version's entry file. `file_count` counts the files of the current version and `bytes`
-- the bytes of all texts, so that lists and limits need no sum. `base_id` and `base_version` are the last
-- version of a branch or its parent that the other has taken in; null before the first merge, when it is
-- version 0 of the branch.
create table branches (
  id ID primary key,
  val_id ID not null references vals on delete cascade,
  name TEXT not null,
  name_key TEXT not null,
  version INTEGER not null,
  version_last INTEGER not null,
  entry_type TEXT,
  forked_from_id ID,
  forked_from_version INTEGER,
  created_at TIME not null,
  updated_at TIME not null,
  file_count INTEGER not null default 0,
  bytes TIME not null default 0,
  base_id ID,
  base_version INTEGER,
  unique (val_id, name_key)
);

-- `entry_path` and `entry_since` are the state of the entry file, `readme_since` is that of README.md;
-- null where the version has no such file.
create table versions (
  branch_id ID not null references branches on delete cascade,
  version INTEGER not null,
  created_at TIME not null,
  run_started_at TIME,
  run_ended_at TIME,
  author_id ID,
  note TEXT,
  entry_path TEXT,
  entry_since INTEGER,
  readme_since INTEGER,
  primary key (branch_id, version)
);

-- `path` is where the file is, or was when it was deleted. `origin_id` is the file of the parent that a
-- file of a branch is a copy of.
create table files (
  id ID primary key,
  branch_id ID not null references branches on delete cascade,
  path TEXT not null,
  origin_id ID
);
create index files_by_branch on files (branch_id);

-- States are only appended. A state holds from the version `since` until the next row of its path; one
-- without a type is the end of the path. The file at a path in a version is the last row that is not
-- newer than the version. The check is without `in`, for which SQLite builds an index in each insert.
create table states (
  branch_id ID not null references branches on delete cascade,
  path TEXT not null,
  since INTEGER not null,
  file_id ID not null,
  type TEXT check (type = 'http' or type = 'script' or type = 'interval' or type = 'email' or type = 'file' or type = 'directory'),
  created_at TIME not null,
  content TEXT,
  primary key (branch_id, path, since)
);

-- The imports in the text of a state, whether or not such vals exist. `branch_key` is the branch that
-- the specifiers name, empty for main. `specifiers` are the imports as they are in the code, a JSON
-- array; null in rows of old servers, whose code must be parsed again. Imports of other people's vals are pinned: to the val that had the name when the
-- version was saved, and to its version at that time or the version in the specifier. That val may
-- be renamed or deleted and another may take its name, but the saved version keeps importing the
-- same code. No foreign key: a pin to a deleted val must not become a name that others can take.
-- `pinned_at` is the time as of which a pinned val resolves its own imports; null where that is the
-- time at which the importing version was saved. A fork keeps the time of its original.
create table imports (
  branch_id ID not null,
  path TEXT not null,
  since INTEGER not null,
  username_key TEXT not null,
  name_key TEXT not null,
  branch_key TEXT not null default '',
  pinned_val_id ID,
  pinned_version INTEGER,
  specifiers TEXT,
  pinned_at TIME,
  primary key (branch_id, path, since, username_key, name_key, branch_key),
  foreign key (branch_id, path, since) references states on delete cascade
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
  description TEXT,
  primary key (val_id, name)
);
create index val_secrets_by_key on val_secrets (key_id);
create index val_secrets_by_time on val_secrets (val_id, created_at desc, name desc);

-- The texts that search compares, folded as in fold-text.ts: one with the name, description, code and
-- readme of a val, whose `path` is empty, and one for each other file of `main`. Only the rows of public vals are in
-- the search index, which base.ts adds.
create table search_texts (
  key IDENTITY,
  val_id ID not null references vals on delete cascade,
  path TEXT not null default '',
  is_public INTEGER not null,
  name TEXT not null,
  body TEXT not null,
  unique (val_id, path)
);

-- The vals that need more than the texts they have; housekeeping indexes them.
create table search_backlog (
  val_id ID primary key references vals on delete cascade
);

-- A version with remote imports has a lockfile (table `locks`), created in the same transaction, so
-- that it is resolved even if the node dies. It is claimed as messages are. Bundles are shared by all
-- versions with the same imports and are deleted with the last of them. Their files and types have tables of
-- their own, because a row of a backup has a maximum size, most programs need only the bundle, and
-- runs never read the types.
create table locks (
  branch_id ID not null,
  version INTEGER not null,
  owner_id ID not null,
  state TEXT not null check (state in ('pending', 'ready', 'failed')),
  attempts INTEGER not null default 0,
  next_attempt_at TIME,
  node_id ID,
  fence INTEGER not null default 0,
  updated_at TIME not null,
  bundle_hash TEXT,
  resolution TEXT,
  primary key (branch_id, version),
  foreign key (branch_id, version) references versions on delete cascade
);
create index locks_being_resolved on locks (node_id) where node_id is not null;
create index locks_by_bundle on locks (bundle_hash) where bundle_hash is not null;
create index locks_by_owner on locks (owner_id, next_attempt_at) where next_attempt_at is not null;
create index locks_due on locks (next_attempt_at) where next_attempt_at is not null;

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

-- The blobs of single vals. They do not refer to their val with a constraint: those of a deleted val are
-- deleted in the background (`val_purges`), in parts and with their objects.
create table val_blobs (
  val_id ID not null,
  key TEXT not null,
  size TIME not null,
  content_type TEXT,
  modified_at TIME not null,
  content BYTES,
  object_id ID references objects,
  primary key (val_id, key)
);
create index val_blobs_by_object on val_blobs (object_id);

create table val_purges (
  val_id ID primary key,
  owner_id ID not null,
  due_at TIME not null
);
create index val_purges_by_time on val_purges (due_at);
