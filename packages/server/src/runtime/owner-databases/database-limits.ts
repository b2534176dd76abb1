import type { WorkerProcessPoolLimits } from "../worker-processes/worker-process-pool.ts"

/** What the processes of users' databases may use. The time of a request is a setting. */
export type DatabaseLimits = Omit<WorkerProcessPoolLimits, "requestMsMax">

/** What a statement may use. SQLite enforces most of it. */
export interface StatementLimits {
  /** The longest text or blob, and the longest row. */
  readonly valueBytesMax: number
  /** The results of a request together, as JSON. */
  readonly resultBytesMax: number
  readonly cacheBytes: number
  /** Until then the changes of many statements are collected beside the database. */
  readonly journalBytes: number
  /** How many statements of a database are kept ready to run again. */
  readonly preparedMax: number
  /**
   * Statements that are longer, or have parameters that are, are not kept: they would be most of
   * the memory.
   */
  readonly preparedCharsMax: number
  readonly sqlBytesMax: number
  readonly parametersMax: number
  readonly expressionDepthMax: number
  readonly compoundSelectsMax: number
  readonly patternBytesMax: number
  readonly triggerDepthMax: number
  /** How many steps the program of a statement may have that SQLite makes of it. */
  readonly programStepsMax: number
  /** How much of a database that has become smaller is given back to the system at once. */
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
