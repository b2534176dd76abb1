import type { ErrorCode } from "../errors.ts"

/** A problem with a request, and where it is. */
export interface Issue {
  readonly path: string
  readonly message: string
}

/** What a merge needs decisions about: the first conflicts, and the versions that have their texts. */
export interface MergeConflicts {
  readonly conflicts: readonly {
    readonly path: string
    readonly base: string | null
    readonly ours: string | null
    readonly theirs: string | null
  }[]
  readonly conflictCount: number
  readonly version: number
  readonly sourceVersion: number
}

/** The details of an error response. */
export interface ApiErrorDetails {
  readonly status: number
  readonly code: ErrorCode | "unknown"
  readonly requestId?: string | undefined
  readonly issues?: readonly Issue[]
  readonly runId?: string | undefined
  readonly merge?: MergeConflicts | undefined
  readonly retryAfterMs?: number | undefined
}

/** The server responded with an error. */
export class ApiError extends Error {
  // Set explicitly, because a bundler may rename the class.
  override readonly name = "ApiError"
  readonly status: number
  /** `unknown` if the response is not from a Hamlet server, or from a newer one. */
  readonly code: ErrorCode | "unknown"
  /** The id of the request in the server's log. */
  readonly requestId: string | undefined
  readonly issues: readonly Issue[]
  /** The run that failed, if the error is about one. */
  readonly runId: string | undefined
  /** The conflicts of a merge that was refused with `merge_conflict`. */
  readonly merge: MergeConflicts | undefined
  /** How long the server asks to wait before a retry. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, details: ApiErrorDetails) {
    super(message)
    this.status = details.status
    this.code = details.code
    this.requestId = details.requestId
    this.issues = details.issues ?? []
    this.runId = details.runId
    this.merge = details.merge
    this.retryAfterMs = details.retryAfterMs
  }
}

/** There was no complete response; the server may have done what it was asked, or not. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError"
}

/** The link to the next page leads to another server, so the token was not sent there. */
export class LinkError extends Error {
  override readonly name = "LinkError"
}

/**
 * The result, or undefined if what was asked for does not exist: of any kind, or that of one error
 * code.
 */
export async function unlessMissing<Result>(
  response: Promise<Result>,
  code?: ErrorCode,
): Promise<Result | undefined> {
  try {
    return await response
  } catch (error) {
    const isMissing = error instanceof ApiError && error.status === 404
    if (isMissing && (code === undefined || error.code === code)) return undefined
    throw error
  }
}
