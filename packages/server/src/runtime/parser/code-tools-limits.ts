import type { WorkerProcessPoolLimits } from "../worker-processes/worker-process-pool.ts"

/** What reading users' code may cost. */
export interface CodeToolsLimits extends WorkerProcessPoolLimits {
  /** The most pieces of code in one request. */
  readonly piecesPerRequestMax: number
  /** The most characters of the pieces in one request: no more than a single piece may have. */
  readonly charsPerRequestMax: number
  /** The memory for JavaScript made from vals, so that a popular module is converted once. */
  readonly cachedBytesMax: number
}

/** The defaults. Ordinary code takes a few milliseconds and less than 100 MB. */
export const codeToolsLimits: CodeToolsLimits = {
  // Two, so that code which takes all its time leaves one for everyone else.
  processesMax: 2,
  sendsAhead: false,
  requestMsMax: 1_000,
  startMsMax: 10_000,
  // A parser has nothing to finish: it is killed at once.
  endMsMax: 0,
  idleMsMax: 30_000,
  memoryBytesMax: 268_435_456,
  keptMemoryBytesMax: 167_772_160,
  checkMs: 25,
  checkRequests: 1_000,
  lifeSecondsMax: 20,
  cachedOwnersMax: 0,
  responseBytesMax: 67_108_864,
  waitingMax: 2_000,
  waitingPerOwnerMax: 500,
  waitingBytesMax: 67_108_864,
  waitMsMax: 10_000,
  piecesPerRequestMax: 250,
  charsPerRequestMax: 256_000,
  cachedBytesMax: 16_777_216,
}
