/**
 * What the guest holds at most of its own accord. What differs from val to val is in the `limits`
 * of Load.
 */
export const limits = {
  /**
   * How much may wait for a host that does not read; logs beyond it are lost, and their run is told
   * so.
   */
  outboxCharsMax: 1_048_576,
  /** How much of a message or a stack is told. */
  errorCharsMax: 32_768,
  /** How many causes of an error are told, and how many parts of an AggregateError. */
  causesMax: 5,
  /** How deep a returned value is followed. */
  valueDepthMax: 100,
  /** How much is told of an answer with which a val refuses a WebSocket. */
  refusedBodyBytesMax: 65_536,
} as const
