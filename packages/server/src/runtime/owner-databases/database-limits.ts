/** What the databases of users may cost. */
export interface DatabaseLimits {
  /**
   * How many database processes may exist at once. Whoever runs statements that take all their time
   * has one of them, and no more.
   */
  readonly processesMax: number
  /** How many databases a process keeps open. */
  readonly openMax: number
  /** How long a process may take to start; it takes about 20 ms. */
  readonly startMsMax: number
  /** How long a process may take to put everything away when it is told to end. */
  readonly endMsMax: number
  /** How long a process is kept without work. */
  readonly idleMsMax: number
  /**
   * How much memory a process may take during a request before it is killed, where /proc tells
   * (Linux).
   */
  readonly memoryBytesMax: number
  /** With how much memory a process is replaced when it has nothing to do. */
  readonly keptMemoryBytesMax: number
  /** How often a process is looked at that is taking its time. */
  readonly checkMs: number
  /** After how many requests the memory of a process is looked at that is never slow. */
  readonly checkRequests: number
  /**
   * How much processor time a process gets in its life, in whole seconds. The server replaces it
   * when it has worked for half of that; the system ends it at the whole, which is for one that is
   * left behind at work when the server is killed.
   */
  readonly lifeSecondsMax: number
  /** How many requests may wait for a process. */
  readonly waitingMax: number
  /** How many of them may be of one owner. */
  readonly waitingPerOwnerMax: number
  /** How large they may be together. */
  readonly waitingBytesMax: number
}

/** The limits that hold when nothing else is said. */
export const databaseLimits: DatabaseLimits = {
  processesMax: 4,
  openMax: 32,
  startMsMax: 10_000,
  endMsMax: 2_000,
  idleMsMax: 30_000,
  memoryBytesMax: 268_435_456,
  keptMemoryBytesMax: 167_772_160,
  checkMs: 20,
  checkRequests: 1_000,
  lifeSecondsMax: 3_600,
  waitingMax: 2_000,
  waitingPerOwnerMax: 500,
  waitingBytesMax: 67_108_864,
}

/** What a statement may take, inside a process. */
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
