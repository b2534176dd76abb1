import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite"
import type { IdempotentRequest } from "@hamlet/kit"
import type { StatementLimits } from "../database-limits.ts"
import type { SqlRequest, SqlStatement } from "../owner-databases.ts"
import { createAuthorizer } from "./authorizer.ts"
import { type Bindings, bindArgs } from "./bind-args.ts"
import {
  type DoneTableState,
  describeDoneTable,
  doneBytesMax,
  findDone,
  recordDone,
  toDoneTableState,
} from "./done-requests.ts"
import { type DatabaseSettings, openConnection, toPageLimit } from "./open-connection.ts"
import {
  createPreparedStatements,
  type Prepared,
  type PreparedStatements,
} from "./prepared-statements.ts"
import { type Changes, createResultWriter, type ResultWriter } from "./result-writer.ts"
import { DoneBefore, StatementError, WriteRefused } from "./sql-errors.ts"

/** An open database of one user, or of one val. */
export class OwnerDatabase {
  readonly #db: DatabaseSync
  readonly #limits: StatementLimits
  readonly #authorizer = createAuthorizer()
  readonly #statements: PreparedStatements
  /** Our own statements. */
  readonly #own = new Map<string, StatementSync>()
  #index = 0
  /** Whether a statement of the request was a write. */
  #hasWritten = false
  /** Undefined before the first request. */
  #doneTable: DoneTableState | undefined
  readonly #bytesMaxDefault: number
  #bytesMax: number
  /** How large the database may become in the current request. Called before the first write. */
  #findRoom: (() => number) | undefined

  constructor(path: string, settings: DatabaseSettings, limits: StatementLimits) {
    this.#limits = limits
    this.#bytesMaxDefault = settings.bytesMax
    this.#bytesMax = settings.bytesMax
    this.#db = openConnection(path, settings, limits, this.#authorizer)
    this.#statements = createPreparedStatements(this.#db, this.#authorizer, limits)
  }

  /** The index of the statement of the request that ran last. */
  get index(): number {
    return this.#index
  }

  /**
   * Returns the results as JSON. When it throws, the database has not changed. `countOthers` returns
   * the bytes of the other databases of the user, which count too; it takes a while if there are
   * many.
   */
  run(request: SqlRequest, countOthers: () => number = () => 0): Buffer {
    const writer = createResultWriter(this.#limits.resultBytesMax)
    const isReader = request.mode === "read" || !request.canWrite
    const isTheirs = this.#isDoneTableTheirs(request)
    const idempotent = isReader || isTheirs ? undefined : request.idempotent
    this.#index = 0
    this.#hasWritten = false
    this.#findRoom = () => (request.bytesMax ?? this.#bytesMaxDefault) - countOthers()
    // A second guard beside the authorizer. Not prepared: this pragma takes effect when it is
    // prepared, not when it runs.
    if (isReader) this.#db.exec("pragma query_only = 1")
    try {
      // Before anything is prepared: a table cannot be created again.
      const known = idempotent && this.#findDone(idempotent)
      if (known) return known
      const json =
        request.mode === "single"
          ? this.#runSingle(request, writer)
          : this.#runBatch(request, writer, isReader)
      const bytes = writer.toBytes(json)
      if (idempotent && this.#hasWritten) this.#recordDone(idempotent, bytes)
      if (this.#db.isTransaction) this.#command("commit")
      return bytes
    } catch (error) {
      // Some errors end the transaction by themselves.
      if (this.#db.isTransaction) this.#command("rollback")
      // The process of a server that has crashed may have done it meanwhile.
      const known = idempotent && this.#findDone(idempotent)
      if (known) return known
      throw error
    } finally {
      if (isReader) this.#db.exec("pragma query_only = 0")
    }
  }

  /** Returns free pages to the system, up to a limit, and closes the database. */
  stop(): void {
    try {
      const pagesMax = Math.floor(this.#limits.trimmedBytesMax / this.#readNumber("page_size"))
      const isMostlyFull =
        this.#readNumber("freelist_count") < this.#readNumber("page_count") * emptyShareMin
      if (!isMostlyFull) this.#db.exec(`pragma incremental_vacuum(${pagesMax})`)
    } finally {
      this.#db.close()
    }
  }

  /** Whether the user has a table with the name of ours, until it is renamed. */
  #isDoneTableTheirs({ idempotent }: SqlRequest): boolean {
    const state = this.#doneTable
    const isSettled = !idempotent && (state === "ours" || state === "absent")
    return !isSettled && this.#readDoneTable() === "theirs"
  }

  #readDoneTable(): DoneTableState {
    const state = toDoneTableState(this.#command(describeDoneTable))
    this.#authorizer.protectOwnTable(state !== "theirs")
    this.#doneTable = state
    return state
  }

  /** The result of a request that was done; undefined if it was not. */
  #findDone(request: IdempotentRequest): Buffer | undefined {
    if (this.#readDoneTable() !== "ours") return undefined
    const { sql, args } = findDone(request)
    const [row] = this.#command(sql, { args })
    if (!row) return undefined
    if (typeof row.result !== "string") throw new DoneBefore()
    return Buffer.from(row.result)
  }

  /**
   * Records the request also in a full database, in which rows can still be changed and deleted.
   */
  #recordDone(request: IdempotentRequest, result: Buffer): void {
    this.#db.exec(`pragma ${toPageLimit(this.#bytesMax + doneBytesMax)}`)
    try {
      for (const { sql, args } of recordDone(request, result)) this.#command(sql, { args })
    } finally {
      this.#db.exec(`pragma ${toPageLimit(this.#bytesMax)}`)
    }
  }

  /** The quota and the other databases may have changed since the request before. */
  #limitSize(): void {
    const bytesMax = this.#findRoom?.() ?? this.#bytesMax
    this.#findRoom = undefined
    if (bytesMax === this.#bytesMax) return
    this.#db.exec(`pragma ${toPageLimit(bytesMax)}`)
    this.#bytesMax = bytesMax
  }

  #runSingle({ statements: [statement], canWrite }: SqlRequest, writer: ResultWriter): string {
    if (!statement) throw new StatementError("there is no statement")
    const prepared = this.#statements.prepare(statement.sql, false)
    if (!prepared.isRead && !canWrite) throw new WriteRefused()
    // A transaction even for one statement: its result may turn out to be too large.
    if (!prepared.isRead) this.#command("begin immediate")
    return this.#runStatement(prepared, statement, writer, false)
  }

  #runBatch({ statements, mode }: SqlRequest, writer: ResultWriter, isReader: boolean): string {
    this.#command(mode === "write" && !isReader ? "begin immediate" : "begin")
    const results = statements.map((statement, index) => {
      this.#index = index
      const prepared = this.#statements.prepare(statement.sql, true)
      if (isReader && !prepared.isRead) throw new WriteRefused()
      return this.#runStatement(prepared, statement, writer, true)
    })
    return `[${results.join(",")}]`
  }

  #runStatement(
    prepared: Prepared,
    { sql, args }: SqlStatement,
    writer: ResultWriter,
    isInBatch: boolean,
  ): string {
    const { statement, isChange } = prepared
    if (!prepared.isRead) {
      this.#hasWritten = true
      this.#limitSize()
    }
    const bindings = bindArgs(prepared.parameters, args)
    if (hasLong(bindings, this.#limits.preparedCharsMax)) this.#statements.forget(sql)
    const { result } = this.#authorizer.guard(isInBatch, () =>
      prepared.hasColumns ? readRows(statement, bindings, writer) : statement.run(...bindings),
    )
    if (!Array.isArray(result))
      return writer.toResult([], [], isChange ? toChanges(prepared, result) : undefined)
    // Only now: if the tables have changed, SQLite has prepared the statement again meanwhile.
    return writer.toResult(
      statement.columns(),
      result,
      isChange ? toChanges(prepared, this.#readChanges()) : undefined,
    )
  }

  #readChanges(): Changes {
    const [changes] = this.#command(
      "select changes() as changes, last_insert_rowid() as lastInsertRowid",
      { isExact: true },
    )
    return changes as unknown as Changes
  }

  #readNumber(pragma: string): number {
    return Number(Object.values(this.#command(`pragma ${pragma}`)[0] ?? {})[0])
  }

  /** Runs a statement of our own. */
  #command(
    sql: string,
    { args = [], isExact = false }: { args?: readonly SQLInputValue[]; isExact?: boolean } = {},
  ): Record<string, unknown>[] {
    let statement = this.#own.get(sql)
    if (!statement) {
      statement = this.#db.prepare(sql)
      statement.setReadBigInts(isExact)
      this.#own.set(sql, statement)
    }
    return statement.all(...args) as Record<string, unknown>[]
  }
}

/** A database is made smaller when at least this share of it is free. */
const emptyShareMin = 0.25

function readRows(statement: StatementSync, bindings: Bindings, writer: ResultWriter): string[] {
  const rows: string[] = []
  // Arrays, because of `setReturnArrays`.
  for (const row of statement.iterate(...bindings))
    rows.push(writer.toRow(row as unknown as SQLOutputValue[]))
  return rows
}

/** A statement that inserted nothing has no row id: SQLite returns that of an earlier one. */
function toChanges({ isInsert }: Prepared, { changes, lastInsertRowid }: Changes): Changes {
  return { changes, lastInsertRowid: isInsert && Number(changes) > 0 ? lastInsertRowid : null }
}

/** SQLite keeps the parameters as long as the statement is cached. */
function hasLong([named, ...others]: Bindings, lengthMax: number): boolean {
  return [...Object.values(named), ...others].some(
    (value) =>
      (typeof value === "string" || value instanceof Uint8Array) && value.length > lengthMax,
  )
}
