import { findOnce, type JsonText } from "@hamlet/kit"
import type {
  BatchMode,
  OwnerDatabases,
  SentSqlRequest,
  SqlOutcome,
  SqlStatement,
} from "@hamlet/owner-databases"
import { assertAccess, type Caller } from "./access/caller.ts"
import { AppError } from "./app-error.ts"
import type { QuotaBook } from "./limits/quotas.ts"
import { homeGone, type StorageHome } from "./storage-home.ts"

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
