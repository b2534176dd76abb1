import type { Item } from "@hamlet/contract/client"

/** A run as lists return it. */
export type RunItem = Item<"listMyRuns">

/** What a run was: `GET /path`, and how it went: `200`. */
export interface RunTitle {
  readonly what: string
  /** Null for a success that needs no words. */
  readonly result: string | null
}

type Titled = Pick<RunItem, "request" | "mail" | "source" | "status" | "val">

const triggers = {
  ui: "Run",
  api: "API call",
  http: "Request",
  interval: "Schedule",
  email: "Mail",
} as const satisfies Record<RunItem["source"], string>

const outcomes = {
  queued: "queued",
  running: "running",
  succeeded: null,
  failed: "failed",
  timed_out: "timed out",
  cancelled: "cancelled",
  crashed: "crashed",
} as const satisfies Record<RunItem["status"], string | null>

/** The line that tells a run. */
export function toRunTitle(run: Titled): RunTitle {
  const outcome = outcomes[run.status]
  const { request, mail } = run
  if (request?.status === 101)
    return {
      what: `WebSocket ${toPath(request.url)}`,
      result: run.status === "running" ? "open" : outcome,
    }
  if (request)
    return {
      what: `${request.method} ${toPath(request.url)}`,
      result: request.status === null ? outcome : String(request.status),
    }
  if (mail)
    return {
      what: `Mail from ${mail.from}${mail.subject ? `: ${mail.subject}` : ""}`,
      result: outcome,
    }
  return {
    what: run.val.version === 0 ? "Code without a val" : triggers[run.source],
    result: outcome,
  }
}

/** The title of a run as one text. */
export function toRunText(run: Titled): string {
  const { what, result } = toRunTitle(run)
  return result === null ? what : `${what} → ${result}`
}

/** Whether a run went wrong: it ended without success, or its response is an error of the server. */
export function isFailure({ status, request }: Pick<RunItem, "status" | "request">): boolean {
  if (status === "queued" || status === "running") return false
  return status !== "succeeded" || (request?.status ?? 0) >= 500
}

/** The colour of a status: a response of 400 to 499 is the sender's fault. */
export function toTone(
  run: Pick<RunItem, "status" | "request">,
): "good" | "doubtful" | "bad" | "open" {
  if (run.status === "queued" || run.status === "running") return "open"
  if (isFailure(run)) return "bad"
  return (run.request?.status ?? 0) >= 400 ? "doubtful" : "good"
}

/** Path and query of an address. */
export function toPath(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined
  return url ? `${url.pathname}${url.search}` : address
}
