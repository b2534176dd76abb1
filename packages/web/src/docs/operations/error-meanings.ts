// The build inserts the contract's table of errors: importing the contract would bundle zod.
declare const HAMLET_ERROR_CODES: Readonly<Record<string, ErrorMeaning>> | undefined

/** The status and meaning of an error code. */
export interface ErrorMeaning {
  readonly status: number
  readonly meaning: string
}

/** Every error code with its status and meaning. */
export const errorCodes: Readonly<Record<string, ErrorMeaning>> =
  typeof HAMLET_ERROR_CODES === "undefined" ? {} : HAMLET_ERROR_CODES

/** The meanings alone, by code. */
export const errorMeanings: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(errorCodes).map(([code, { meaning }]) => [code, meaning]),
)
