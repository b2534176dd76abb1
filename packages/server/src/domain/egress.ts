import type { outgoingRequest, runEgress } from "@hamlet/contract"
import { AppError } from "./app-error.ts"
import type { Stored } from "./records/stored.ts"

/** One outgoing request of a val, as its run shows it. Its URL is masked and truncated. */
export type OutgoingRequest = Stored<typeof outgoingRequest>

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

/**
 * A secret that may be sent to certain hosts only. In the headers of requests to these hosts, the
 * placeholder is replaced by the value.
 */
export interface Substitution {
  readonly placeholder: string
  readonly value: string
  /** Host names in lower case, with the port if it is not the default. */
  readonly hosts: readonly string[]
}

/** The maximum length of a chain of vals that call each other. Other requests have depth 0. */
export const depthMax = 15

/**
 * The depth of a request that a val sends to this server. A client that forges it only shortens its
 * own chain.
 */
export const depthHeader = "x-hamlet-depth"

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
