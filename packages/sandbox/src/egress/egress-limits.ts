import { http1Limits } from "@hamlet/http1"

/**
 * Limits of the outgoing requests of one sandbox: the defaults. The operator can set the first four,
 * `filesMax` and `requestsPerMinute`.
 */
export const egressLimits = {
  ...http1Limits,
  /** Bytes of one request, in each direction. */
  bytesMax: 1_073_741_824,
  /** From the head of a request to the last byte of its response. A WebSocket may last longer. */
  msMax: 300_000,
  /** Concurrent requests. */
  connectionsMax: 128,
  /** Concurrent sockets of all sandboxes of an account. */
  accountSocketsMax: 512,
  /**
   * Files of the server that connections of programs may take: those of all accounts, and those of one.
   * Each connection from a sandbox is a file, and so is each one to another server.
   */
  filesMax: 8_192,
  accountFilesMax: 4_096,
  /**
   * Connections that a sandbox may have even if its account has no files left, so that requests on
   * them are refused with a reason.
   */
  connectionsMin: 4,
  /** Undefined for no limit. */
  requestsPerMinute: undefined as number | undefined,

  /**
   * How long the head of a request may take from its first byte, and the rest of a body that is
   * discarded after an early response.
   */
  headMsMax: 30_000,
  /**
   * How long the sandbox may keep a connection without a request. Longer than Deno keeps it, which
   * could otherwise send a request at the moment when we close.
   */
  keptMsMax: 120_000,
  /**
   * Connections that the sandbox may keep, idle ones and those whose response is being sent. Deno
   * keeps a connection whose response the program does not read, and never uses it again. So the others
   * are closed as soon as their response is sent.
   */
  keptMax: 16,
  /**
   * A response whose run has ended is broken off after this time, counted from the request: the
   * time limit of a run, which background work may use.
   */
  backgroundMsMax: 60_000,
  /**
   * Connections that a sandbox may open in a row at each of its sockets, and the time in which as
   * many more may follow.
   */
  opensMax: 500,
  opensMs: 500,
  /** Connections from the sandbox in addition to `connectionsMax`. */
  sparesMax: 256,
  /**
   * Bytes of a body that are discarded after an early response, so that the sandbox reads the
   * response before the connection is closed.
   */
  discardedBytesMax: 16_777_216,
  /** How long a response of the proxy itself waits for the end of the request's body. */
  deferredMsMax: 1_000,
  /** How long a half-closed connection waits for the sandbox to close it, too. */
  lingerMsMax: 2_000,

  /** Addresses of a host that are tried. */
  addressesMax: 3,
  /** For each of them: until the connection is open, including the TLS handshake. */
  connectMsMax: 10_000,
  /** From the last byte of a request to the head of its response. */
  responseMsMax: 300_000,
  /** How long a request may transfer no byte in either direction. */
  idleMsMax: 300_000,
  /** How long a WebSocket, or a socket, may transfer no byte in either direction. */
  tunnelIdleMsMax: 3_600_000,
  socketIdleMsMax: 3_600_000,
  /** How long a socket is silent until the kernel checks whether the other side is still there. */
  socketProbeMs: 60_000,

  /**
   * A request that must not be sent twice uses no connection that has been idle for longer: its
   * server may be about to close it.
   */
  freshMsMax: 1_500,

  /** Bytes are taken from the owner's allowance in portions of this size. */
  takenBytes: 65_536,
  /** The length of a URL in a message, and in the list of a run. */
  messageUrlCharsMax: 200,
  listedUrlCharsMax: 1_000,
  /** How often the time limits are checked. */
  sweepMs: 500,
  /** Limits of connections to servers; see `PoolLimits`. */
  bufferedBytesMax: 65_536,
  pooledMax: 64,
  pooledMsMax: 15_000,
}

export type EgressLimits = Readonly<typeof egressLimits>
