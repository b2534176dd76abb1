import { workerDefaults } from "../worker-processes/worker-limits.ts"

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
  // The databases of one user's vals: their sizes are added up when one of them is written to.
  databasesMax: 1_000,
  // The mark of the response comes on top.
  responseBytesMax: statementLimits.resultBytesMax + 1,
  // A request waits until those before it are done.
  waitMsMax: Number.POSITIVE_INFINITY,
}

export type DatabaseLimits = Readonly<typeof databaseLimits>
