import type { Migration } from "../database/migrate.ts"

/**
 * What one val stores. Its blobs have a table of their own, because the key of `blobs` begins with
 * a user, and the large table would have to be written again. They do not refer to their val with a
 * constraint: those of a deleted val are deleted in the background (`val_purges`), in parts and
 * with their objects. A token of a run says whose storage it reaches.
 */
export const valStorage: Migration = {
  version: 37,
  name: "val-storage",
  statements: ({ types: { id, text, time, bytes }, tableOptions }) => [
    `create table val_blobs (
      val_id ${id} not null,
      key ${text} not null,
      size ${time} not null,
      content_type ${text},
      modified_at ${time} not null,
      content ${bytes},
      object_id ${id} references objects,
      primary key (val_id, key)
    ) ${tableOptions}`,
    "create index val_blobs_by_object on val_blobs (object_id)",
    `create table val_purges (
      val_id ${id} primary key,
      owner_id ${id} not null,
      due_at ${time} not null
    ) ${tableOptions}`,
    "create index val_purges_by_time on val_purges (due_at)",
    `alter table tokens add column val_id ${id}`,
  ],
}
