/** What runs may take. Each is a setting, or follows from one; docs/configuration.md says which. */
export interface RunnerLimits {
  /** Until an answer begins, or a call returns. */
  readonly runMsMax: number
  readonly runsPerValMax: number
  readonly runsPerAccountMax: number
  /** The quota of an account that has one, instead of `runsPerAccountMax`. */
  readonly runsAtOnceOf?: (accountId: string) => number | null | undefined
  /**
   * Runs that wait for one of the two above to have room; an account may hold a quarter of the
   * places.
   */
  readonly runsWaitingMax: number
  readonly waitMsMax: number
  /**
   * How long a run waits until its account may have another process at work. It takes nothing from
   * others meanwhile.
   */
  readonly shareWaitMsMax: number
  /** Processes that are kept started without a val, and how many there may be after a burst. */
  readonly readyMin: number
  readonly readyMax: number
  readonly launchesMax: number
  /** Processes of all kinds. */
  readonly processesMax: number
  /** Processes of one account that are at work; fewer when several accounts want many. */
  readonly processesPerAccountMax: number
  /** What all processes together may use. */
  readonly memoryBytesMax: number
  /**
   * What a process takes before it has done anything, and what is kept for one that is to be
   * started.
   */
  readonly warmBytes: number
  readonly startBytes: number
  readonly idleMsMax: number
  readonly processMsMax: number
  /** CPU time that a process may take without a pause. */
  readonly cpuMsMax: number
  /** Runs that have ended but whose late logs are still listened for, for each process. */
  readonly lateRunsMax: number
  readonly logBytesMax: number
  readonly returnBytesMax: number
}

/** What holds unless the operator says otherwise. */
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
