/**
 * SQLite: a database. That of `std/sqlite` belongs to your account, and all of your vals share it;
 * that of `std/sqlite/main.ts` belongs to the val that runs, whichever module imports it.
 *
 * ```ts
 * import { sqlite } from "https://esm.town/v/std/sqlite"
 *
 * await sqlite.execute("create table if not exists visits (page text, at integer)")
 * await sqlite.execute("insert into visits values (?, ?)", ["/", Date.now()])
 * const { rows } = await sqlite.execute("select page, count(*) as visits from visits group by page")
 * for (const row of rows) console.log(row.page, row[1])
 * ```
 *
 * Names and behaviour are those of Val Town's modules `sqlite` and `sqlite2`, which are libSQL
 * clients, so that vals written for them run unchanged.
 *
 * @module
 */

/** A value that can be stored. A boolean becomes 0 or 1, a date its milliseconds since 1970. */
export type InValue =
  | null
  | undefined
  | string
  | number
  | bigint
  | boolean
  | Uint8Array
  | ArrayBuffer
  | Date

/** Arguments by position for `?`, or by name, with or without `:`, `$` or `@`. */
export type InArgs = InValue[] | Record<string, InValue>

/** A statement, with arguments if it has parameters. */
export type InStatement = string | { sql: string; args?: InArgs } | [sql: string, args?: InArgs]

/** The mode of a batch: `read` refuses changes. */
export type TransactionMode = "write" | "read" | "deferred"

/** Methods of arrays that a column is likely to be named like: the value of the column hides them. */
type ColumnLike =
  | ("at" | "entries" | "fill" | "flat" | "keys" | "pop")
  | ("push" | "reverse" | "shift" | "sort" | "values" | "with")

/**
 * A row: an object with its values under the names of their columns, as in `row.name`. By index, in
 * loops and in `const [first] = row` it is like an array. Integers beyond the safe range are
 * strings, and blobs are base64 strings.
 */
// biome-ignore lint/suspicious/noExplicitAny: only the author of the statement knows the types of its columns
export type Row = Omit<any[], ColumnLike> & Record<ColumnLike, any> & Record<string, any>

/** The result of a statement. */
export interface ResultSet {
  columns: string[]
  /** The types that the table declares; empty for computed columns. */
  columnTypes: string[]
  rows: Row[]
  rowsAffected: number
  /** A string if it is beyond the safe range of numbers. */
  lastInsertRowid: number | string | null
}

/** A statement failed, usually because it is wrong. */
export class LibsqlError extends Error {
  override name = "LibsqlError"
  /** SQLite's error name, such as `SQLITE_CONSTRAINT`, or else the error code of the server. */
  readonly code: string | undefined
  /** SQLite's error name; undefined if the error is not from SQLite. */
  readonly rawCode: string | undefined

  constructor(message: string, code?: string, rawCode?: string) {
    super(message)
    this.code = rawCode ?? code
    this.rawCode = rawCode
  }
}

/** The database of your account, or of the val. */
export const sqlite = {
  /**
   * Executes a statement: `execute("select 1")`, `execute("select ?", [1])`, `execute({ sql:
   * "select :a", args: { a: 1 } })`.
   */
  execute,
  /** Executes statements in one transaction: all of them, or none if one fails. */
  batch,
  /** Executes statements in one transaction, without a check of foreign keys until its end. */
  migrate,
  /** Not available: each call is a request of its own. Throws an error that says what to use. */
  transaction,
  /** Does nothing: there is no connection to close. */
  close() {},
  /** Whether `close` has been called and had an effect. */
  closed: false,
  /** How statements are sent. */
  protocol: "http",
} as const

// biome-ignore lint/style/noDefaultExport: vals choose the name under which they import it
export default sqlite

async function execute(statement: InStatement, args?: InArgs): Promise<ResultSet> {
  const given =
    args === undefined || typeof statement !== "string" ? statement : { sql: statement, args }
  return toResultSet(await request("execute", { statement: toStatement(given) }))
}

async function batch(statements: InStatement[], mode?: TransactionMode): Promise<ResultSet[]> {
  const results: RawResultSet[] = await request("batch", {
    statements: statements.map(toStatement),
    mode,
  })
  return results.map(toResultSet)
}

async function migrate(statements: InStatement[]): Promise<ResultSet[]> {
  const [, ...results] = await batch(["pragma defer_foreign_keys = on", ...statements], "deferred")
  return results
}

async function transaction(_mode?: TransactionMode): Promise<never> {
  throw new LibsqlError(
    "Cannot open a transaction: every call is a request of its own; sqlite.batch() executes several statements in one transaction",
    "TRANSACTION_UNSUPPORTED",
  )
}

interface RawResultSet extends Omit<ResultSet, "rows"> {
  rows: unknown[][]
}

function toStatement(statement: InStatement): unknown {
  if (typeof statement === "string") return statement
  const { sql, args = [] } = Array.isArray(statement)
    ? { sql: statement[0], args: statement[1] }
    : statement
  if (Array.isArray(args)) return { sql, args: args.map(toWire) }
  return {
    sql,
    args: Object.fromEntries(Object.entries(args).map(([name, value]) => [name, toWire(value)])),
  }
}

/** Encodes values that JSON cannot represent. Like libraries on top of SQLite, it stores undefined as NULL. */
function toWire(value: InValue): unknown {
  if (value === undefined) return null
  if (typeof value === "number" && !Number.isFinite(value))
    throw new RangeError(`Cannot execute the statement: an argument is ${value}`)
  if (typeof value === "bigint")
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (typeof value === "boolean") return value ? 1 : 0
  if (value instanceof Date) return toWire(value.getTime())
  if (value instanceof ArrayBuffer) return toWire(new Uint8Array(value))
  return value instanceof Uint8Array ? { base64: toBase64(value) } : value
}

/** In chunks, because the number of arguments of a function is limited. */
function toBase64(bytes: Uint8Array): string {
  let text = ""
  for (let from = 0; from < bytes.length; from += 8192)
    text += String.fromCharCode(...bytes.subarray(from, from + 8192))
  return btoa(text)
}

function toResultSet(raw: RawResultSet): ResultSet {
  const toRow = createRowFactory(raw.columns)
  return { ...raw, rows: raw.rows.map(toRow) }
}

/** The values of a row in column order. Not enumerable, so that only the names are printed. */
const valuesOf = Symbol("values")

/** The methods of arrays, not enumerable. `constructor` is left out: a row prints as an object. */
const arrayMethods: object = Object.create(
  Object.prototype,
  Object.fromEntries(
    Reflect.ownKeys(Array.prototype)
      .filter((key) => key !== "constructor" && key !== "length")
      .map((key) => [
        key,
        { value: Reflect.get(Array.prototype, key), writable: true, configurable: true },
      ]),
  ),
)

/**
 * Rows share a prototype, which has the values by index: defining each of them on every row takes
 * five times as long.
 */
function createRowFactory(columns: readonly string[]): (values: unknown[]) => Row {
  const indexes = columns.map((_, index) => [
    index,
    {
      get(this: { readonly [valuesOf]: readonly unknown[] }) {
        return this[valuesOf][index]
      },
    },
  ])
  const prototype = Object.create(arrayMethods, {
    ...Object.fromEntries(indexes),
    length: { value: columns.length },
  })
  // The first of several columns with one name has it; the others have their index.
  const named = [...new Set(columns)]
    .filter((name) => name !== "length" && name !== "__proto__" && !/^\d+$/.test(name))
    .map((name) => [name, columns.indexOf(name)] as const)
  return (values) => {
    const row = Object.create(prototype)
    Object.defineProperty(row, valuesOf, { value: values })
    for (const [name, index] of named) row[name] = values[index]
    return row
  }
}

interface Runtime {
  Deno?: { env: { get(name: string): string | undefined } }
}

/** Whether it has what belongs to the val that runs: where it was imported as `std/sqlite/main.ts`. */
const isForVal = /^[^?]*\/sqlite(?:@[^/?]*)?\/main(?:\.tsx?)?(?:\?|$)/i.test(import.meta.url)
const root = isForVal ? "/v2/sqlite" : "/v1/sqlite"

// Keeps the original: a val may replace the global later, for example in a test.
const send = globalThis.fetch

// biome-ignore lint/suspicious/noExplicitAny: the server's answer, which is what its contract says
async function request(path: "execute" | "batch", body: unknown): Promise<any> {
  const env = (globalThis as Runtime).Deno?.env
  const [server, token] = [env?.get("HAMLET_URL"), env?.get("HAMLET_TOKEN")]
  if (server === undefined)
    throw new LibsqlError(
      "Cannot use SQLite: outside of a val, HAMLET_URL and HAMLET_TOKEN have to be in the environment",
    )
  if (token === undefined)
    throw new LibsqlError(
      "Cannot use SQLite: this val runs on another user's account, which has no storage",
    )
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
  const response = await send(`${server}${root}/${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  })
  if (response.ok) return await response.json()
  const { message, code, rawCode } = await response.json().catch(() => ({}))
  throw new LibsqlError(
    message ?? `Cannot use SQLite: the server answered ${response.status}`,
    code,
    rawCode,
  )
}
