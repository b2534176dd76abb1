/** The limits of the command line; what is larger or later is refused or cut. */
export const limits = {
  /** How long a server may take for one attempt. */
  timeoutMs: 60_000,
  /**
   * A server that is not there is noticed by the first attempt; one that restarts answers the
   * second.
   */
  retriesMax: 1,
  /** What is read from standard input or a file. */
  inputBytesMax: 4_194_304,
  /** What is read from a large file at a time. */
  readBytes: 1_048_576,
  /** A blob that is sent from the command line; the server may allow less. */
  blobBytesMax: 1_073_741_824,
  /** How many blobs the API lists at once. */
  blobItemsMax: 1_000,
  tokenBytesMax: 1_000,
  serversMax: 1_000,
  /** How many items a list shows where nothing else is asked for. */
  listItemsDefault: 50,
  /** How many the API gives at once. */
  pageItemsMax: 100,
  /** How long completion waits for the server before it says nothing. */
  completeMs: 1_000,
  completeItemsMax: 300,
  /** How long a server that is looked at may take, and how far its clock may be off. */
  doctorMs: 5_000,
  doctorSkewMsMax: 5_000,
  /** How long Ctrl-C waits for what is to be tidied up. */
  tidyMsMax: 3_000,
  /** How long a run may wait for the packages that it imports to be fetched. */
  packagesMsMax: 120_000,
  /** How long the end of a run may take to be readable after it was announced. */
  endMsMax: 10_000,
  /** How often new runs are looked for. */
  followPollMs: 1_000,
  /**
   * Runs of requests are written a little late: so far back is looked for ones that were not there
   * before.
   */
  followOverlapMs: 5_000,
  /** How many runs are followed at once; the server allows 50 for an account. */
  followedMax: 20,
  /** How many more wait for their turn. */
  followWaitingMax: 1_000,
  /** How often a watched folder asks whether vals have changed. */
  watchPollMs: 1_000,
  /** How long it waits at most between two questions while the server is away. */
  watchAwayMsMax: 15_000,
  /** A file that was touched more recently may be half written. */
  watchSettleMs: 200,
  /** How long one synchronisation waits for files that do not come to rest. */
  watchSettleMsMax: 10_000,
  /** Not every system tells of every change: so often the folder is looked through all the same. */
  watchRescanMs: 3_000,
  /** How many files a watched folder may have. */
  watchFilesMax: 20_000,
  /** How many vals are fetched at once. */
  watchFetchesMax: 8,
  /** How often what has been done is written down while there is more to do. */
  watchNoteMs: 500,
  /** How often one synchronisation begins anew because something has changed meanwhile. */
  watchRoundsMax: 5,
  /** When more files than that are gone at once, nobody meant to delete so many vals. */
  watchDeletionsMax: 10,
  /** How many versions of a val are put aside before it is deleted; one that has more is left. */
  watchTrashVersionsMax: 1_000,
  /** How many runs are shown before the following begins, where nothing else is asked for. */
  latestRunsDefault: 10,
} as const
