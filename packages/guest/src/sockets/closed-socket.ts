import { PromiseCtor } from "../primordials.ts"

/**
 * The host closes its sockets for up to half a second when the val has opened too many connections
 * in a row. So a connection that cannot be opened is tried again.
 */
export const triesMax = 30
const pauseMs = 100

/** Resolves when the next try is due. */
export function untilNextTry(): Promise<void> {
  return new PromiseCtor((resolve) => setTimeout(resolve, pauseMs))
}

/**
 * What a request to a socket fails with that is closed, is closed at this moment, or is being opened
 * again, or whose queue is full.
 */
export const closedCodes = [
  "ENOENT",
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "EACCES",
  "EAGAIN",
] as const
