import type { Migration } from "../database/migrate.ts"

/**
 * Received mail. A message has a row for each val that it was sent to, and a run. Its content is
 * deleted earlier than the run. The keys tell a second delivery of the same message. `mail_contents`
 * does not refer to runs with a constraint: its objects must be released before its rows are
 * deleted.
 */
export const incomingMail: Migration = {
  version: 16,
  name: "incoming-mail",
  statements: ({ types: { id, integer, text, bytes, time }, tableOptions }) => [
    `create table incoming_mails (
      run_id ${id} primary key references runs on delete cascade,
      email ${text} not null
    ) ${tableOptions}`,
    `create table mail_contents (
      run_id ${id} primary key,
      owner_id ${id} not null,
      bytes ${integer} not null,
      content ${bytes},
      object_id ${id} references objects
    ) ${tableOptions}`,
    "create index mail_contents_by_owner on mail_contents (owner_id, bytes)",
    "create index mail_contents_by_object on mail_contents (object_id)",
    `create table mail_keys (
      key ${text} primary key,
      received_at ${time} not null
    ) ${tableOptions}`,
    "create index mail_keys_by_time on mail_keys (received_at)",
  ],
}
