/** What a message may take of whoever reads it. */
export interface MessageLimits {
  /** Of the head: the first line and the headers. */
  readonly headBytesMax: number
  /** Of the line before a chunk. */
  readonly chunkLineBytesMax: number
  /** Of what follows the last chunk. */
  readonly trailerBytesMax: number
}

/** The same of an answer. */
export interface ResponseLimits extends MessageLimits {
  /** Heads with a status below 200 before the answer. */
  readonly interimMax: number
  /**
   * A body up to this size that comes together with its head is handed over whole, which costs far
   * less than a stream.
   */
  readonly wholeBytesMax: number
}

/**
 * What holds everywhere. Nothing here is a setting: nobody needs more, and whoever sends more is up
 * to something.
 */
export const http1Limits: ResponseLimits = {
  headBytesMax: 65_536,
  chunkLineBytesMax: 256,
  trailerBytesMax: 8_192,
  interimMax: 8,
  wholeBytesMax: 65_536,
}
