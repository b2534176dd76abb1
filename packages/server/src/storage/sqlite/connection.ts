import { Database as Connection, type Statement as Prepared } from "bun:sqlite"
import { assertStorable } from "../database/errors.ts"
import type { SqlValue, Statement } from "../database/sql.ts"
import { fromSqliteError } from "./errors.ts"

export interface ConnectLimits {
  /** Statements that each connection keeps prepared. */
  readonly preparedMax: number
  /** How long opening waits for another process. */
  readonly openMsMax: number
}

/** Opens a connection that reads, or one that writes. */
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

// No mmap: it measured no faster, and with it a failing disk would be a signal that ends the
// process instead of an error.
function writingPragmas(limits: ConnectLimits): readonly string[] {
  return [
    `busy_timeout = ${limits.openMsMax}`,
    "journal_mode = wal",
    // An acknowledged write must survive a power cut. On macOS only a full fsync reaches the disk.
    "synchronous = full",
    "fullfsync = on",
    "foreign_keys = on",
    "cache_size = -16384",
    // Four times as rarely as by default: most pages of a busy moment are written again before they
    // are copied.
    "wal_autocheckpoint = 4000",
    "journal_size_limit = 67108864",
    "temp_store = memory",
    // The writer waits for other processes itself, without stopping the event loop.
    "busy_timeout = 0",
  ]
}

// A reader meets a lock only for an instant, while another process opens or closes the file.
function readingPragmas(limits: ConnectLimits): readonly string[] {
  return [
    `busy_timeout = ${limits.openMsMax}`,
    "query_only = on",
    "cache_size = -32768",
    "temp_store = memory",
  ]
}

/**
 * One connection with its prepared statements, of which it keeps those prepared last: a program has
 * only so many.
 */
export class SqliteConnection {
  readonly #connection: Connection
  readonly #prepared = new Map<string, Prepared<unknown, SqlValue[]>>()
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

  /** False once SQLite has given the transaction up by itself, as it does after some errors. */
  get isInTransaction(): boolean {
    return this.#connection.inTransaction
  }

  run(statement: Statement): readonly unknown[] {
    assertStorable(statement.values)
    return this.#prepare(statement.text).all(...statement.values)
  }

  /** Row by row, for whoever may not want all of them. One such read at a time. */
  iterate(statement: Statement): Iterable<unknown> {
    assertStorable(statement.values)
    return this.#prepare(statement.text).iterate(...statement.values)
  }

  /** For pragmas and the limits of transactions. */
  command(text: string): readonly unknown[] {
    return this.#prepare(text).all()
  }

  stop(): void {
    for (const prepared of this.#prepared.values()) prepared.finalize()
    this.#prepared.clear()
    this.#connection.close()
  }

  #prepare(text: string): Prepared<unknown, SqlValue[]> {
    const known = this.#prepared.get(text)
    if (known !== undefined) return known
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
