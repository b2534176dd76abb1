import { http1Limits, type PoolLimits } from "../http1/http1-limits.ts"

/** Limits of the outgoing requests of one sandbox. */
export interface EgressLimits extends PoolLimits {
  /** Bytes of one request, in each direction. */
  readonly bytesMax: number
  /** From the head of a request to the last byte of its response. A WebSocket may last longer. */
  readonly msMax: number
  /** Concurrent requests. */
  readonly connectionsMax: number
  /** Concurrent sockets of all sandboxes of an account. */
  readonly accountSocketsMax: number
  /**
   * Connections from all sandboxes of an account that have asked for no socket yet, in addition to
   * `accountSocketsMax`. Enough for a few vals that open as many as they can.
   */
  readonly accountSparesMax: number
  /** Undefined for no limit. */
  readonly requestsPerMinute: number | undefined

  /**
   * How long the head of a request may take from its first byte, and the rest of a body that is
   * discarded after an early response.
   */
  readonly headMsMax: number
  /**
   * How long the sandbox may keep a connection without a request. Longer than Deno keeps it, which
   * could otherwise send a request at the moment when we close.
   */
  readonly keptMsMax: number
  /** Connections from the sandbox in addition to `connectionsMax`. */
  readonly sparesMax: number
  /**
   * Bytes of a body that are discarded after an early response, so that the sandbox reads the
   * response before the connection is closed.
   */
  readonly discardedBytesMax: number
  /** How long a response of the proxy itself waits for the end of the request's body. */
  readonly deferredMsMax: number
  /** How long a half-closed connection waits for the sandbox to close it, too. */
  readonly lingerMsMax: number

  /** Addresses of a host that are tried. */
  readonly addressesMax: number
  /** For each of them: until the connection is open, including the TLS handshake. */
  readonly connectMsMax: number
  /** From the last byte of a request to the head of its response. */
  readonly responseMsMax: number
  /** How long a request may transfer no byte in either direction. */
  readonly idleMsMax: number
  /** The same for a WebSocket, and for a socket. */
  readonly tunnelIdleMsMax: number
  readonly socketIdleMsMax: number
  /** How long a socket is silent until the kernel checks whether the other side is still there. */
  readonly socketProbeMs: number

  /**
   * A request that must not be sent twice uses no connection that has been idle for longer: its
   * server may be about to close it.
   */
  readonly freshMsMax: number

  /** Bytes are taken from the owner's allowance in portions of this size. */
  readonly takenBytes: number
  /** The length of a URL in a message, and in the list of a run. */
  readonly messageUrlCharsMax: number
  readonly listedUrlCharsMax: number
  /** How often the time limits are checked. */
  readonly sweepMs: number
}

/** The defaults. The operator can set the first four and `requestsPerMinute`. */
export const egressLimits: EgressLimits = {
  ...http1Limits,
  bytesMax: 1_073_741_824,
  msMax: 300_000,
  connectionsMax: 128,
  accountSocketsMax: 512,
  accountSparesMax: 1_536,
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
  responseMsMax: 300_000,
  idleMsMax: 300_000,
  tunnelIdleMsMax: 3_600_000,
  socketIdleMsMax: 3_600_000,
  socketProbeMs: 60_000,
  pooledMax: 64,
  pooledMsMax: 15_000,
  freshMsMax: 1_500,
  takenBytes: 65_536,
  messageUrlCharsMax: 200,
  listedUrlCharsMax: 1_000,
  sweepMs: 500,
}
