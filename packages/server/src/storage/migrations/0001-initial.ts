import type { Ddl } from "../database/ddl.ts"
import type { Migration } from "../database/migrate.ts"

/**
 * Times are milliseconds since 1970, booleans are 0 or 1, and a `…_key` is the lower-case text that
 * must be unique.
 */
export const initial: Migration = {
  version: 1,
  name: "initial",
  statements: (ddl) => [...tables(ddl), ...indexes, ...searchIndex(ddl)],
}

function tables({ types, tableOptions }: Ddl): readonly string[] {
  const { id, time, integer, text, bytes, identity } = types
  const end = `) ${tableOptions}`
  return [
    `create table users (
      id ${id} primary key,
      username ${text} not null,
      username_key ${text} not null unique,
      email ${text},
      bio ${text},
      profile_image_url ${text},
      tier ${text},
      created_at ${time} not null
    ${end}`,
    `create table tokens (
      id ${id} primary key,
      user_id ${id} not null references users on delete cascade,
      hash ${bytes} not null unique,
      name ${text} not null,
      scopes ${text} not null,
      created_at ${time} not null,
      expires_at ${time},
      last_used_at ${time}
    ${end}`,
    `create table secrets (
      user_id ${id} not null references users on delete cascade,
      name ${text} not null,
      key_id ${text} not null,
      sealed ${bytes} not null,
      hosts ${text},
      created_at ${time} not null,
      updated_at ${time} not null,
      primary key (user_id, name)
    ${end}`,
    // `version` is the current version; `version_last` is the highest number ever used, so that no
    // number is used twice.
    `create table vals (
      id ${id} primary key,
      owner_id ${id} not null references users on delete cascade,
      name ${text} not null,
      name_key ${text} not null,
      privacy ${text} not null check (privacy in ('public', 'unlisted', 'private')),
      type ${text} not null check (type in ('http', 'script', 'interval', 'email')),
      readme ${text},
      version ${integer} not null,
      version_last ${integer} not null,
      like_count ${integer} not null default 0,
      reference_count ${integer} not null default 0,
      created_at ${time} not null,
      updated_at ${time} not null,
      run_started_at ${time},
      run_ended_at ${time},
      unique (owner_id, name_key)
    ${end}`,
    `create table versions (
      val_id ${id} not null references vals on delete cascade,
      version ${integer} not null,
      created_at ${time} not null,
      run_started_at ${time},
      run_ended_at ${time},
      code ${text} not null,
      primary key (val_id, version)
    ${end}`,
    // The imports in the code of a version, whether or not such vals exist.
    `create table imports (
      val_id ${id} not null,
      version ${integer} not null,
      username_key ${text} not null,
      name_key ${text} not null,
      primary key (val_id, version, username_key, name_key),
      foreign key (val_id, version) references versions on delete cascade
    ${end}`,
    // The imports of current versions, resolved to vals.
    `create table dependencies (
      from_val_id ${id} not null references vals on delete cascade,
      to_val_id ${id} not null references vals on delete cascade,
      to_owner_id ${id} not null,
      created_at ${time} not null,
      primary key (from_val_id, to_val_id)
    ${end}`,
    `create table likes (
      user_id ${id} not null references users on delete cascade,
      val_id ${id} not null references vals on delete cascade,
      created_at ${time} not null,
      primary key (user_id, val_id)
    ${end}`,
    `create table comments (
      id ${id} primary key,
      val_id ${id} not null references vals on delete cascade,
      val_owner_id ${id} not null,
      author_id ${id} not null references users on delete cascade,
      comment ${text} not null,
      created_at ${time} not null
    ${end}`,
    // No foreign key to vals: a val may have a million runs, which are deleted in the background
    // (run_purges).
    `create table runs (
      id ${id} primary key,
      val_id ${id} not null,
      version ${integer} not null,
      account_id ${id} not null,
      owner_id ${id} not null,
      parent_id ${id},
      source ${text} not null check (source in ('ui', 'api', 'http', 'interval', 'email')),
      status ${text} not null check (status in ('queued', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled', 'crashed')),
      started_at ${time} not null,
      ended_at ${time},
      logs_truncated ${integer} not null default 0,
      error ${text},
      request ${text},
      args ${text},
      return_value ${text},
      logs ${text}
    ${end}`,
    `create table run_purges (
      val_id ${id} primary key
    ${end}`,
    `create table idempotency_keys (
      user_id ${id} not null references users on delete cascade,
      key ${text} not null,
      fingerprint ${bytes} not null,
      answer ${bytes},
      expires_at ${time} not null,
      primary key (user_id, key)
    ${end}`,
    `create table settings (
      name ${text} primary key,
      value ${text} not null
    ${end}`,
    // The texts that search compares, folded as in fold-text.ts. Only the rows of public vals are in
    // the search index.
    `create table search_texts (
      key ${identity},
      val_id ${id} not null unique references vals on delete cascade,
      is_public ${integer} not null,
      name ${text} not null,
      body ${text} not null
    ${end}`,
  ]
}

const indexes: readonly string[] = [
  "create index tokens_by_user on tokens (user_id, created_at desc, id desc)",
  "create index secrets_by_user on secrets (user_id, created_at desc, name desc)",
  "create index secrets_by_key on secrets (key_id)",
  "create index vals_by_owner on vals (owner_id, created_at desc, id desc)",
  "create index vals_public on vals (created_at desc, id desc) where privacy = 'public'",
  "create index vals_public_by_rank on vals (like_count desc, created_at desc, id desc) where privacy = 'public'",
  "create index vals_public_by_owner on vals (owner_id, created_at desc, id desc) where privacy = 'public'",
  "create index vals_hidden_by_owner on vals (owner_id, like_count desc, created_at desc, id desc) where privacy <> 'public'",
  "create index vals_public_by_name on vals (name_key) where privacy = 'public'",
  "create index imports_by_name on imports (username_key, name_key)",
  "create index dependencies_by_target on dependencies (to_val_id, created_at desc, from_val_id desc)",
  "create index dependencies_by_owner on dependencies (to_owner_id, created_at desc, from_val_id desc, to_val_id desc)",
  "create index dependencies_by_source on dependencies (from_val_id, created_at desc, to_val_id desc)",
  "create index likes_by_user on likes (user_id, created_at desc, val_id desc)",
  "create index likes_by_val on likes (val_id)",
  "create index comments_by_val on comments (val_id, created_at desc, id desc)",
  "create index comments_by_author on comments (author_id, created_at desc, id desc)",
  "create index comments_received on comments (val_owner_id, created_at desc, id desc) where author_id <> val_owner_id",
  "create index runs_by_account on runs (account_id, started_at desc, id desc)",
  "create index runs_by_val on runs (val_id, started_at desc, id desc)",
  // The rare kinds have indexes of their own, so that a filter for them does not scan all the
  // others. The frequent kind, a successful run of an http val by its owner, is in two indexes only.
  "create index runs_failed_by_account on runs (account_id, started_at desc, id desc) where status in ('failed', 'timed_out', 'crashed')",
  "create index runs_failed_by_val on runs (val_id, started_at desc, id desc) where status in ('failed', 'timed_out', 'crashed')",
  "create index runs_by_account_and_source on runs (account_id, source, started_at desc, id desc) where source <> 'http'",
  "create index runs_by_val_and_source on runs (val_id, source, started_at desc, id desc) where source <> 'http'",
  "create index runs_of_others on runs (val_id, account_id, started_at desc, id desc) where account_id <> owner_id",
  "create index idempotency_keys_by_expiry on idempotency_keys (expires_at)",
]

/**
 * SQLite: two FTS5 tables over search_texts, which store no copy of the text and no positions.
 * Triggers keep them up to date. PostgreSQL: two GIN indexes; pg_trgm is a trusted extension, which
 * the owner of a database may create.
 */
function searchIndex({ choose }: Ddl): readonly string[] {
  return choose({
    sqlite: [
      `create virtual table search_name using fts5 (
      name, content = 'search_texts', content_rowid = 'key', detail = none, columnsize = 0, tokenize = 'trigram case_sensitive 1')`,
      `create virtual table search_body using fts5 (
      body, content = 'search_texts', content_rowid = 'key', detail = none, columnsize = 0, tokenize = 'trigram case_sensitive 1')`,
      `create trigger search_texts_inserted after insert on search_texts when new.is_public = 1 begin
      insert into search_name (rowid, name) values (new.key, new.name);
      insert into search_body (rowid, body) values (new.key, new.body);
    end`,
      `create trigger search_texts_deleted after delete on search_texts when old.is_public = 1 begin
      insert into search_name (search_name, rowid, name) values ('delete', old.key, old.name);
      insert into search_body (search_body, rowid, body) values ('delete', old.key, old.body);
    end`,
      `create trigger search_texts_updated after update on search_texts begin
      insert into search_name (search_name, rowid, name) select 'delete', old.key, old.name where old.is_public = 1;
      insert into search_body (search_body, rowid, body) select 'delete', old.key, old.body where old.is_public = 1;
      insert into search_name (rowid, name) select new.key, new.name where new.is_public = 1;
      insert into search_body (rowid, body) select new.key, new.body where new.is_public = 1;
    end`,
    ],
    postgres: [
      "create extension if not exists pg_trgm",
      "create index search_names on search_texts using gin (name gin_trgm_ops) where is_public = 1",
      "create index search_bodies on search_texts using gin (body gin_trgm_ops) where is_public = 1",
    ],
  })
}
