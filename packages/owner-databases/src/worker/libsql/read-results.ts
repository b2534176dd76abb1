import type { SQLOutputValue } from "node:sqlite"
import type { StatementLimits } from "../../database-limits.ts"
import type { LibsqlWorkerReply, ReadCall } from "../../libsql/libsql-messages.ts"
import type { LibsqlValue } from "../../libsql-protocol/libsql-server.ts"
import type { SqlOutcome } from "../../owner-databases.ts"
import { createResultWriter, type ResultWriter } from "../result-writer.ts"
import { StatementError, toFullMessage, unavailableNames } from "../sql-errors.ts"
import { firstStep } from "./plan-batch.ts"

/** The result of a step. */
interface StepResult {
  readonly cols: readonly { readonly name: string; readonly decltype: string | null }[]
  readonly rows: readonly (readonly LibsqlValue[])[]
  readonly affected_row_count: number
  readonly last_insert_rowid: string | null
}

/** Why a step has failed. */
export interface StepError {
  readonly message: string
  readonly code?: string
}

interface BatchResult {
  readonly step_results: readonly (StepResult | null)[]
  readonly step_errors: readonly (StepError | null)[]
}

/** The part of a response that is of interest. */
interface Response {
  readonly results: readonly (
    | { readonly type: "ok"; readonly response: { readonly result: BatchResult } }
    | { readonly type: "error"; readonly error: StepError }
  )[]
}

/** The message about a response that does not have the form of one. */
export const unexpectedMessage = "the libSQL server did not respond as expected"

/**
 * What a response of the server to a batch means, and the JSON of the results. A response that is not
 * one means that the server cannot be used.
 */
export function readResults(
  call: ReadCall,
  parse: () => unknown,
  limits: StatementLimits,
): readonly [LibsqlWorkerReply, ...Buffer[]] {
  try {
    const [first] = (parse() as Response).results
    if (!first) throw new Error("it has no results")
    // The server refused the batch as a whole, before its first step.
    if (first.type === "error") return [toFailure(first.error, undefined, call, limits)]
    const { step_results: results, step_errors: errors } = first.response.result
    const failed = errors.findIndex((error) => error !== null)
    const error = errors[failed]
    if (error) return [toReply(error, failed, results, call, limits)]
    const json = toResults(call, results, firstStep, limits)
    const pages =
      call.pagesMax === undefined ? undefined : readPages(results[firstStep + call.kinds.length])
    return [{ kind: "done", pages }, json]
  } catch (error) {
    const outcome: SqlOutcome =
      error instanceof StatementError
        ? { kind: "failed", message: error.message }
        : { kind: "unavailable", message: unexpectedMessage }
    return [{ kind: "outcome", outcome }]
  }
}

/** The results of requests that were sent as one batch, each as JSON. */
export interface GroupResults {
  readonly results: readonly Buffer[]
  /** The pages of the database after changes. */
  readonly pages: number
}

/**
 * The results of requests that were sent as one batch, one after the other; undefined if one of them has
 * failed, so that nothing was changed. Throws if the response is none.
 */
export function readGroup(
  calls: readonly ReadCall[],
  response: unknown,
  limits: StatementLimits,
): GroupResults | undefined {
  const [first] = (response as Response).results
  if (first?.type !== "ok") return undefined
  const { step_results: steps, step_errors: errors } = first.response.result
  if (errors.some((error) => error !== null)) return undefined
  let step = firstStep
  const results = calls.map((call) => {
    const json = toResults(call, steps, step, limits)
    step += call.kinds.length
    return json
  })
  return { results, pages: readPages(steps[step]) }
}

/** The JSON of the results of one request, of which the first is that of the given step. */
function toResults(
  { kinds, isSingle }: ReadCall,
  results: BatchResult["step_results"],
  step: number,
  limits: StatementLimits,
): Buffer {
  const writer = createResultWriter(limits.resultBytesMax)
  const texts = Array.from(kinds, (kind, index) => toResult(results[step + index], kind, writer))
  return writer.toBytes(isSingle ? (texts[0] ?? "") : `[${texts.join(",")}]`)
}

/**
 * Why the end of a transaction has failed; undefined if it was committed. Throws if the response is
 * none.
 */
export function findEndFailure(response: unknown): StepError | undefined {
  const [first] = (response as Response).results
  if (!first) throw new Error("it has no results")
  if (first.type === "error") return first.error
  const { step_results: results, step_errors: errors } = first.response.result
  const error = errors.find((each) => each !== null)
  if (!error && !results.at(-1)) throw new Error("it has no result of the commit")
  return error ?? undefined
}

function toReply(
  error: StepError,
  failed: number,
  results: BatchResult["step_results"],
  call: ReadCall,
  limits: StatementLimits,
): LibsqlWorkerReply {
  if (failed === firstStep - 1) return { kind: "schema_needed" }
  const { kinds, pagesMax = 0, bytesMax, isSingle } = call
  if (failed === firstStep + kinds.length && isRoomCheck(error)) {
    const before = readPages(results[firstStep - 1])
    return before > pagesMax
      ? { kind: "larger", pages: before }
      : { kind: "outcome", outcome: { kind: "full", message: toFullMessage(bytesMax) } }
  }
  // The end of the transaction fails because of what the last one did.
  const index = Math.max(0, Math.min(failed - firstStep, kinds.length - 1))
  return toFailure(error, isSingle ? undefined : index, call, limits)
}

/** A step that fails ends the transaction without a change, so that it can be repeated. */
function toFailure(
  error: StepError,
  index: number | undefined,
  call: ReadCall,
  limits: StatementLimits,
): LibsqlWorkerReply {
  const outcome = toOutcome(error, index, call, limits)
  return /^SQLITE_(BUSY|LOCKED)/.test(error.code ?? "") && "message" in outcome
    ? { kind: "busy", message: outcome.message }
    : { kind: "outcome", outcome }
}

function isRoomCheck({ message }: StepError): boolean {
  return message.endsWith("integer overflow")
}

function readPages(result: StepResult | null | undefined): number {
  const [, pages] = result?.rows[0] ?? []
  return pages?.type === "integer" ? Number(pages.value) : 0
}

/** The letters of a plan: `c` has changed rows, `i` has inserted some. */
function toResult(
  result: StepResult | null | undefined,
  kind: string,
  writer: ResultWriter,
): string {
  const changes = result?.affected_row_count
  if (!result || !Number.isSafeInteger(changes)) throw new Error("it has no result of a statement")
  const id = kind === "i" && result.affected_row_count > 0 ? result.last_insert_rowid : null
  return writer.toResult(
    result.cols.map(({ name, decltype }) => ({ name, type: decltype })),
    result.rows.map((row) => writer.toRow(row.map(toOutput))),
    kind === "r"
      ? undefined
      : { changes: result.affected_row_count, lastInsertRowid: id === null ? null : BigInt(id) },
  )
}

function toOutput(value: LibsqlValue): SQLOutputValue {
  switch (value.type) {
    case "null":
      return null
    case "integer":
      return BigInt(value.value)
    case "float":
      return value.value ?? Number.POSITIVE_INFINITY
    case "text":
      return value.value
    case "blob":
      return Buffer.from(value.base64, "base64")
  }
}

/** The outcome that this error has in a database on this machine. */
function toOutcome(
  { message, code = "" }: StepError,
  index: number | undefined,
  { bytesMax }: ReadCall,
  { resultBytesMax }: StatementLimits,
): SqlOutcome {
  const text = message
    .replace(/^(?:SQLite error|SQL input error|SQLite input error): /, "")
    .replace(/ \(at offset \d+\)$/, "")
  const [, name = ""] = /^SQLITE_([A-Z]+)/.exec(code) ?? []
  if (name === "FULL") return { kind: "full", message: toFullMessage(bytesMax) }
  if (unavailableNames.has(name)) return { kind: "unavailable", message: text }
  if (code === "RESPONSE_TOO_LARGE")
    return { kind: "failed", message: `the result is larger than ${resultBytesMax} bytes`, index }
  const isOfSqlite = code.startsWith("SQL")
  const sqliteCode = name === "" || name === "UNKNOWN" ? "SQLITE_ERROR" : `SQLITE_${name}`
  return { kind: "failed", message: text, index, sqliteCode: isOfSqlite ? sqliteCode : undefined }
}
