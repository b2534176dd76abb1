import type { Migration } from "../database/migrate.ts"

/**
 * The schema for administration. A suspended account is refused everywhere. A deleted account is
 * suspended too, and has a `purge_at` while its data is being deleted. `quotas` is JSON, null where
 * the limits of the server apply. The audit log has no foreign keys, so that it outlives users.
 */
export const administration: Migration = {
  version: 8,
  name: "administration",
  statements: ({ types: { id, text, time, bytes }, tableOptions }) => [
    `alter table users add column suspended_at ${time}`,
    `alter table users add column deleted_at ${time}`,
    `alter table users add column purge_at ${time}`,
    `alter table users add column quotas ${text}`,
    "create index users_special on users (id) where suspended_at is not null or quotas is not null",
    "create index users_to_purge on users (id) where purge_at is not null",
    `create table invitations (
      id ${id} primary key,
      hash ${bytes} not null unique,
      creator_id ${id} not null references users on delete cascade,
      note ${text},
      created_at ${time} not null,
      expires_at ${time} not null
    ) ${tableOptions}`,
    "create index invitations_by_creator on invitations (creator_id)",
    "create index invitations_by_expiry on invitations (expires_at)",
    `create table audit_entries (
      id ${id} primary key,
      at ${time} not null,
      action ${text} not null,
      actor_id ${id},
      actor_name ${text} not null,
      subject_id ${id},
      subject_name ${text},
      details ${text} not null
    ) ${tableOptions}`,
    "create index audit_entries_by_time on audit_entries (at desc, id desc)",
    "create index audit_entries_by_action on audit_entries (action, at desc, id desc)",
  ],
}
