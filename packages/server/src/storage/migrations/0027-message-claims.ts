import type { Migration } from "../database/migrate.ts"

/**
 * An email or a delivery records its node while it is sent: when the node is gone, another one sends
 * it without waiting for the end of a lease.
 */
export const messageClaims: Migration = {
  version: 27,
  name: "message-claims",
  statements: ({ types: { id } }) => [
    `alter table emails add column node_id ${id}`,
    "create index emails_being_sent on emails (node_id) where node_id is not null",
    `alter table webhook_deliveries add column node_id ${id}`,
    "create index webhook_deliveries_being_sent on webhook_deliveries (node_id) where node_id is not null",
  ],
}
