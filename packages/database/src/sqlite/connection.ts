import { Database as Connection } from "bun:sqlite"
import { assertStorable } from "../errors.ts"
import type { SqlValue, Statement } from "../sql.ts"
import { fromSqliteError } from "./errors.ts"
import { readRecords, type SqliteStatement, toSqliteRecords } from "./result.ts"

export const connectLimits = {
  /** Prepared statements per connection. */
  preparedMax: 500,
  /** How long opening waits for the lock of another process. */
  openMsMax: 5_000,
}

export type ConnectLimits = Readonly<typeof connectLimits>

/** Opens a connection for reads or for writes. */
export function connect(
  path: string,
  limits: ConnectLimits,
  isReadonly: boolean,
): SqliteConnection {
  let connection: SqliteConnection | undefined
  try {
    connection = new SqliteConnection(path, { isReadonly, preparedMax: limits.preparedMax })
    for (const pragma of isReadonly ? readingPragmas(limits) : writingPragmas(limits))
      connection.command(`pragma ${pragma}`)
    return connection
  } catch (error) {
    connection?.stop()
    throw fromSqliteError(error)
  }
}

// No mmap: measurements show no gain, and with it a failing disk would kill the process with a
// signal instead of raising an error.
function writingPragmas(limits: ConnectLimits): readonly string[] {
  return [
    `busy_timeout = ${limits.openMsMax}`,
    "journal_mode = wal",
    // An acknowledged write must survive a power cut. On macOS only a full fsync reaches the disk.
    "synchronous = full",
    "fullfsync = on",
    "foreign_keys = on",
    "cache_size = -16384",
    // Four times the default: under load, most pages are written again before a checkpoint copies
    // them.
    "wal_autocheckpoint = 4000",
    "journal_size_limit = 67108864",
    "temp_store = memory",
    // The writer waits for other processes itself, without blocking the event loop.
    "busy_timeout = 0",
  ]
}

// A reader sees a lock only briefly, while another process opens or closes the file.
function readingPragmas(limits: ConnectLimits): readonly string[] {
  return [
    `busy_timeout = ${limits.openMsMax}`,
    "query_only = on",
    "cache_size = -32768",
    "temp_store = memory",
  ]
}

/**
 * One connection with its prepared statements. It keeps those that were prepared last: a program
 * has a limited number of them.
 */
export class SqliteConnection {
  readonly #connection: Connection
  readonly #prepared = new Map<string, SqliteStatement>()
  readonly #preparedMax: number

  constructor(
    path: string,
    options: { readonly isReadonly: boolean; readonly preparedMax: number },
  ) {
    this.#connection = new Connection(
      path,
      options.isReadonly ? { readonly: true } : { create: true, readwrite: true },
    )
    this.#preparedMax = options.preparedMax
  }

  /** False once SQLite has rolled the transaction back by itself, as it does after some errors. */
  get isInTransaction(): boolean {
    return this.#connection.inTransaction
  }

  run(statement: Statement): readonly unknown[] {
    assertStorable(statement.values)
    const { text, values } = withFixedLimits(statement)
    return readRecords(this.#prepare(text), values)
  }

  /** Reads row by row, for a caller that may stop early. One such read at a time. */
  *iterate(statement: Statement): Iterable<unknown> {
    assertStorable(statement.values)
    const { text, values } = withFixedLimits(statement)
    const prepared = this.#prepare(text)
    for (const row of prepared.iterate(...values))
      yield* toSqliteRecords(prepared, [Object.values(row as object)])
  }

  /** For pragmas and the beginning and end of transactions. */
  command(text: string): readonly unknown[] {
    return this.#prepare(text).all()
  }

  stop(): void {
    for (const prepared of this.#prepared.values()) prepared.finalize()
    this.#prepared.clear()
    this.#connection.close()
  }

  #prepare(text: string): SqliteStatement {
    const cached = this.#prepared.get(text)
    if (cached !== undefined) return cached
    const prepared = this.#connection.prepare<unknown, SqlValue[]>(text)
    this.#prepared.set(text, prepared)
    if (this.#prepared.size > this.#preparedMax) this.#dropOldest()
    return prepared
  }

  #dropOldest(): void {
    for (const [text, prepared] of this.#prepared) {
      prepared.finalize()
      this.#prepared.delete(text)
      return
    }
  }
}

/** By text: the positions of the values that are limits. */
const limitsOf = new Map<string, readonly number[]>()
const textsMax = 1_000
/**
 * Lists have no more. A statement with a part for each of many owners has other limits each time: its
 * texts would fill the prepared statements, which take 150 KB each, and serve once.
 */
const limitsMax = 5
const limitPattern = /\blimit \$(\d+)/g

/**
 * The statement with its limits in the text. SQLite plans a statement with a bound limit anew each
 * time that it runs, which takes a hundred times as long as a small read. It does so to choose the
 * plan by the limit, and still can.
 */
export function withFixedLimits(statement: Statement): Pick<Statement, "text" | "values"> {
  const { text, values } = statement
  const positions = limitsOf.get(text) ?? findLimits(text)
  if (positions.length === 0 || !positions.every((at) => Number.isSafeInteger(values[at])))
    return statement
  return {
    text: text.replace(limitPattern, (_, number) => `limit ${values[Number(number) - 1]}`),
    values: values.filter((_, at) => !positions.includes(at)),
  }
}

function findLimits(text: string): readonly number[] {
  const all = Array.from(text.matchAll(limitPattern), ([, number]) => Number(number) - 1)
  const positions = all.length > limitsMax ? [] : all
  if (limitsOf.size >= textsMax) limitsOf.clear()
  limitsOf.set(text, positions)
  return positions
}
