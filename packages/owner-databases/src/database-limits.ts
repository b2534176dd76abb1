import type { Backoff } from "@hamlet/kit"
import { workerDefaults } from "@hamlet/sandbox"

/** Delays of a request that did not reach a libSQL server, which may be starting: 50 ms and 250 ms. */
export const libsqlBackoff: Backoff = { firstMs: 50, factor: 5, delayMsMax: 250, attemptsMax: 3 }

/** What every statement may use. SQLite enforces most of it. */
export const statementLimits = {
  /** One text, blob or row. */
  valueBytesMax: 16_777_216,
  /** All results of a request, as JSON. */
  resultBytesMax: 8_388_608,
  cacheBytes: 2_097_152,
  /** The size at which the write-ahead log is copied into the database. */
  journalBytes: 4_194_304,
  /** The number of cached prepared statements of a database. */
  preparedMax: 64,
  /** Statements or parameters that are longer are not cached: they would use most of the memory. */
  preparedCharsMax: 10_000,
  sqlBytesMax: 4_000_000,
  parametersMax: 32_766,
  expressionDepthMax: 1_000,
  compoundSelectsMax: 500,
  patternBytesMax: 1_000,
  triggerDepthMax: 100,
  /** The number of instructions in the program to which SQLite compiles a statement. */
  programStepsMax: 1_000_000,
  /** How many free bytes of a database are returned to the system when it is closed. */
  trimmedBytesMax: 16_777_216,
}

export type StatementLimits = Readonly<typeof statementLimits>

/** What the processes of users' databases may use. The time of a request is a setting. */
export const databaseLimits = {
  ...workerDefaults,
  processesMax: 4,
  sendsAhead: true,
  // To finish the current request and to close the databases.
  endMsMax: 2_000,
  checkMs: 20,
  lifeSecondsMax: 3_600,
  // The databases that a process keeps open, of whichever owners and vals.
  cachedOwnersMax: 32,
  // The databases of one user's vals: their sizes are added up before a write to one of them.
  databasesMax: 1_000,
  // The head of the response comes on top.
  responseBytesMax: statementLimits.resultBytesMax + 100,
  // A request waits until those before it are done.
  waitMsMax: Number.POSITIVE_INFINITY,
}

export type DatabaseLimits = Readonly<typeof databaseLimits>

/** What the databases on a libSQL server may use of this server. */
export const libsqlLimits = {
  ...databaseLimits,
  /** Requests to the libSQL server at once, of all owners, and of one while half of them are free. */
  atOnceMax: 12,
  atOncePerOwnerMax: 4,
  /**
   * Requests to one database that are sent together, if each was quick the last time, and their
   * statements.
   */
  togetherMax: 16,
  togetherStatementsMax: 200,
  quickMsMax: 100,
  /**
   * One response of the libSQL server. Its JSON takes about three times as many bytes as ours, and
   * up to 15 times for small numbers.
   */
  replyBytesMax: 16_777_216,
  /** Attempts of a request when the tables or the size of the database have changed meanwhile. */
  attemptsMax: 6,
  /** When what was not done, because the server could not be reached, is tried again. */
  backoff: libsqlBackoff,
  /** Pause before a request that met a lock is sent again, for up to half of its time. */
  busyMs: 20,
  /** How long a connection to a database is used. The server ends it after 10 s without a request. */
  streamMsMax: 3_000,
  /** The connections that are kept. The libSQL server has 128 by default, for all nodes. */
  streamsMax: 16,
  /** How long the sizes of a user's databases are believed: other nodes change them too. */
  sizesMsMax: 5_000,
  /** How late new sizes are recorded. */
  recordMs: 1_000,
  /** The users whose sizes are kept. */
  ownersMax: 1_000,
  // A plan may be as large as a request, with the names of the values' types.
  responseBytesMax: 4 * statementLimits.valueBytesMax,
}

export type LibsqlLimits = Readonly<typeof libsqlLimits>
