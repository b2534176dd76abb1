import type { Migration } from "../database/migrate.ts"

/**
 * What a user is told about their vals. A row refers to what it is about, so that it always shows
 * the present state, and disappears with it. `key` makes an event one notification, however often it
 * happens. `muted_notifications` is a JSON array of types.
 */
export const notifications: Migration = {
  version: 26,
  name: "notifications",
  statements: ({ types: { id, text, time }, tableOptions }) => [
    `create table notifications (
      id ${id} primary key,
      owner_id ${id} not null references users (id) on delete cascade,
      type ${text} not null,
      key ${text} not null,
      val_id ${id} not null references vals (id) on delete cascade,
      actor_id ${id} references users (id) on delete cascade,
      comment_id ${id} references comments (id) on delete cascade,
      other_val_id ${id} references vals (id) on delete cascade,
      created_at ${time} not null,
      read_at ${time}
    ) ${tableOptions}`,
    "create unique index notifications_by_key on notifications (owner_id, key)",
    "create index notifications_by_time on notifications (owner_id, created_at desc, id desc)",
    "create index notifications_unread on notifications (owner_id) where read_at is null",
    "create index notifications_by_val on notifications (val_id)",
    "create index notifications_by_actor on notifications (actor_id)",
    "create index notifications_by_comment on notifications (comment_id)",
    "create index notifications_by_other_val on notifications (other_val_id)",
    `alter table users add column muted_notifications ${text}`,
  ],
}
