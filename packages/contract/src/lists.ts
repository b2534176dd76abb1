/*
 * Closed lists of the API, apart from the schemas that use them: a program that only needs the
 * values, such as the command line, does not load every schema for them.
 */

/** The privacy settings of a val, most open first. */
export const privacies = ["public", "unlisted", "private"] as const

/** The types of a val: how it is started. */
export const valTypes = ["http", "script", "interval", "email"] as const

/** The types of a file: a val's, text that nothing starts, or a folder of files. */
export const fileTypes = ["directory", "file", ...valTypes] as const

/** What a token may do. */
export const scopes = [
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
  // All data on the server, including private vals of all users. Not part of `admin`.
  "backup",
] as const

/** What a person can be in an organisation. */
export const roles = ["owner", "member", "viewer"] as const

/** What can start a run. */
export const runSources = ["ui", "api", "http", "interval", "email"] as const

/** The statuses of a run. */
export const runStatuses = [
  "queued",
  "running",
  "succeeded",
  "failed",
  "timed_out",
  "cancelled",
  "crashed",
] as const

/** What a schedule does at a due time while the previous run has not ended. */
export const scheduleOverlaps = ["skip", "queue", "allow"] as const

/** How many runs make up for the due times that a schedule missed while no server was running. */
export const scheduleCatchUps = ["none", "one"] as const

/** What owners can be told about their vals. */
export const eventTypes = [
  "run.failed",
  "run.succeeded",
  "val.saved",
  "val.deleted",
  "comment.created",
  "val.liked",
  "val.referenced",
  "schedule.failing",
  "schedule.paused",
] as const

/** A message to a webhook is `waiting` until it is delivered, or until the last attempt failed. */
export const deliveryStatuses = ["waiting", "delivered", "failed"] as const

/** The statuses of an outgoing email. A waiting one is tried again until it is sent, for a day. */
export const emailStatuses = ["waiting", "sent", "failed"] as const

/**
 * The states of a node. A silent one has not renewed its lease in time; one that is gone is removed
 * when its runs were taken from it.
 */
export const nodeStates = ["active", "stopping", "silent", "gone"] as const

/** The actions in the audit log. */
export const auditActions = [
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
  "org.create",
  "org.delete",
  "member.invite",
  "member.join",
  "member.decline",
  "member.change",
  "member.remove",
  "backup.read",
  "key.rotate",
] as const
