/** What runs may use: the defaults. Each is a setting or is derived from one (docs/configuration.md) or from the machine. */
export const runnerLimits = {
  /** Until a response begins, or a call returns. */
  runMsMax: 60_000,
  /**
   * How long a process may not respond after one of its runs was ended. If the run keeps it busy for
   * ever, the process ends, so that the runs beside it learn it now and not when their time is over.
   */
  stuckMsMax: 5_000,
  runsPerGroupMax: 256,
  runsPerAccountMax: 1024,
  /** Runs that wait because of one of the limits above. An account may hold a quarter of them. */
  runsWaitingMax: 4096,
  waitMsMax: 10_000,
  /** How long a run waits until its account may have another process at work. */
  shareWaitMsMax: 30_000,
  /** Warm processes that are kept ready: at least, and at most. */
  readyMin: 4,
  readyMax: 64,
  /** Processes that start at the same time: each waits for a quarter of its start without using the CPU. */
  launchesMax: Math.ceil(1.5 * navigator.hardwareConcurrency),
  /** Processes of all kinds. */
  processesMax: 256,
  /** Processes of one account that are at work; fewer when several accounts need many. */
  processesPerAccountMax: 192,
  /** The memory of all processes together. */
  memoryBytesMax: 8 * 1024 ** 3,
  /** The memory of a process that has done nothing yet. */
  warmBytes: 16 * 1024 ** 2,
  /** A process starts only when this much memory is free. */
  startBytes: 64 * 1024 ** 2,
  idleMsMax: 65_000,
  processMsMax: 3_600_000,
  /** CPU time that a process may use without a pause. */
  cpuMsMax: 30_000,
  /** Ended runs of one process that may still log. */
  lateRunsMax: 1000,
  logBytesMax: 100_000,
  returnBytesMax: 8 * 1024 ** 2,
}

export type RunnerLimits = Readonly<typeof runnerLimits> & {
  /** The quota of an account; it replaces `runsPerAccountMax` where there is one. */
  readonly runsAtOnceOf?: (accountId: string) => number | null | undefined
}
