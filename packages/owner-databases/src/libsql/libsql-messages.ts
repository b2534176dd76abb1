import type { StatementLimits } from "../database-limits.ts"
import type { SqlOutcome, SqlRequest } from "../owner-databases.ts"
import type { StatementTraits } from "../worker/authorizer.ts"

// What the server and its workers say to each other about databases on a libSQL server.

/** What a worker starts with. */
export interface LibsqlWorkerSettings {
  /** The number of databases whose tables the worker keeps in mind. */
  readonly mirrorsMax: number
}

/** What each statement is, a letter each: it reads, changes rows or inserts rows. */
export type StatementKinds = string

/** Turns a request into a batch of the server, if the statements are allowed. */
export interface PlanCall {
  readonly kind: "plan"
  readonly request: SqlRequest
  /** The pages that the database may have, if that is known. */
  readonly pagesMax?: number | undefined
}

/** Turns the response of the server to a batch into results. */
export interface ReadCall {
  readonly kind: "read"
  readonly isSingle: boolean
  readonly kinds: StatementKinds
  /** For a batch that writes. */
  readonly pagesMax?: number | undefined
  readonly bytesMax: number
}

/** The tables of the database follow a plan call, the response of the server a read call. */
export type LibsqlCall = PlanCall | ReadCall

/** A statement that a worker has compiled with the tables of the database, and has allowed. */
export interface CompiledStatement extends StatementTraits {
  /** What is sent: exactly what was compiled. */
  readonly text: string
  /** The names of parameters 1, 2, …; those without one have no name. */
  readonly parameters: readonly (string | null | undefined)[]
  readonly hasColumns: boolean
}

/** The batch follows. */
export interface Plan {
  readonly kind: "planned"
  readonly kinds: StatementKinds
  readonly isRead: boolean
  /**
   * Whether the batch does not end its transaction: its results may turn out to be too large, or are
   * recorded with the request.
   */
  readonly isHeld: boolean
  /** Whether the request is recorded when its transaction is committed. */
  readonly isRecorded: boolean
  /** The version of the tables with which the statements were compiled. */
  readonly version: string
  /** Whether foreign keys may be checked at the end of a transaction only. */
  readonly hasLateChecks?: boolean | undefined
  /** Whether the user has a table with the name of our table of done requests. */
  readonly isDoneTableTheirs?: boolean | undefined
  /** For the same statements with other values; undefined if they are long or define something. */
  readonly compiled?: readonly CompiledStatement[] | undefined
}

export type LibsqlWorkerReply =
  | Plan
  /** The results follow. `pages` is the size of the database after a write. */
  | { readonly kind: "done"; readonly pages?: number | undefined }
  | { readonly kind: "outcome"; readonly outcome: SqlOutcome }
  /** The worker does not know the tables, or they have changed. */
  | { readonly kind: "schema_needed" }
  /** The request is a write, and the worker does not know how large the database may become. */
  | { readonly kind: "room_needed" }
  /** Another connection had a lock. Nothing was changed. */
  | { readonly kind: "busy"; readonly message: string }
  /** The database is larger than the server thought, so that the limit was wrong. */
  | { readonly kind: "larger"; readonly pages: number }

/** The limits of what a mirror holds in memory. */
export const mirrorLimits = {
  /** Tables, indexes, views and triggers. */
  objectsMax: 10_000,
  /** Characters of the SQL of these objects. */
  charsMax: 4_000_000,
  /** Memory for the pages of mirrors. */
  bytesMax: 83_886_080,
  /** How often a statement is compiled again with a text in single quotes. */
  quotesMax: 64,
}

/** The statements that the server itself knows to be allowed, without asking a worker again. */
export const knownLimits = {
  databasesMax: 128,
  /** Statements of one database. */
  statementsMax: 32,
  /** Statements of a request that are longer together are not kept. */
  charsMax: 1_000,
  parametersMax: 100,
  /** A request or a response that is longer is the work of a worker. */
  jsonBytesMax: 32_768,
}

/** The limits of a mirror and of the statements that it compiles. */
export type MirrorLimits = StatementLimits & Readonly<typeof mirrorLimits>
