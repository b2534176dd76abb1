import { Database as Connection, type Statement as Prepared } from "bun:sqlite"
import { assertStorable } from "../database/errors.ts"
import type { SqlValue, Statement } from "../database/sql.ts"

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
