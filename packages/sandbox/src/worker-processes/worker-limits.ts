/** What most pools of worker processes, and their processes, may use. */
export const workerDefaults = {
  // Two, so that a request which takes all its time leaves one for other owners.
  processesMax: 2,
  /**
   * Whether a process is sent the owner's next request while it works on one. Only as long as
   * another process could be started: then no other owner waits for this one.
   */
  sendsAhead: false,
  /** How long a process is kept without work. */
  idleMsMax: 30_000,
  /** Requests that wait for a process, of all owners and of one. */
  waitingMax: 2_000,
  waitingPerKeyMax: 500,
  waitingBytesMax: 67_108_864,
  waitMsMax: 10_000,
  startMsMax: 10_000,
  /** How long a process may take to finish after `stop`. It is killed then. */
  endMsMax: 0,
  /** Memory during a request. Measured only where there is `/proc` (Linux). */
  memoryBytesMax: 268_435_456,
  /** A process that uses more memory than this between two requests is replaced. */
  keptMemoryBytesMax: 167_772_160,
  /** How often the time and the memory of a request are checked. */
  checkMs: 25,
  /** After this many requests the kept memory is checked, however fast they were. */
  checkRequests: 1_000,
  /** The number of owners whose state a process keeps in memory, such as open databases. */
  cachedOwnersMax: 0,
}

/** What a pool of worker processes, and its processes, may use. */
export interface WorkerLimits extends Readonly<typeof workerDefaults> {
  /**
   * The time of a request. A process that has not had so much CPU time, on a busy machine, gets up
   * to `starvedFactor` times as long.
   */
  readonly requestMsMax: number
  readonly responseBytesMax: number
  /**
   * The CPU time of a process in its life, in whole seconds. The server replaces a process that has
   * worked for half of it. The kernel ends it at the whole, which matters for a process that is
   * left at work when the server is killed.
   */
  readonly lifeSecondsMax: number
}
