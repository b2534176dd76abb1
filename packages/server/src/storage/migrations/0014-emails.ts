import type { Migration } from "../database/migrate.ts"

/**
 * Outgoing emails. `emails` is an outbox: a row waits while it has a `next_attempt_at`. Its content
 * has a table of its own, because lists do not read it, and is deleted when the email was sent;
 * `stored_bytes` is its size until then. A code confirms the address of a user. Addresses from
 * before this migration are not confirmed: users could set any.
 */
export const emails: Migration = {
  version: 14,
  name: "emails",
  statements: ({ types: { id, text, time, integer, bytes }, tableOptions }) => [
    `alter table users add column email_verified_at ${time}`,
    `create table emails (
      id ${id} primary key,
      account_id ${id} not null references users on delete cascade,
      kind ${text} not null check (kind in ('val', 'api', 'notice', 'confirmation')),
      run_id ${id},
      val_id ${id},
      val_name ${text},
      sender ${text} not null,
      recipients ${text} not null,
      recipient_count ${integer} not null,
      subject ${text} not null,
      bytes ${integer} not null,
      stored_bytes ${integer} not null,
      status ${text} not null check (status in ('waiting', 'sent', 'failed')),
      attempts ${integer} not null default 0,
      next_attempt_at ${time},
      fence ${integer} not null default 0,
      error ${text},
      created_at ${time} not null,
      ended_at ${time}
    ) ${tableOptions}`,
    "create index emails_by_account on emails (account_id, created_at desc, id desc)",
    "create index emails_by_status on emails (account_id, status, created_at desc, id desc)",
    "create index emails_by_run on emails (run_id, id) where run_id is not null",
    "create index emails_waiting on emails (next_attempt_at) where next_attempt_at is not null",
    "create index emails_waiting_by_account on emails (account_id, next_attempt_at, id) where next_attempt_at is not null",
    "create index emails_stored on emails (account_id, stored_bytes) where stored_bytes > 0",
    "create index emails_stored_by_end on emails (ended_at) where stored_bytes > 0",
    "create index emails_ended on emails (ended_at) where ended_at is not null",
    `create table email_contents (
      email_id ${id} primary key references emails on delete cascade,
      content ${bytes} not null
    ) ${tableOptions}`,
    `create table email_codes (
      user_id ${id} primary key references users on delete cascade,
      email ${text} not null,
      hash ${bytes} not null,
      attempts ${integer} not null default 0,
      expires_at ${time} not null
    ) ${tableOptions}`,
  ],
}
