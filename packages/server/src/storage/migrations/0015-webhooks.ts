import type { Migration } from "../database/migrate.ts"

/**
 * Webhooks and what is sent to them. A delivery waits while it has a `next_attempt_at`; the end of
 * a lease is such a time, too. Deliveries of a lane are sent in the order of their ids. They have no
 * foreign key: an event must not fail because its webhook is deleted at the same moment. `sealed` is
 * JSON with the secrets, `events` and the columns about attempts are JSON.
 */
export const webhooks: Migration = {
  version: 15,
  name: "webhooks",
  statements: ({ types: { id, text, time, integer, bytes }, tableOptions }) => [
    `create table webhooks (
      id ${id} primary key,
      owner_id ${id} not null references users on delete cascade,
      url ${text},
      target_val_id ${id} references vals on delete cascade,
      events ${text} not null,
      has_run_events ${integer} not null,
      val_id ${id},
      description ${text},
      status ${text} not null,
      disabled_reason ${text},
      failing_since ${time},
      dropped_count ${integer} not null default 0,
      key_id ${text} not null,
      sealed ${bytes} not null,
      previous_until ${time},
      created_at ${time} not null,
      updated_at ${time} not null
    ) ${tableOptions}`,
    "create index webhooks_by_owner on webhooks (owner_id, created_at desc, id desc)",
    "create index webhooks_of_runs on webhooks (owner_id) where has_run_events = 1 and status = 'active'",
    "create index webhooks_by_target on webhooks (target_val_id)",
    "create index webhooks_by_key on webhooks (key_id)",
    `create table webhook_deliveries (
      id ${id} primary key,
      webhook_id ${id} not null,
      owner_id ${id} not null,
      type ${text} not null,
      event_key ${text} not null,
      at ${time} not null,
      depth ${integer} not null,
      data ${text} not null,
      is_manual ${integer} not null default 0,
      status ${text} not null,
      lane ${text},
      attempts ${integer} not null default 0,
      attempts_before ${integer} not null default 0,
      fence ${integer} not null default 0,
      next_attempt_at ${time},
      tried_since ${time} not null,
      created_at ${time} not null,
      ended_at ${time},
      run_id ${id},
      response_status ${integer},
      error ${text},
      request ${text},
      response ${text},
      attempt_list ${text}
    ) ${tableOptions}`,
    "create unique index webhook_deliveries_by_event on webhook_deliveries (webhook_id, event_key)",
    "create index webhook_deliveries_by_webhook on webhook_deliveries (webhook_id, created_at desc, id desc)",
    "create index webhook_deliveries_by_owner on webhook_deliveries (owner_id, created_at)",
    "create index webhook_deliveries_waiting on webhook_deliveries (next_attempt_at) where next_attempt_at is not null",
    "create index webhook_deliveries_waiting_by_owner on webhook_deliveries (owner_id, next_attempt_at) where next_attempt_at is not null",
    "create index webhook_deliveries_waiting_by_webhook on webhook_deliveries (webhook_id) where next_attempt_at is not null",
    "create index webhook_deliveries_waiting_by_lane on webhook_deliveries (lane, id) where next_attempt_at is not null",
    "create index webhook_deliveries_ended on webhook_deliveries (ended_at) where ended_at is not null",
  ],
}
