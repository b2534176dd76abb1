import type { SqlArgs } from "@hamlet/contract"
import { findOnce, type IdempotentRequest, type JsonText } from "@hamlet/kit"
import { assertAccess, type Caller } from "./access.ts"
import { AppError } from "./app-error.ts"
import type { QuotaBook } from "./limits/quotas.ts"
import { homeGone, type StorageHome } from "./storage-home.ts"

/** A statement and the values of its parameters, in order or by their names. */
export interface SqlStatement {
  readonly sql: string
  readonly args: SqlArgs
}

/**
 * How several statements run together: whether they may write, and whether that is decided at once
 * or with the first that does.
 */
export type BatchMode = "write" | "read" | "deferred"

/** What is to be done in the database of a user, or of one val of the user. */
export interface SqlRequest extends StorageHome {
  /**
   * `single` for one statement, the result of which is given as it is; otherwise a transaction, and
   * a list of results.
   */
  readonly mode: "single" | BatchMode
  readonly statements: readonly SqlStatement[]
  /** Without it, writes are refused in every mode. */
  readonly canWrite: boolean
  /** How large all databases of the user may become; absent for the limit of the server. */
  readonly bytesMax?: number
  /**
   * Absent for a request without an idempotency key. If it writes, it is recorded in the transaction
   * of its statements, so that it is done once even if the server crashes before its response is
   * stored.
   */
  readonly idempotent?: IdempotentRequest
}

/**
 * The outcome. Results are JSON bytes: they may be megabytes, and this process does not parse them.
 */
export type SqlOutcome =
  | { readonly kind: "done"; readonly json: Uint8Array }
  /** `index` is the statement's, where one is to blame. */
  | {
      readonly kind: "failed"
      readonly message: string
      readonly index?: number | undefined
      readonly sqliteCode?: string | undefined
    }
  | { readonly kind: "write_refused" }
  /** A request with this idempotency key was done before, and its result is not kept any more. */
  | { readonly kind: "done_before" }
  /** The val or the user was deleted meanwhile. */
  | { readonly kind: "gone" }
  | { readonly kind: "full"; readonly message: string }
  | { readonly kind: "overloaded" }
  | { readonly kind: "unavailable"; readonly message: string }

/** A statement that the database refused. */
export class SqlFailure extends AppError {
  constructor(
    message: string,
    /**
     * The name that SQLite has for the error; undefined where the statement did not get as far as
     * SQLite.
     */
    readonly sqliteCode: string | undefined,
  ) {
    super("sql_failed", message)
  }
}

/** A request for SQL whose statements may be JSON still: only the database reads them. */
export type SentSqlRequest = Omit<SqlRequest, "statements"> & {
  readonly statements: SqlRequest["statements"] | JsonText
}

/**
 * The SQLite databases of users, one for each, and one for each of their vals that uses it. There is
 * one from the first statement on, while its user or val exists: a database is created only then,
 * and removed again if its home was deleted at that moment.
 */
export interface OwnerDatabases {
  run(request: SentSqlRequest): Promise<SqlOutcome>
  /** How many bytes the databases of a user take on the disk; 0 where there is none. */
  sizeOf(ownerId: string): Promise<number>
  /** Deletes the database of a val, or all those of a user, who must not use them any more. */
  remove(home: StorageHome): Promise<void>
}

/** The rules of the SQLite databases of users. */
export type Sqlite = ReturnType<typeof createSqlite>

/** Creates the rules of databases. Results are JSON. */
export function createSqlite(databases: OwnerDatabases, quotas: QuotaBook) {
  const run = async (
    caller: Caller,
    home: StorageHome,
    request: Pick<SentSqlRequest, "mode" | "statements">,
  ): Promise<Uint8Array> => {
    const canWrite = caller.scopes.has("sqlite:write")
    const bytesMax = quotas.find(home.ownerId)?.sqliteBytes ?? undefined
    const own = bytesMax === undefined ? {} : { bytesMax }
    const idempotent = findOnce()?.request
    const once = idempotent && canWrite && request.mode !== "read" ? { idempotent } : {}
    const outcome = await databases.run({ ...request, ...own, ...once, ...home, canWrite })
    if (outcome.kind === "done") return outcome.json
    // Whether a statement writes is known only to the database, once it has read it.
    if (outcome.kind === "write_refused")
      assertAccess({ auth: "required", scope: "sqlite:write" }, caller)
    throw toError(outcome, home)
  }
  return {
    /** The result of a statement. */
    execute: (caller: Caller, home: StorageHome, statement: SqlStatement) =>
      run(caller, home, { mode: "single", statements: [statement] }),
    /** The results of statements that are all run or none. */
    batch: (
      caller: Caller,
      home: StorageHome,
      batch: { readonly statements: readonly SqlStatement[] | JsonText; readonly mode: BatchMode },
    ) => run(caller, home, batch),
  }
}

/**
 * For a server whose nodes share neither a libSQL server nor a data folder: each node would have
 * different databases.
 */
export const noOwnerDatabases: OwnerDatabases = {
  async run() {
    throw new AppError(
      "sqlite_unavailable",
      "Cannot run SQL: this server keeps its data in PostgreSQL, and its nodes share neither a libSQL server (HAMLET_LIBSQL_URL) nor a data folder (HAMLET_DATA_DIR_SHARED)",
    )
  },
  sizeOf: () => Promise.resolve(0),
  remove: () => Promise.resolve(),
}

function toError(outcome: Exclude<SqlOutcome, { kind: "done" }>, home: StorageHome): AppError {
  switch (outcome.kind) {
    case "gone":
      return homeGone(home)
    case "failed":
      return new SqlFailure(
        `Cannot run ${toName(outcome.index)}: ${outcome.message}`,
        outcome.sqliteCode,
      )
    case "write_refused":
      return new SqlFailure(
        "Cannot write to the database: the mode of the batch is read",
        "SQLITE_READONLY",
      )
    case "done_before":
      return new AppError(
        "idempotency_result_lost",
        "Cannot return the result again: the request was executed before with this idempotency key, and its result was not kept",
      )
    case "full":
      return new AppError("quota_exceeded", `Cannot write to the database: ${outcome.message}`)
    case "overloaded":
      return new AppError(
        "rate_limited",
        "Cannot run the statement: too many are waiting for their turn",
      )
    case "unavailable":
      return new AppError("database_unavailable", `Cannot use the database: ${outcome.message}`)
  }
}

function toName(index: number | undefined): string {
  return index === undefined ? "the statement" : `statement ${index + 1}`
}
