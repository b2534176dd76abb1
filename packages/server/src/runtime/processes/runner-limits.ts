/** What runs may use. Each is a setting or is derived from one (docs/configuration.md). */
export interface RunnerLimits {
  /** Until a response begins, or a call returns. */
  readonly runMsMax: number
  readonly runsPerValMax: number
  readonly runsPerAccountMax: number
  /** The quota of an account; it replaces `runsPerAccountMax` where there is one. */
  readonly runsAtOnceOf?: (accountId: string) => number | null | undefined
  /** Runs that wait because of one of the limits above. An account may hold a quarter of them. */
  readonly runsWaitingMax: number
  readonly waitMsMax: number
  /** How long a run waits until its account may have another process at work. */
  readonly shareWaitMsMax: number
  /** Warm processes that are kept ready: at least, and at most after a burst. */
  readonly readyMin: number
  readonly readyMax: number
  /** Processes that start at the same time. */
  readonly launchesMax: number
  /** Processes of all kinds. */
  readonly processesMax: number
  /** Processes of one account that are at work; fewer when several accounts need many. */
  readonly processesPerAccountMax: number
  /** The memory of all processes together. */
  readonly memoryBytesMax: number
  /** The memory of a process that has done nothing yet. */
  readonly warmBytes: number
  /** A process starts only when this much memory is free. */
  readonly startBytes: number
  readonly idleMsMax: number
  readonly processMsMax: number
  /** CPU time that a process may use without a pause. */
  readonly cpuMsMax: number
  /** Ended runs of one process that may still log. */
  readonly lateRunsMax: number
  readonly logBytesMax: number
  readonly returnBytesMax: number
}

/** The defaults. */
export const runnerLimits: RunnerLimits = {
  runMsMax: 60_000,
  runsPerValMax: 256,
  runsPerAccountMax: 1024,
  runsWaitingMax: 4096,
  waitMsMax: 10_000,
  shareWaitMsMax: 30_000,
  readyMin: 4,
  readyMax: 64,
  launchesMax: 2,
  processesMax: 256,
  processesPerAccountMax: 192,
  memoryBytesMax: 8 * 1024 ** 3,
  warmBytes: 16 * 1024 ** 2,
  startBytes: 64 * 1024 ** 2,
  idleMsMax: 300_000,
  processMsMax: 3_600_000,
  cpuMsMax: 30_000,
  lateRunsMax: 1000,
  logBytesMax: 100_000,
  returnBytesMax: 8 * 1024 ** 2,
}
