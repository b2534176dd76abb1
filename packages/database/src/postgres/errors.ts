import { SQL } from "bun"
import { ConstraintError, type ConstraintKind, LockTimeout, unavailable } from "../errors.ts"

const constraintKinds: Readonly<Record<string, ConstraintKind>> = {
  "23505": "unique",
  "23503": "foreign_key",
  "23502": "not_null",
  "23514": "check",
}

/**
 * The classes of SQLSTATE of mistakes in our SQL or in the values that we send. All others are failures
 * of the server or the network, which end without us. They are many (it accepts no connections, is
 * read-only, full or corrupt), and one that a list of them forgets would lose records and be a 500.
 */
const mistakeClasses: ReadonlySet<string> = new Set(
  "02 03 0A 20 21 22 23 24 25 26 27 2B 2D 2F 34 38 39 3B 3F 42 44 54 P0".split(" "),
)

/** States of these classes that are none: rights, a standby, transactions that idled or lasted too long. */
const otherStates: ReadonlySet<string> = new Set(["42501", "25006", "25P03", "25P04"])

/** Mistakes in statements that Bun itself notices: before a statement is sent, or in its result. */
const mistakeCodes: ReadonlySet<string> = new Set(
  [
    "COPY_NOT_SUPPORTED",
    "INVALID_BINARY_DATA",
    "INVALID_BYTE_SEQUENCE",
    "INVALID_CHARACTER",
    "INVALID_TRANSACTION_STATE",
    "NOT_TAGGED_CALL",
    "SYNTAX_ERROR",
    "TOO_MANY_PARAMETERS",
    "UNKNOWN_FORMAT_CODE",
    "UNSAFE_TRANSACTION",
    "UNSUPPORTED_ARRAY_FORMAT",
    "UNSUPPORTED_BYTEA_FORMAT",
    "UNSUPPORTED_INTEGER_SIZE",
  ].map((name) => `ERR_POSTGRES_${name}`),
)

/**
 * The connection is lost, or was never established. With 57P01 to 57P03 the server shuts down or
 * has not started yet.
 */
const lostStates = /^(08|57P0[123]|25P03)/
const lostCodes = /^ERR_POSTGRES_(CONNECTION_|IDLE_TIMEOUT|LIFETIME_TIMEOUT)/

/**
 * Translates an error of PostgreSQL for the rest of the program. Returns other errors unchanged.
 */
export function fromPostgresError(error: unknown): unknown {
  if (!(error instanceof SQL.PostgresError)) return error
  const kind = constraintKinds[stateOf(error)]
  if (kind !== undefined) return new ConstraintError(kind, error)
  if (stateOf(error) === "55P03")
    return new LockTimeout("database_unavailable", `Cannot use the database: ${error.message}`, {
      cause: error,
    })
  return isMistake(error) ? error : unavailable(error.message, error)
}

function isMistake(error: SQL.PostgresError): boolean {
  const state = stateOf(error)
  if (state === "") return mistakeCodes.has(error.code)
  return mistakeClasses.has(state.slice(0, 2)) && !otherStates.has(state)
}

export function isConnectionLost(error: unknown): boolean {
  return (
    error instanceof SQL.PostgresError &&
    (lostStates.test(stateOf(error)) || lostCodes.test(error.code))
  )
}

/**
 * The server has closed the connection with this response to a statement, so it has run none of the
 * statements after it.
 */
export function isClosedByServer(error: unknown): boolean {
  return error instanceof SQL.PostgresError && lostStates.test(stateOf(error))
}

/** The statement exceeded its time-out. */
export function isTimedOut(error: unknown): boolean {
  const cause =
    error instanceof Error && error.cause instanceof SQL.PostgresError ? error.cause : error
  return cause instanceof SQL.PostgresError && stateOf(cause) === "57014"
}

/** The server has rolled the transaction back in favour of another one, and expects a retry. */
export function isConflict(error: unknown): boolean {
  return error instanceof SQL.PostgresError && /^40(001|P01)$/.test(stateOf(error))
}

function stateOf(error: SQL.PostgresError): string {
  return String(error.errno ?? "")
}
