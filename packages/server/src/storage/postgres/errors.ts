import { SQL } from "bun"
import {
  ConstraintError,
  type ConstraintKind,
  LockTimeout,
  unavailable,
} from "../database/errors.ts"

const constraintKinds: Readonly<Record<string, ConstraintKind>> = {
  "23505": "unique",
  "23503": "foreign_key",
  "23502": "not_null",
  "23514": "check",
}

/**
 * Failures of the server or the network, not mistakes in our SQL: connection (08), login (28),
 * rights (42501), resources (53), shutdown and time-outs (57), disks (58), a missing database, a
 * standby, an idle transaction, and conflicts that remain after the last retry.
 */
const unavailableStates = /^(08|28|42501|53|57|58|3D000|25006|25P03|40001|40P01)/

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
  return unavailableStates.test(stateOf(error)) || lostCodes.test(error.code)
    ? unavailable(error.message, error)
    : error
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
