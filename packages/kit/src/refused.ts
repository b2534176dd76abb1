/** One thing that is wrong with a request, and where. */
export interface Issue {
  readonly path: string
  readonly message: string
}

/**
 * A failure that is expected. The program branches on `code`, the caller reads `message`, the operator
 * finds `cause` in the log.
 */
export class Refused<Code extends string = string> extends Error {
  override readonly name: string = "Refused"

  constructor(
    readonly code: Code,
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
