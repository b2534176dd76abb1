import { AppError } from "../../domain/app-error.ts"

/** Whether the client wants to be answered before the work is done. */
export function prefersAsync(request: Request): boolean {
  return listOf(request, "prefer").includes("respond-async")
}

/** Whether the client wants events as they happen; it has to say so by name. */
export function wantsEvents(request: Request): boolean {
  return listOf(request, "accept").includes("text/event-stream")
}

/**
 * The first line that a client has not seen yet, which comes back with the id of the last one that
 * it has.
 */
export function parseLastEventId(request: Request): number {
  const header = request.headers.get("last-event-id")
  if (header === null || header === "") return 0
  if (/^\d{1,9}$/.test(header)) return Number(header) + 1
  const message = "must be the id of an event"
  throw new AppError("invalid_request", `Cannot accept header last-event-id: it ${message}`, {
    issues: [{ path: "last-event-id", message }],
  })
}

/** The words of a list header without their parameters. */
function listOf(request: Request, name: string): readonly string[] {
  const header = request.headers.get(name)
  return header === null
    ? []
    : header.split(",").map((part) => (part.split(";")[0] ?? "").trim().toLowerCase())
}
