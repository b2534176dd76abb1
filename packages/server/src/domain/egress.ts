import { AppError } from "./app-error.ts"

/** One request that a val has sent out, as its run shows it. */
export interface OutgoingRequest {
  readonly at: number
  readonly method: string
  /** Masked, and cut where it is too long. */
  readonly url: string
  /** Null when there was no answer. */
  readonly status: number | null
  /** Why it was not let out, or was broken off; null when it was not. */
  readonly blocked: string | null
  readonly bytesSent: number
  readonly bytesReceived: number
  readonly durationMs: number
}

/** What a run has sent out: all of it counted, the first requests one by one. */
export interface RunEgress {
  readonly requests: number
  readonly blocked: number
  readonly bytesSent: number
  readonly bytesReceived: number
  readonly list: readonly OutgoingRequest[]
}

/**
 * What stands for a secret that only some hosts may get, and what takes its place in the headers of
 * requests to them.
 */
export interface Substitution {
  readonly placeholder: string
  readonly value: string
  /** Host names in lower case, each with its port if it is not the usual one. */
  readonly hosts: readonly string[]
}

/**
 * Vals that call vals that call vals: the run that a visitor or the API has started is at depth 0.
 */
export const depthMax = 15

/**
 * Tells the depth of a request that a val sends to this server. Whoever sends it from outside only
 * shortens their own chain.
 */
export const depthHeader = "x-hamlet-depth"

/** The depth that the header says. */
export function readDepth(header: string | null | undefined): number {
  return header && /^\d{1,4}$/.test(header) ? Number(header) : 0
}

/** Refuses a call that comes at the end of too long a chain. */
export function assertDepth(depth: number): void {
  if (depth > depthMax)
    throw new AppError(
      "call_too_deep",
      `Cannot run the val: ${depthMax} vals have called one another already, and a chain ends there`,
    )
}
