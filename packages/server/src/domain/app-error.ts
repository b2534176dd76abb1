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
    options?: ErrorOptions & { readonly issues?: readonly Issue[] },
  ) {
    super(message, options)
    this.issues = options?.issues
  }

  readonly issues: readonly Issue[] | undefined
}
