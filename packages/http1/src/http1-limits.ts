/** Limits for parsing a message. They are not settings: no legitimate message needs more. */
export const http1Limits = {
  /** The first line and the headers. */
  headBytesMax: 65_536,
  /** The line before a chunk. */
  chunkLineBytesMax: 256,
  /**
   * The bytes around the contents of chunks that are read in one step: 0.5 ms of work. And those of
   * one connection per second: 100,000 chunks of one byte. A connection with more is read later.
   */
  framingPerReadMax: 16_384,
  framingPerSecondMax: 500_000,
  /** The trailer behind the last chunk. */
  trailerBytesMax: 8_192,
  /** Interim responses, with a status below 200, before the final one. */
  interimMax: 8,
  /**
   * A body up to this size that arrives together with its head is passed on as a whole, which is
   * much cheaper than a stream.
   */
  wholeBytesMax: 65_536,
}

export type Http1Limits = Readonly<typeof http1Limits>

/** Limits of the connections to servers. */
export interface PoolLimits extends Http1Limits {
  /** Bytes of a body that are buffered while its reader does not take more, plus one read. */
  readonly bufferedBytesMax: number
  /** Idle connections, and how long they are kept. */
  readonly pooledMax: number
  readonly pooledMsMax: number
}
