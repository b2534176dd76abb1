import type { runEgress } from "@hamlet/contract"
import { depthMax, type OutgoingRequest } from "@hamlet/sandbox"
import { AppError } from "./app-error.ts"
import type { Stored } from "./records/stored.ts"

/** The outgoing requests of a run: totals, and a list of the first ones. */
export type RunEgress = Stored<typeof runEgress>

/** Counts one more request of a run, and lists it if `isListed`. */
export function addRequest(
  before: RunEgress | null,
  request: OutgoingRequest,
  isListed: boolean,
): RunEgress {
  const list = before?.list ?? []
  return {
    requests: (before?.requests ?? 0) + 1,
    blocked: (before?.blocked ?? 0) + (request.blocked === null ? 0 : 1),
    bytesSent: (before?.bytesSent ?? 0) + request.bytesSent,
    bytesReceived: (before?.bytesReceived ?? 0) + request.bytesReceived,
    list: isListed ? [...list, request] : list,
  }
}

/** Parses the depth header. */
export function readDepth(header: string | null | undefined): number {
  return header && /^\d{1,4}$/.test(header) ? Number(header) : 0
}

/** Throws when the chain of calls is too long. */
export function assertDepth(depth: number): void {
  if (depth > depthMax)
    throw new AppError(
      "call_too_deep",
      `Cannot run the val: a chain of calls may have at most ${depthMax} vals`,
    )
}
