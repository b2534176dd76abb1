/** The limits of the gateway for clients and vals. */
export const gatewayLimits = {
  /** Size of a request body. */
  requestBytesMax: 1_073_741_824,
  /** A body up to this size is read before the val runs, and stored with the run. */
  storedBodyBytesMax: 65_536,
  /** Time to receive a body of that size. It does not count as run time: no run exists yet. */
  bodyMsMax: 60_000,
  /** How long the client may send nothing of a larger body while the val waits for it. */
  bodyStalledMsMax: 20_000,
  /**
   * Concurrent uploads of larger bodies to one val, and of these from one address. Each occupies
   * one of the runs that a val may have.
   */
  uploadsPerValMax: 64,
  uploadsPerClientMax: 32,
  /**
   * Size of the request headers, names and values, that are stored for a replay. A request with
   * more cannot be replayed.
   */
  storedHeaderBytesMax: 8_192,
  /**
   * A response body up to this size is read whole before it is sent: that is cheaper than
   * streaming, and the client gets all of it or an error.
   */
  wholeResponseBytesMax: 65_536,
  responseHeaderBytesMax: 65_536,
  /** Length of the URL that is stored with a run. */
  urlCharsMax: 2_048,
  /**
   * Time until a response begins, waiting for a run slot included. The runner enforces it;
   * connections must stay open that long.
   */
  headMsMax: 70_000,
  /** Time for the body of a response, and for a WebSocket. */
  streamMsMax: 3_600_000,
  /** How long a client may leave a part of a response, or of a WebSocket, unread. */
  stalledMsMax: 60_000,
  /** Interval at which all of these times are checked. */
  sweepMs: 1_000,
  /** Idle timeout of a connection, the same as in `Bun.serve`. */
  idleSeconds: 120,
  /** Open WebSockets of one val, of all vals of one user, and of all. */
  socketsPerValMax: 1_200,
  socketsPerAccountMax: 2_500,
  socketsMax: 10_000,
  /** Size of a WebSocket message in either direction. */
  messageBytesMax: 1_048_576,
  /**
   * Messages of one WebSocket per second, in each direction. More of them wait, and count as unread
   * with these bytes each: what a message costs without its content.
   */
  messagesPerSecondMax: 10_000,
  messageOverheadBytes: 128,
  /** How long messages are forwarded in a turn of the event loop. */
  forwardMsMax: 8,
  /** Unread bytes of one WebSocket, of those of one user's vals, and of all of them. */
  backlogBytesMax: 2_097_152,
  backlogBytesPerAccountMax: 16_777_216,
  backlogBytesTotalMax: 67_108_864,
  /** The value of `retry-after` for a client that was refused. */
  retrySeconds: 1,
  /** Size of the caches that are keyed by host name. */
  hostsMax: 10_000,
}

export type GatewayLimits = Readonly<typeof gatewayLimits>
