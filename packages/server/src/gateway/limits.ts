/** The limits of the gateway for clients and vals. */
export interface GatewayLimits {
  /** Size of a request body. */
  readonly requestBytesMax: number
  /** A body up to this size is read before the val runs, and stored with the run. */
  readonly storedBodyBytesMax: number
  /** Time to receive a body of that size. It does not count as run time: no run exists yet. */
  readonly bodyMsMax: number
  /** How long the client may send nothing of a larger body while the val waits for it. */
  readonly bodyStalledMsMax: number
  /**
   * Concurrent uploads of larger bodies to one val, and of these from one address. Each occupies
   * one of the runs that a val may have.
   */
  readonly uploadsPerValMax: number
  readonly uploadsPerClientMax: number
  /**
   * Size of the request headers, names and values, that are stored for a replay. A request with
   * more cannot be replayed.
   */
  readonly storedHeaderBytesMax: number
  /**
   * A response body up to this size is read whole before it is sent: that is cheaper than
   * streaming, and the client gets all of it or an error.
   */
  readonly wholeResponseBytesMax: number
  readonly responseHeaderBytesMax: number
  /** Length of the URL that is stored with a run. */
  readonly urlCharsMax: number
  /**
   * Time until a response begins, waiting for a run slot included. The runner enforces it;
   * connections must stay open that long.
   */
  readonly headMsMax: number
  /** Time for the body of a response, and for a WebSocket. */
  readonly streamMsMax: number
  /** How long a client may leave a part of a response, or of a WebSocket, unread. */
  readonly stalledMsMax: number
  /** Interval at which all of these times are checked. */
  readonly sweepMs: number
  /** Idle timeout of a connection, the same as in `Bun.serve`. */
  readonly idleSeconds: number
  /** Open WebSockets of one val, of all vals of one user, and of all. */
  readonly socketsPerValMax: number
  readonly socketsPerAccountMax: number
  readonly socketsMax: number
  /** Size of a WebSocket message in either direction. */
  readonly messageBytesMax: number
  /** Unread bytes of one WebSocket, of those of one user's vals, and of all of them. */
  readonly backlogBytesMax: number
  readonly backlogBytesPerAccountMax: number
  readonly backlogBytesTotalMax: number
  /** The value of `retry-after` for a client that was refused. */
  readonly retrySeconds: number
  /** Size of the caches that are keyed by host name. */
  readonly hostsMax: number
}

/** The defaults. */
export const gatewayLimits: GatewayLimits = {
  requestBytesMax: 1_073_741_824,
  storedBodyBytesMax: 65_536,
  bodyMsMax: 60_000,
  bodyStalledMsMax: 20_000,
  uploadsPerValMax: 64,
  uploadsPerClientMax: 32,
  storedHeaderBytesMax: 8_192,
  wholeResponseBytesMax: 65_536,
  responseHeaderBytesMax: 65_536,
  urlCharsMax: 2_048,
  headMsMax: 70_000,
  streamMsMax: 3_600_000,
  stalledMsMax: 60_000,
  sweepMs: 1_000,
  idleSeconds: 120,
  socketsPerValMax: 1_200,
  socketsPerAccountMax: 2_500,
  socketsMax: 10_000,
  messageBytesMax: 1_048_576,
  backlogBytesMax: 2_097_152,
  backlogBytesPerAccountMax: 16_777_216,
  backlogBytesTotalMax: 67_108_864,
  retrySeconds: 1,
  hostsMax: 10_000,
}
