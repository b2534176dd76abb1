/** Limits for parsing a message. */
export interface MessageLimits {
  /** The first line and the headers. */
  readonly headBytesMax: number
  /** The line before a chunk. */
  readonly chunkLineBytesMax: number
  /** The trailer behind the last chunk. */
  readonly trailerBytesMax: number
}

/** Limits for parsing a response. */
export interface ResponseLimits extends MessageLimits {
  /** Interim responses, with a status below 200, before the final one. */
  readonly interimMax: number
  /**
   * A body up to this size that arrives together with its head is passed on as a whole, which is
   * much cheaper than a stream.
   */
  readonly wholeBytesMax: number
}

/** Limits of the connections to servers. */
export interface PoolLimits extends ResponseLimits {
  /** Bytes of a body that are buffered while its reader does not take more, plus one read. */
  readonly bufferedBytesMax: number
  /** Idle connections, and how long they are kept. */
  readonly pooledMax: number
  readonly pooledMsMax: number
}

/** These are not settings: no legitimate message needs more. */
export const http1Limits: ResponseLimits = {
  headBytesMax: 65_536,
  chunkLineBytesMax: 256,
  trailerBytesMax: 8_192,
  interimMax: 8,
  wholeBytesMax: 65_536,
}
