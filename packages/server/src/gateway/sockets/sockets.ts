import { AppError } from "../../domain/app-error.ts"
import { OpenCounts } from "../../shared/counter.ts"
import type { Deadlines } from "../deadlines.ts"
import type { GatewayLimits } from "../limits.ts"
import { type RelayRegistry, type SocketEnd, SocketRelay } from "./socket-relay.ts"

/** All WebSockets between clients and vals. */
export class Sockets implements RelayRegistry {
  /** With the functions that end their counts. */
  readonly #relays = new Map<SocketRelay, () => void>()
  readonly #perVal = new OpenCounts()
  readonly #limits: GatewayLimits
  readonly #deadlines: Deadlines
  #backlogBytes = 0

  constructor(limits: GatewayLimits, deadlines: Deadlines) {
    this.#limits = limits
    this.#deadlines = deadlines
  }

  get streamMsMax(): number {
    return this.#limits.streamMsMax
  }

  get backlogBytesMax(): number {
    return this.#limits.backlogBytesMax
  }

  /** Throws `overloaded` when a limit is reached. */
  assertRoom(valId: string): void {
    const { socketsPerValMax, socketsMax } = this.#limits
    if (this.#perVal.of(valId) >= socketsPerValMax)
      throw new AppError(
        "overloaded",
        `Cannot open a WebSocket: the val already has ${socketsPerValMax} open`,
      )
    if (this.#relays.size >= socketsMax)
      throw new AppError(
        "overloaded",
        "Cannot open a WebSocket: the server already has too many open",
      )
  }

  /** Creates the relay of a WebSocket that is open on the val's side. */
  add(valId: string, val: WebSocket, onEnd: (end: SocketEnd) => void): SocketRelay {
    const relay = new SocketRelay(val, this, onEnd)
    this.#relays.set(relay, this.#perVal.open(valId))
    this.#deadlines.add(relay)
    return relay
  }

  addBacklog(bytes: number): boolean {
    this.#backlogBytes += bytes
    return bytes <= 0 || this.#backlogBytes <= this.#limits.backlogBytesTotalMax
  }

  remove(relay: SocketRelay): void {
    this.#relays.get(relay)?.()
    this.#relays.delete(relay)
    this.#deadlines.remove(relay)
  }

  stop(): void {
    for (const relay of [...this.#relays.keys()]) relay.end("closed")
  }
}

/**
 * The handlers for `Bun.serve`. They are stateless, since each connection carries its relay:
 * `Bun.serve` needs them before the gateway exists.
 */
export function createSocketHandlers(limits: GatewayLimits): Bun.WebSocketHandler<SocketRelay> {
  return {
    maxPayloadLength: limits.messageBytesMax,
    // The relay closes the socket at half of this, with a reason; this is the second safeguard.
    backpressureLimit: limits.backlogBytesMax * 2,
    closeOnBackpressureLimit: true,
    perMessageDeflate: false,
    sendPings: true,
    open: (socket) => socket.data.clientOpened(socket),
    message: (socket, message) => socket.data.clientSent(message),
    drain: (socket) => socket.data.clientDrained(),
    close: (socket, code, reason) => socket.data.clientClosed(code, reason),
  }
}
