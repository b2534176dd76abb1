const mega = 1024 ** 2

/** When something is worth a word. */
export const doctorLimits = {
  /** How long one check may take. */
  checkMsMax: 60_000,
  /** How long a name may take to be found, and a server to answer. */
  answerMsMax: 5_000,
  diskBytesMin: 100 * mega,
  diskBytesWanted: 1024 * mega,
  filesMin: 1_000,
  filesWanted: 10_000,
  /** A larger database is not read through: that would take minutes. */
  readThroughBytesMax: 4_096 * mega,
  /** A log that has grown so far is not copied back, because somebody reads for hours. */
  walBytesMax: 1_024 * mega,
  problemsMax: 5,
  /** Several nodes order what they do by their clocks. */
  skewMsMax: 2_000,
  /** Nearly everything that is asked of a server asks the database at least once. */
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
