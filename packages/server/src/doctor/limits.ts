const mega = 1024 ** 2

/** The thresholds of the checks. */
export const doctorLimits = {
  /** Time limit of one check. */
  checkMsMax: 60_000,
  /** Time limit of a program that prints its version: a slow machine reads it from the disk first. */
  programMsMax: 30_000,
  /** Time limit of a DNS lookup, and of a response of a server. */
  answerMsMax: 5_000,
  diskBytesMin: 100 * mega,
  diskBytesWanted: 1024 * mega,
  filesMin: 1_000,
  filesWanted: 10_000,
  /** A larger database is not scanned: that would take minutes. */
  readThroughBytesMax: 4_096 * mega,
  /** More texts than these are not compared: that would take minutes. */
  statesMax: 2_000_000,
  /** A write-ahead log of this size means that a long-running reader blocks checkpoints. */
  walBytesMax: 1_024 * mega,
  problemsMax: 5,
  /** A message that waits so long after it was due is sent by no server. */
  lateMsMax: 600_000,
  /** Certificates are renewed some weeks before they expire. */
  certificateDaysMin: 14,
  /** Nodes compare times of each other's clocks. */
  skewMsMax: 2_000,
  /** Nearly every request queries the database at least once. */
  latencyMsMax: 20,
  latencySamples: 5,
  memoryBytesMin: 128 * mega,
  memoryBytesWanted: 512 * mega,
  openFilesMin: 512,
  /** For the database, the API and the connections of clients. */
  openFilesCommon: 1_024,
  /** For a val: its sockets, its door, and a few connections. */
  openFilesPerProcess: 8,
  yearMin: 2026,
  yearMax: 2100,
} as const
