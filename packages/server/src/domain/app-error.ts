import type { ErrorCode } from "@hamlet/contract"

/** One thing that is wrong with a request, and where. */
export interface Issue {
  readonly path: string
  readonly message: string
}

/**
 * A failure we expect. The program branches on `code`, the caller reads `message`, the operator
 * finds `cause` in the log.
 */
export class AppError extends Error {
  override readonly name = "AppError"

  constructor(
    readonly code: ErrorCode,
    message: string,
    options?: ErrorOptions & {
      readonly issues?: readonly Issue[]
      readonly retryAfterSeconds?: number
    },
  ) {
    super(message, options)
    this.issues = options?.issues
    this.retryAfterSeconds = options?.retryAfterSeconds
  }

  readonly issues: readonly Issue[] | undefined
  /** When a retry may help, if that is known. */
  readonly retryAfterSeconds: number | undefined
}
