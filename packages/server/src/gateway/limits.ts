/** What the gateway lets clients and vals take. */
export interface GatewayLimits {
  /** Of the body of a request. */
  readonly requestBytesMax: number
  /** A body up to this size is read before the val is asked, and kept with the run. */
  readonly keptBodyBytesMax: number
  /** Time for a body of that size, of which none is the val's: there is no run yet. */
  readonly bodyMsMax: number
  /** How long nothing may come of a larger body while the val waits for it. */
  readonly bodyStalledMsMax: number
  /**
   * Larger bodies on their way to one val, and of these from one address; each has one of the runs
   * that a val may have.
   */
  readonly uploadsPerValMax: number
  readonly uploadsPerClientMax: number
  /**
   * Of the headers of a request, names and values, that are kept for a replay; with more of them
   * none is possible.
   */
  readonly keptHeaderBytesMax: number
  /**
   * An answer up to this size is read whole: it costs less than passing it on in pieces, and it
   * arrives whole or not at all.
   */
  readonly wholeAnswerBytesMax: number
  readonly answerHeaderBytesMax: number
  /** Of the address that is kept with a run. */
  readonly urlCharsMax: number
  /**
   * Until an answer begins, time in a queue included: whoever gives out run slots sees to it, and
   * connections have to last that long.
   */
  readonly headMsMax: number
  /** For what follows the head of an answer, and for a WebSocket. */
  readonly streamMsMax: number
  /** How long a client may leave a part of an answer unread. */
  readonly stalledMsMax: number
  /** How often all of these times are looked at. */
  readonly sweepMs: number
  /** Without traffic on a connection, as `Bun.serve` was told. */
  readonly idleSeconds: number
  readonly socketsPerValMax: number
  readonly socketsMax: number
  /** Of a message to or from a WebSocket. */
  readonly messageBytesMax: number
  /** What may wait for the reader of one WebSocket, and for all of them. */
  readonly backlogBytesMax: number
  readonly backlogBytesTotalMax: number
  /** Seconds after which a client that was turned away should ask again. */
  readonly retrySeconds: number
  /** Host names of which it is remembered what they mean. */
  readonly hostsMax: number
}

/** What holds unless the operator says otherwise. */
export const gatewayLimits: GatewayLimits = {
  requestBytesMax: 1_073_741_824,
  keptBodyBytesMax: 65_536,
  bodyMsMax: 60_000,
  bodyStalledMsMax: 20_000,
  uploadsPerValMax: 64,
  uploadsPerClientMax: 32,
  keptHeaderBytesMax: 8_192,
  wholeAnswerBytesMax: 65_536,
  answerHeaderBytesMax: 65_536,
  urlCharsMax: 2_048,
  headMsMax: 70_000,
  streamMsMax: 3_600_000,
  stalledMsMax: 60_000,
  sweepMs: 1_000,
  idleSeconds: 120,
  socketsPerValMax: 1_200,
  socketsMax: 10_000,
  messageBytesMax: 1_048_576,
  backlogBytesMax: 2_097_152,
  backlogBytesTotalMax: 67_108_864,
  retrySeconds: 1,
  hostsMax: 10_000,
}
