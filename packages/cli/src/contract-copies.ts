import type { Input, Item, Output } from "@hamlet/contract/client"

/*
 * Closed lists copied from the contract, which a test compares. Importing them would also load every
 * schema, and that takes longer than most commands run.
 */

/** The privacy settings of a val, most open first. */
export const privacies: readonly Output<"getVal">["privacy"][] = ["public", "unlisted", "private"]

/** The types of a val. */
export const valTypes: readonly Output<"getVal">["type"][] = ["http", "script", "interval", "email"]

/** What can start a run. */
export const runSources: readonly Item<"listMyRuns">["source"][] = [
  "ui",
  "api",
  "http",
  "interval",
  "email",
]

/** The statuses of a run. */
export const runStatuses: readonly Item<"listMyRuns">["status"][] = [
  "queued",
  "running",
  "succeeded",
  "failed",
  "timed_out",
  "cancelled",
  "crashed",
]

/** The events that webhooks can subscribe to. */
export const eventTypes: Input<"createWebhook">["events"] = [
  "run.failed",
  "run.succeeded",
  "val.saved",
  "val.deleted",
  "comment.created",
  "val.liked",
  "val.referenced",
  "schedule.failing",
  "schedule.paused",
]

/** What can have become of a message to a webhook. */
export const deliveryStatuses: readonly Item<"listDeliveries">["status"][] = [
  "waiting",
  "delivered",
  "failed",
]

/** What a schedule does at a due time while the previous run has not ended. */
export const scheduleOverlaps: readonly Output<"getSchedule">["overlap"][] = [
  "skip",
  "queue",
  "allow",
]

/** How many runs make up for the due times that a schedule missed. */
export const scheduleCatchUps: readonly Output<"getSchedule">["catchUp"][] = ["none", "one"]

/** The scopes of a token. */
export const scopes: Input<"createToken">["scopes"] = [
  "val:read",
  "val:write",
  "user:read",
  "user:write",
  "run:read",
  "run:write",
  "blob:read",
  "blob:write",
  "sqlite:read",
  "sqlite:write",
  "email:write",
  "openai:write",
  "admin",
  "backup",
]

/** The actions in the audit log. */
export const auditActions: readonly NonNullable<Input<"listAuditEntries">["action"]>[] = [
  "user.create",
  "user.suspend",
  "user.unsuspend",
  "user.delete",
  "user.delete_with_data",
  "user.set_quotas",
  "user.set_email",
  "user.sign_up",
  "identity.link",
  "identity.unlink",
  "token.create",
  "invitation.create",
  "invitation.revoke",
  "invitation.accept",
  "backup.read",
  "key.rotate",
]
