import type { IdempotentRequest, JsonText } from "@hamlet/kit"

/** The bytes of a blob in JSON: base64, or the object that JSON makes of a `Uint8Array`. */
export type SqlBytes = { readonly base64: string } | Readonly<Record<number, number>>

/** A parameter of a statement. True and false become 1 and 0. */
export type SqlValue = null | boolean | number | string | SqlBytes

/** The parameters of a statement, by position or by name. */
export type SqlArgs = readonly SqlValue[] | Readonly<Record<string, SqlValue>>

/** Whose a database is: a user's, or that of one val of the user. Both count as the user's. */
export interface DatabaseHome {
  readonly ownerId: string
  readonly valId?: string
}

/** Says whether homes exist: nothing is created for one that was deleted. */
export interface DatabaseHomes {
  /** False once the deletion of the home has begun. */
  exists(home: DatabaseHome): Promise<boolean>
}

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
export interface SqlRequest extends DatabaseHome {
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
  /** The home was deleted meanwhile. */
  | { readonly kind: "gone" }
  | { readonly kind: "full"; readonly message: string }
  | { readonly kind: "overloaded" }
  | { readonly kind: "unavailable"; readonly message: string }

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
  remove(home: DatabaseHome): Promise<void>
}
