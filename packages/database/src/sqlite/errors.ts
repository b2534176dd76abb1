import { SQLiteError } from "bun:sqlite"
import { ConstraintError, type ConstraintKind, unavailable } from "../errors.ts"

const constraintKinds: Readonly<Record<string, ConstraintKind>> = {
  SQLITE_CONSTRAINT_UNIQUE: "unique",
  SQLITE_CONSTRAINT_PRIMARYKEY: "unique",
  SQLITE_CONSTRAINT_FOREIGNKEY: "foreign_key",
  SQLITE_CONSTRAINT_NOTNULL: "not_null",
  SQLITE_CONSTRAINT_CHECK: "check",
}

/**
 * Failures of the machine, not mistakes in our SQL. Extended codes such as SQLITE_IOERR_WRITE begin
 * with these.
 */
const unavailableCodes =
  /^SQLITE_(BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|NOMEM|CORRUPT|NOTADB|PROTOCOL|PERM|AUTH|INTERRUPT)(_|$)/

/**
 * Translates an error of SQLite for the rest of the program. Returns other errors unchanged.
 */
export function fromSqliteError(error: unknown): unknown {
  if (!(error instanceof SQLiteError)) return error
  const kind = constraintKinds[error.code ?? ""]
  if (kind !== undefined) return new ConstraintError(kind, error)
  return unavailableCodes.test(error.code ?? "") ? unavailable(error.message, error) : error
}

export function isBusy(error: unknown): boolean {
  return error instanceof SQLiteError && (error.code ?? "").startsWith("SQLITE_BUSY")
}

export function isConstraint(error: unknown): boolean {
  return error instanceof SQLiteError && (error.code ?? "").startsWith("SQLITE_CONSTRAINT")
}
