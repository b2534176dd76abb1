import type { ErrorCode } from "@hamlet/contract"
import { type Issue, Refused } from "@hamlet/kit"

/** A failure that is expected, with a code of the contract. */
export type AppError = Refused<ErrorCode>

/**
 * Packages refuse with texts for codes. They are codes of the contract too (a check reads them), so
 * that whatever is refused, by any part of the server, is an AppError.
 */
export const AppError: new (
  code: ErrorCode,
  message: string,
  options?: ErrorOptions & {
    readonly issues?: readonly Issue[]
    readonly retryAfterSeconds?: number
  },
) => AppError = Refused<ErrorCode>
