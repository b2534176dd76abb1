/** What a process may take of us with its answers. Nothing here is a setting: no val needs more, and a guest that does is up to something. */
export interface ClientLimits {
  /** Of the head of an answer: status and headers. */
  readonly headBytesMax: number
  /** Heads with a status below 200 before the answer. */
  readonly interimMax: number
  /** A body up to this size that comes together with its head is handed over whole, which costs far less than a stream. */
  readonly wholeBytesMax: number
  /** Of the line before a chunk. */
  readonly chunkLineBytesMax: number
  /** Of what follows the last chunk. */
  readonly trailerBytesMax: number
  /** What is read ahead of whoever reads the body of an answer; one read from the socket may come on top. */
  readonly aheadBytesMax: number
  /** Connections of one process that are kept without a request. */
  readonly idleMax: number
  readonly idleMsMax: number
}

/** What holds. */
export const clientLimits: ClientLimits = {
  headBytesMax: 65_536,
  interimMax: 8,
  wholeBytesMax: 65_536,
  chunkLineBytesMax: 256,
  trailerBytesMax: 8_192,
  aheadBytesMax: 65_536,
  idleMax: 64,
  idleMsMax: 10_000,
}
