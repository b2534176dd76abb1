import { z } from "zod"
import { limits } from "../limits.ts"
import { list } from "./lengths.ts"

/** The bytes of a blob in JSON: base64, or the object that JSON makes of a `Uint8Array`. */
export type SqlBytes = { readonly base64: string } | Readonly<Record<number, number>>

/** A parameter of a statement. True and false become 1 and 0. */
export type SqlValue = null | boolean | number | string | SqlBytes

/** The parameters of a statement, by position or by name. */
export type SqlArgs = readonly SqlValue[] | Readonly<Record<string, SqlValue>>

const values = [{ type: "null" }, { type: "boolean" }, { type: "number" }, { type: "string" }]
const bytes = {
  type: "object",
  properties: { base64: { type: "string", contentEncoding: "base64" } },
  required: ["base64"],
}
const value = { anyOf: [...values, bytes] }
const args = {
  anyOf: [
    { type: "array", items: value, maxItems: limits.sqlArgsMax },
    { type: "object", additionalProperties: value },
  ],
}
const sql = { type: "string", minLength: 1, maxLength: limits.sqlCharsMax }

/**
 * A statement: its text alone, or with parameters. It is validated by hand: a batch may have
 * thousands, for which nested schemas block the server for half a second.
 */
const sqlStatement = z
  .custom<string | { sql: string; args?: SqlArgs | undefined }>()
  .transform((given: unknown, context): { readonly sql: string; readonly args: SqlArgs } => {
    const statement = isRecord(given) ? given : { sql: given }
    const problem = findSqlProblem(statement.sql) ?? findArgsProblem(statement.args ?? [])
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem })
    return { sql: statement.sql as string, args: (statement.args ?? []) as SqlArgs }
  })
  .meta({
    wire: { anyOf: [sql, { type: "object", properties: { sql, args }, required: ["sql"] }] },
  })

function findSqlProblem(given: unknown): string | undefined {
  if (typeof given !== "string") return "must be an SQL statement, or {sql, args}"
  if (given === "" || given.length > limits.sqlCharsMax)
    return `must have 1 to ${limits.sqlCharsMax} characters`
  if (given.includes("\0")) return "must not contain the NUL character"
  return given.isWellFormed() ? undefined : "must not contain a lone surrogate"
}

function findArgsProblem(given: unknown): string | undefined {
  if (typeof given !== "object" || given === null)
    return "must have an array or an object as its args"
  const named = Object.entries(given)
  if (named.length > limits.sqlArgsMax) return `must have at most ${limits.sqlArgsMax} args`
  const [bad] = named.find(([, one]) => !isSqlValue(one)) ?? []
  return bad === undefined
    ? undefined
    : `must have null, true, false, a number, a string or the bytes of a blob as {base64} as its args.${bad}`
}

function isRecord(given: unknown): given is { readonly sql?: unknown; readonly args?: unknown } {
  return typeof given === "object" && given !== null
}

function isSqlValue(given: unknown): boolean {
  if (typeof given === "object") return given === null || isBytes(given)
  return typeof given === "string" || typeof given === "number" || typeof given === "boolean"
}

/** An empty object is what JSON makes of an `ArrayBuffer`, whose content is lost: it is refused. */
function isBytes(given: object): boolean {
  if (Array.isArray(given)) return false
  if ("base64" in given)
    return (
      typeof given.base64 === "string" &&
      base64Pattern.test(given.base64) &&
      given.base64.length % 4 === 0
    )
  const entries = Object.entries(given)
  return (
    entries.length > 0 &&
    entries.every(([key, byte], index) => key === String(index) && isByte(byte))
  )
}

const base64Pattern = /^[A-Za-z0-9+/]*={0,2}$/

function isByte(given: unknown): boolean {
  return typeof given === "number" && Number.isInteger(given) && given >= 0 && given <= 255
}

/** The body to run one statement. */
export const executeSqlBody = z.object({ statement: sqlStatement })

/** The body to run several statements in one transaction. */
export const batchSqlBody = z.object({
  statements: list(sqlStatement, limits.sqlStatementsMax),
  mode: z.enum(["write", "read", "deferred"]).default("deferred"),
})

/**
 * The result of a statement. Integers beyond the range of JSON numbers are strings; blobs are
 * base64 strings.
 */
export const resultSet = z
  .object({
    columns: z.array(z.string()),
    // The types that the table declares; empty for computed columns.
    columnTypes: z.array(z.string()),
    rows: z.array(z.array(z.union([z.null(), z.number(), z.string()]))),
    rowsAffected: z.int().min(0),
    lastInsertRowid: z.union([z.int(), z.string(), z.null()]),
  })
  .meta({ id: "ResultSet" })
