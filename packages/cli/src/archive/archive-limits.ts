/**
 * What an archive may be. Whoever made one may mean harm, so nothing about it is taken without a
 * limit.
 */
export const archiveLimits = {
  /** What the format without its extension for large files can count. */
  entriesMax: 65_000,
  archiveBytesMax: 4_000_000_000,
  /** The list of entries at the end of a zip file. */
  directoryBytesMax: 33_554_432,
  /** A val with all its versions, or a file. */
  entryBytesMax: 67_108_864,
  /** All entries together, unpacked. */
  unpackedBytesMax: 17_179_869_184,
  /** Folders in folders. */
  levelsMax: 32,
} as const

/** How vals are sent and fetched. */
export const transferLimits = {
  /** How many vals the API takes at once. */
  batchValsMax: 200,
  /** About as much as is sent at once: less than every server takes that was not told otherwise. */
  batchCharsMax: 524_288,
  /** How many batches are under way. The server reads one while it writes another. */
  batchesMax: 3,
  /** How many vals are fetched at the same time. */
  fetchesMax: 6,
  /** A server that restarts meanwhile is waited for. */
  retriesMax: 5,
  timeoutMs: 120_000,
} as const
