import { http1Limits, type ResponseLimits } from "../http1/http1-limits.ts"

/** What a sandbox may take of the world and of us. */
export interface EgressLimits extends ResponseLimits {
  /** Of one request, in each direction. */
  readonly bytesMax: number
  /** Of one request, from its head to the last byte of its answer. A WebSocket may last longer. */
  readonly msMax: number
  /** Requests of one sandbox that are open at once. */
  readonly connectionsMax: number
  /** Undefined for no limit. */
  readonly requestsPerMinute: number | undefined

  /**
   * How long the head of a request may take from its first byte, and what nobody reads after an
   * early answer.
   */
  readonly headMsMax: number
  /**
   * How long the sandbox may keep a connection without a request: longer than Deno does, which
   * could send something just when we close.
   */
  readonly keptMsMax: number
  /** Connections of one sandbox beyond `connectionsMax`. */
  readonly sparesMax: number
  /**
   * What is read and thrown away of a body that nobody wants, so that the answer is read before the
   * connection ends.
   */
  readonly discardedBytesMax: number
  /** How long an answer of our own waits for the end of the body. */
  readonly deferredMsMax: number
  /** How long a connection that has ended for us waits for the sandbox to end it too. */
  readonly lingerMsMax: number

  /** Bytes of a body that are buffered, in each direction, while the other side does not take more. */
  readonly bufferedBytesMax: number

  /** Addresses of a host that are tried. */
  readonly addressesMax: number
  /** For each of them: until there is a connection, and a secure one if it has to be. */
  readonly connectMsMax: number
  /** From the last byte of a request to the head of its answer. */
  readonly answerMsMax: number
  /** Without a byte in either direction. */
  readonly idleMsMax: number
  /** The same for a WebSocket. */
  readonly tunnelIdleMsMax: number

  /** Connections to the outside that one sandbox keeps without a request, and for how long. */
  readonly pooledMax: number
  readonly pooledMsMax: number
  /**
   * A request that cannot be sent twice takes none that is older: its server may be closing it at
   * this very moment.
   */
  readonly freshMsMax: number

  /** The owner's allowance is asked again after so many bytes. */
  readonly takenBytes: number
  /** Of an address in a message, and in the list of a run. */
  readonly messageUrlCharsMax: number
  readonly listedUrlCharsMax: number
  /** How often all of these times are looked at. */
  readonly sweepMs: number
}

/** What holds unless the operator says otherwise. */
export const egressLimits: EgressLimits = {
  ...http1Limits,
  bytesMax: 1_073_741_824,
  msMax: 300_000,
  connectionsMax: 128,
  requestsPerMinute: undefined,
  headMsMax: 30_000,
  keptMsMax: 120_000,
  sparesMax: 256,
  discardedBytesMax: 16_777_216,
  deferredMsMax: 1_000,
  lingerMsMax: 2_000,
  bufferedBytesMax: 65_536,
  addressesMax: 3,
  connectMsMax: 10_000,
  answerMsMax: 300_000,
  idleMsMax: 300_000,
  tunnelIdleMsMax: 3_600_000,
  pooledMax: 64,
  pooledMsMax: 15_000,
  freshMsMax: 1_500,
  takenBytes: 65_536,
  messageUrlCharsMax: 200,
  listedUrlCharsMax: 1_000,
  sweepMs: 500,
}
