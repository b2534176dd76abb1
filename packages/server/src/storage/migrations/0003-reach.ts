import type { Ddl } from "../database/ddl.ts"
import type { Migration } from "../database/migrate.ts"

/** The schema for egress of runs, for remote imports of versions, and for blobs. */
export const reach: Migration = {
  version: 3,
  name: "reach",
  statements: (ddl) => [
    `alter table runs add column egress ${ddl.types.text}`,
    ...dependencies(ddl),
    ...blobs(ddl),
  ],
}

/**
 * A version with remote imports has a lockfile (table `locks`), created in the same transaction, so
 * that it is resolved even if the node dies. After `claimed_until` another node may take over;
 * `due_at` is the time of the next attempt. Bundles are shared by all versions with the same imports
 * and are deleted with the last of them.
 */
function dependencies({
  types: { id, integer, text, time, bytes },
  tableOptions,
}: Ddl): readonly string[] {
  return [
    `create table locks (
      val_id ${id} not null,
      version ${integer} not null,
      state ${text} not null check (state in ('pending', 'ready', 'failed')),
      attempts ${integer} not null default 0,
      due_at ${time} not null,
      claimed_until ${time},
      updated_at ${time} not null,
      bundle_hash ${text},
      resolution ${text},
      primary key (val_id, version),
      foreign key (val_id, version) references versions on delete cascade
    ) ${tableOptions}`,
    "create index locks_due on locks (due_at) where state = 'pending'",
    "create index locks_by_bundle on locks (bundle_hash) where bundle_hash is not null",
    `create table bundles (
      hash ${text} primary key,
      created_at ${time} not null,
      code ${bytes} not null,
      cache ${bytes}
    ) ${tableOptions}`,
  ]
}

/**
 * A small blob is in its row, a large one is an object: chunks in the database, or a file in a
 * bucket. Objects never change. An object without a blob, or one whose upload was not finished, is
 * unused and is deleted in the background. An object has a size once a blob has referred to it.
 */
function blobs({
  types: { id, integer, text, time, bytes },
  tableOptions,
}: Ddl): readonly string[] {
  return [
    `create table objects (
      id ${id} primary key,
      owner_id ${id} not null,
      place ${text} not null check (place in ('database', 's3')),
      size ${time},
      unused_since ${time}
    ) ${tableOptions}`,
    "create index objects_unused on objects (place, unused_since) where unused_since is not null",
    "create index objects_unused_by_owner on objects (owner_id, unused_since) where unused_since is not null and size is not null",
    `create table object_chunks (
      object_id ${id} not null references objects on delete cascade,
      number ${integer} not null,
      content ${bytes} not null,
      primary key (object_id, number)
    ) ${tableOptions}`,
    `create table blobs (
      owner_id ${id} not null references users on delete cascade,
      key ${text} not null,
      size ${time} not null,
      content_type ${text},
      modified_at ${time} not null,
      content ${bytes},
      object_id ${id} references objects,
      primary key (owner_id, key)
    ) ${tableOptions}`,
    "create index blobs_by_object on blobs (object_id)",
    `alter table users add column blob_bytes ${time} not null default 0`,
    `alter table users add column blob_count ${integer} not null default 0`,
  ]
}
