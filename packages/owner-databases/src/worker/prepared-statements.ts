import type { DatabaseSync, StatementSync } from "node:sqlite"
import { RecentMap } from "@hamlet/kit"
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

export type PreparedStatements = ReturnType<typeof createPreparedStatements>

/** The statements of users on a connection that were used last, by their SQL. */
export function createPreparedStatements(
  db: DatabaseSync,
  authorizer: Authorizer,
  limits: StatementLimits,
) {
  const kept = new RecentMap<string, Prepared>(limits.preparedMax)
  return {
    prepare(sql: string, isInBatch: boolean): Prepared {
      const known = kept.get(sql)
      if (known) return known
      const prepared = compile(db, authorizer, limits, sql, isInBatch)
      // Definitions run only once.
      const isKept = (prepared.isRead || prepared.isChange) && sql.length <= limits.preparedCharsMax
      if (isKept) kept.set(sql, prepared)
      return prepared
    },
    /** Does not keep the statement: its parameters are long. */
    forget: (sql: string) => void kept.delete(sql),
    /** Compiles every statement anew. */
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
  const { result: statement, traits } = authorizer.guard(isInBatch, () => db.prepare(text), text)
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
