import type { SQLInputValue } from "node:sqlite"
import type { CompiledStatement, Plan, StatementKinds } from "../../libsql/libsql-messages.ts"
import type { LibsqlValue } from "../../libsql-protocol/libsql-server.ts"
import { isNamed } from "../bind-args.ts"

/** A statement that is allowed, and the values of its parameters 1, 2, …. */
export interface BoundStatement extends CompiledStatement {
  readonly values: readonly SQLInputValue[]
}

interface Batch {
  readonly statements: readonly BoundStatement[]
  /** The version of the tables with which the statements were compiled. */
  readonly version: string
  /** The pages that the database may have; undefined for a batch that only reads. */
  readonly pagesMax: number | undefined
  /** Whether the request is recorded, unless it only reads. */
  readonly isRecorded?: boolean
}

/** A plan, and its batch as JSON. */
export type PlannedBatch = readonly [Plan, string]

/** Plans a batch. It may write only if it is known how large the database may become. */
export function planBatch(batch: Batch): PlannedBatch | undefined {
  const { statements, version } = batch
  const isRead = statements.every((statement) => statement.isRead)
  if (!isRead && batch.pagesMax === undefined) return undefined
  const isRecorded = !isRead && batch.isRecorded === true
  const isHeld = isRecorded || (!isRead && statements.some(({ hasColumns }) => hasColumns))
  const kinds = toKinds(statements)
  const plan = { kind: "planned", kinds, isRead, isHeld, isRecorded, version } as const
  return [plan, toBatch({ ...batch, pagesMax: isRead ? undefined : batch.pagesMax }, isHeld)]
}

/** What each statement is, a letter each. */
export function toKinds(statements: readonly BoundStatement[]): StatementKinds {
  return statements
    .map(({ isChange, isInsert }) => (isInsert ? "i" : isChange ? "c" : "r"))
    .join("")
}

/** The steps before the first statement: the beginning of the transaction and the check. */
export const firstStep = 2

/**
 * The steps of a batch as JSON. Each runs if the one before has succeeded. When the check fails,
 * because the tables have changed since, none of the statements runs.
 *
 * ```
 *   begin ─▶ are the tables the same? ─▶ statements ─▶ is there room? ─▶ commit, or else rollback
 * ```
 */
function toBatch({ statements, version, pagesMax }: Batch, isHeld: boolean): string {
  const isWrite = pagesMax !== undefined
  const steps: object[] = [
    { stmt: { sql: isWrite ? "begin immediate" : "begin" } },
    {
      stmt: {
        sql: `select case when schema_version <> ? then ${failure} end, page_count from pragma_schema_version, pragma_page_count`,
        args: [toValue(BigInt(version))],
      },
    },
    ...statements.map((statement) => ({ stmt: toStatement(statement) })),
  ]
  if (isWrite)
    steps.push({
      stmt: {
        sql: `select case when page_count > ? then ${failure} end, page_count from pragma_page_count`,
        args: [toValue(BigInt(pagesMax))],
      },
    })
  if (isWrite && !isHeld) steps.push({ stmt: { sql: "commit" } })
  const chained = steps.map((step, index) =>
    index === 0 ? step : { ...step, condition: { type: "ok", step: index - 1 } },
  )
  // What has only read ends with it too.
  const isLast = { type: "not", cond: { type: "ok", step: steps.length - 1 } }
  if (!isHeld)
    chained.push({ stmt: { sql: "rollback" }, ...(isWrite ? { condition: isLast } : {}) })
  return JSON.stringify({ type: "batch", batch: { steps: chained } })
}

/** An expression that fails, so that the steps behind it do not run. */
const failure = "abs(-9223372036854775808)"

/** A lone surrogate, which is not valid in JSON, becomes the same character as in SQLite. */
function toStatement({ text, parameters, values }: BoundStatement): object {
  const sql = text.toWellFormed()
  const args = values.map(toValue)
  if (!parameters.some(isNamed)) return { sql, args }
  return { sql, named_args: args.map((value, index) => ({ name: parameters[index], value })) }
}

/** A value in the protocol of the server. */
export function toValue(value: SQLInputValue): LibsqlValue {
  if (value === null) return { type: "null" }
  if (typeof value === "bigint") return { type: "integer", value: String(value) }
  if (typeof value === "number") return { type: "float", value }
  if (typeof value === "string") return { type: "text", value: value.toWellFormed() }
  const { buffer, byteOffset, byteLength } = value
  return { type: "blob", base64: Buffer.from(buffer, byteOffset, byteLength).toString("base64") }
}
