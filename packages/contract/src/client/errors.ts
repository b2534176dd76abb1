import type { ErrorCode } from "../errors.ts"

/** One thing that is wrong with a request, and where. */
export interface Issue {
  readonly path: string
  readonly message: string
}

/** What an answer says about a failure. */
export interface ApiErrorDetails {
  readonly status: number
  readonly code: ErrorCode | "unknown"
  readonly requestId?: string | undefined
  readonly issues?: readonly Issue[]
  readonly retryAfterMs?: number | undefined
}

/** The server answered, and the answer is no. */
export class ApiError extends Error {
  // Written out, because a bundler may rename the class.
  override readonly name = "ApiError"
  readonly status: number
  /**
   * `unknown` when the answer does not come from a Hamlet server, or from one that is newer than
   * this client.
   */
  readonly code: ErrorCode | "unknown"
  /** Finds the request in the server's log. */
  readonly requestId: string | undefined
  readonly issues: readonly Issue[]
  /** How long the server asks to wait before another attempt. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, details: ApiErrorDetails) {
    super(message)
    this.status = details.status
    this.code = details.code
    this.requestId = details.requestId
    this.issues = details.issues ?? []
    this.retryAfterMs = details.retryAfterMs
  }
}

/**
 * There was no answer, or not all of it; whether the server did what it was asked to is not known.
 */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError"
}

/**
 * A page names a next page that is not on the configured server, so the token was not sent there.
 */
export class LinkError extends Error {
  override readonly name = "LinkError"
}
