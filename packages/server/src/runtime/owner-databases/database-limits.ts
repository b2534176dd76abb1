import type { WorkerProcessPoolLimits } from "../worker-processes/worker-process-pool.ts"

/** What the processes of users' databases may use. The time of a request is a setting. */
export type DatabaseLimits = Omit<WorkerProcessPoolLimits, "requestMsMax">

/** What a statement may use. SQLite enforces most of it. */
export interface StatementLimits {
  /** One text, blob or row. */
  readonly valueBytesMax: number
  /** All results of a request, as JSON. */
  readonly resultBytesMax: number
  readonly cacheBytes: number
  /** The size at which the write-ahead log is copied into the database. */
  readonly journalBytes: number
  /** The number of cached prepared statements of a database. */
  readonly preparedMax: number
  /** Statements or parameters that are longer are not cached: they would use most of the memory. */
  readonly preparedCharsMax: number
  readonly sqlBytesMax: number
  readonly parametersMax: number
  readonly expressionDepthMax: number
  readonly compoundSelectsMax: number
  readonly patternBytesMax: number
  readonly triggerDepthMax: number
  /** The number of instructions in the program to which SQLite compiles a statement. */
  readonly programStepsMax: number
  /** How many free bytes of a database are returned to the system when it is closed. */
  readonly trimmedBytesMax: number
}

/** The limits that hold for every statement. */
export const statementLimits: StatementLimits = {
  valueBytesMax: 16_777_216,
  resultBytesMax: 8_388_608,
  cacheBytes: 2_097_152,
  journalBytes: 4_194_304,
  preparedMax: 64,
  preparedCharsMax: 10_000,
  sqlBytesMax: 4_000_000,
  parametersMax: 32_766,
  expressionDepthMax: 1_000,
  compoundSelectsMax: 500,
  patternBytesMax: 1_000,
  triggerDepthMax: 100,
  programStepsMax: 1_000_000,
  trimmedBytesMax: 16_777_216,
}

/** The defaults. */
export const databaseLimits: DatabaseLimits = {
  // An owner whose statements take all their time uses one of them.
  processesMax: 4,
  sendsAhead: true,
  startMsMax: 10_000,
  // To finish the current request and to close the databases.
  endMsMax: 2_000,
  idleMsMax: 30_000,
  memoryBytesMax: 268_435_456,
  keptMemoryBytesMax: 167_772_160,
  checkMs: 20,
  checkRequests: 1_000,
  lifeSecondsMax: 3_600,
  // The databases that a process keeps open.
  cachedOwnersMax: 32,
  // The mark of the response comes on top.
  responseBytesMax: statementLimits.resultBytesMax + 1,
  waitingMax: 2_000,
  waitingPerOwnerMax: 500,
  waitingBytesMax: 67_108_864,
  // A request waits until those before it are done.
  waitMsMax: Number.POSITIVE_INFINITY,
}
