import type { DatabaseSync, StatementSync } from "node:sqlite"
import type { StatementLimits } from "../database-limits.ts"
import type { Authorizer, StatementTraits } from "./authorizer.ts"
import { findParameters, isBlank, type Parameters, skipBlanks } from "./scan-sql.ts"
import { StatementError } from "./sql-errors.ts"

/** A statement of a user that SQLite has compiled, and the authorizer has allowed. */
export interface Prepared extends StatementTraits {
  readonly statement: StatementSync
  /** What was compiled: without the blanks before it. */
  readonly text: string
  readonly parameters: Parameters
  readonly hasColumns: boolean
}

/** The statements of a connection that were used last. */
export interface PreparedStatements {
  prepare(sql: string, isInBatch: boolean): Prepared
  /** Does not keep the statement: its parameters are long. */
  forget(sql: string): void
  /** Compiles every statement anew. */
  clear(): void
}

/** Statements of users, by their SQL. */
export function createPreparedStatements(
  db: DatabaseSync,
  authorizer: Authorizer,
  limits: StatementLimits,
): PreparedStatements {
  const kept = new Map<string, Prepared>()
  return {
    prepare(sql, isInBatch) {
      const known = kept.get(sql)
      kept.delete(sql)
      const prepared = known ?? compile(db, authorizer, limits, sql, isInBatch)
      // Definitions run only once.
      const isKept = (prepared.isRead || prepared.isChange) && sql.length <= limits.preparedCharsMax
      if (isKept) kept.set(sql, prepared)
      const [oldest = ""] = kept.keys()
      if (kept.size > limits.preparedMax) kept.delete(oldest)
      return prepared
    },
    forget: (sql) => void kept.delete(sql),
    clear: () => kept.clear(),
  }
}

function compile(
  db: DatabaseSync,
  authorizer: Authorizer,
  limits: StatementLimits,
  sql: string,
  isInBatch: boolean,
): Prepared {
  const text = skipBlanks(sql)
  if (text === "") throw new StatementError("it contains no statement")
  const { result: statement, traits } = authorizer.guard(isInBatch, () => db.prepare(text))
  // SQLite stops at the end of the first statement.
  if (!isBlank(text.slice(statement.sourceSQL.length)))
    throw new StatementError("it contains more than one statement: use a batch")
  statement.setReturnArrays(true)
  statement.setReadBigInts(true)
  // With their prefix, because two names may differ only in it.
  statement.setAllowBareNamedParameters(false)
  const parameters = findParameters(text, limits.parametersMax)
  return { ...traits, statement, text, parameters, hasColumns: statement.columns().length > 0 }
}
