import type { Input, Output } from "@hamlet/contract/client"

/** A webhook as the API returns it. */
export type Webhook = Output<"getWebhook">

/** A webhook with its secret, which is shown once. */
export type NewWebhook = Output<"createWebhook">

/** A kind of event. */
export type EventName = Input<"createWebhook">["events"][number]

/** The events, and what they mean. */
export const events: Readonly<Record<EventName, string>> = {
  "run.failed": "a run failed, timed out or crashed",
  "run.succeeded": "a run succeeded",
  "val.saved": "a version was saved",
  "val.deleted": "a val was deleted",
  "comment.created": "a comment was written",
  "val.liked": "a val was liked",
  "val.referenced": "another val imports one of yours",
  "schedule.failing": "a schedule has failed ten times in a row",
  "schedule.paused": "a schedule was paused after a hundred failures",
}

/** Where a webhook sends its events. */
export function toTarget({ url, targetVal }: Pick<Webhook, "url" | "targetVal">): string {
  if (url !== null) return url
  return targetVal === null ? "a val that was deleted" : `${targetVal.username}/${targetVal.name}`
}
