import { limits } from "@hamlet/contract/limits"

/** Limits of an archive. It may be hostile, so everything in it is bounded. */
export const archiveLimits = {
  /** Close to the most entries that the format has without zip64. */
  entriesMax: 65_000,
  archiveBytesMax: 4_000_000_000,
  /** The names, extra fields and comments in the directory of a zip file. */
  directoryBytesMax: 33_554_432,
  /** One entry: a val with all its versions, or a file. */
  entryBytesMax: 67_108_864,
  /** All entries together, unpacked. */
  unpackedBytesMax: 17_179_869_184,
  /** Nesting of folders. */
  levelsMax: 32,
} as const

/** How vals are uploaded and downloaded. */
export const transferLimits = {
  /** Vals in one request, as the API allows. */
  batchValsMax: limits.importValsMax,
  /** Approximate size of one request, below the default limit of a server. */
  batchCharsMax: 524_288,
  /** Requests at the same time, so that the server parses one while it writes another. */
  batchesMax: 3,
  /** Vals downloaded at the same time. */
  fetchesMax: 6,
  /** Enough retries to outlast a restart of the server. */
  retriesMax: 5,
  timeoutMs: 120_000,
} as const
