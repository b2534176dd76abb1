import { limits as apiLimits } from "@hamlet/contract/limits"

/** The limits of the command line. Larger input is refused or truncated; slower work times out. */
export const limits = {
  /** Time limit of one request attempt. */
  timeoutMs: 60_000,
  /** A server that is down fails the first attempt; one that restarts responds to the second. */
  retriesMax: 1,
  /** The most that is read from standard input or from a file. */
  inputBytesMax: 4_194_304,
  /** Read size for large files. */
  readBytes: 1_048_576,
  /** The largest blob to upload, and to download without a length; the server may allow less. */
  blobBytesMax: 1_073_741_824,
  /** How long a download may bring nothing before it is given up. */
  stalledMs: 120_000,
  /** The largest response to `hamlet doctor`. */
  healthBytesMax: 65_536,
  /** Page size of blob lists. */
  blobItemsMax: 1_000,
  tokenBytesMax: 1_000,
  serversMax: 1_000,
  /** How long a sign-in in a browser may take, whatever the server says. */
  deviceMsMax: 1_800_000,
  /** How often the server is asked meanwhile, if it does not say, and within these bounds. */
  deviceIntervalMs: 5_000,
  deviceIntervalMsMin: 1_000,
  deviceIntervalMsMax: 60_000,
  /** One of these requests, and its response. */
  deviceRequestMs: 10_000,
  deviceBytesMax: 65_536,
  /** Items shown by a list without --limit. */
  listItemsDefault: 50,
  /** The most items of a list, or versions of a val, that an option can name. */
  countMax: 999_999_999,
  /** Page size of other lists. */
  pageItemsMax: apiLimits.pageItemsMax,
  /** How long shell completion waits for the server before it offers nothing. */
  completeMs: 1_000,
  completeItemsMax: 300,
  /** Time limit for the checks of `hamlet doctor`, and the clock skew they allow. */
  doctorMs: 20_000,
  doctorSkewMsMax: 5_000,
  /** How long Ctrl-C waits for clean-up. */
  cleanupMsMax: 3_000,
  /** How long to wait for the packages of a val before it runs. */
  packagesMsMax: 120_000,
  /** How long after its announced end a run may still read as running. */
  endMsMax: 10_000,
  /** Interval between polls for new runs. */
  followPollMs: 1_000,
  /**
   * Runs of requests are written a little late: each poll looks back this far for runs it has not
   * seen.
   */
  followOverlapMs: 5_000,
  /** Runs followed at once; the server allows 50 per account. */
  followedMax: 20,
  /** Runs that wait to be followed. */
  followWaitingMax: 1_000,
  /** Interval between polls for changed vals. */
  watchPollMs: 1_000,
  /** The longest interval between polls while the server is unavailable. */
  watchAwayMsMax: 15_000,
  /** A file modified more recently than this may be half written. */
  watchSettleMs: 200,
  /** How long one synchronisation waits for files that keep changing. */
  watchSettleMsMax: 10_000,
  /** File events are not reliable on every system, so the folder is rescanned at this interval. */
  watchRescanMs: 3_000,
  /** The most files in the folder of a val. */
  watchFilesMax: 20_000,
  /** Files fetched at once, and vals. */
  watchFetchesMax: 8,
  /** Lines that a side of a merge may add and remove; a side with more is one change. */
  mergeEditsMax: 2_000,
  /** Interval at which progress is saved to the folder's state. */
  watchNoteMs: 500,
  /** Rounds of one synchronisation when files or vals change meanwhile. */
  watchRoundsMax: 5,
  /** When more files or folders than this disappear at once, it was probably a mistake. */
  watchDeletionsMax: 10,
  /** Runs shown by `hamlet logs` without --runs. */
  latestRunsDefault: 10,
} as const
