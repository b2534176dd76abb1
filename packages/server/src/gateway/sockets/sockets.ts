import { OpenCounts, type Watchdog } from "@hamlet/kit"
import { AppError } from "../../domain/app-error.ts"
import type { GatewayLimits } from "../limits.ts"
import { Backlogs } from "./backlogs.ts"
import { type RelayRegistry, type SocketEnd, SocketRelay } from "./socket-relay.ts"

/** The key of the count of all places. */
const all = "all"

/** All WebSockets between clients and vals. */
export class Sockets implements RelayRegistry {
  readonly #relays = new Set<SocketRelay>()
  /** The places that are taken: by val, by account, and all. */
  readonly #places = new OpenCounts()
  readonly #backlogs: Backlogs
  readonly limits: GatewayLimits
  readonly #deadlines: Watchdog

  constructor(limits: GatewayLimits, deadlines: Watchdog) {
    this.limits = limits
    this.#deadlines = deadlines
    this.#backlogs = new Backlogs(limits)
  }

  /**
   * Takes a place for a WebSocket of the val, before anything is awaited. Returns a function that
   * releases it. Throws `overloaded` when a limit is reached.
   */
  reserve(accountId: string, valId: string): () => void {
    const { socketsPerValMax, socketsPerAccountMax, socketsMax } = this.limits
    this.#assertRoom(valId, socketsPerValMax, `the val already has ${socketsPerValMax} open`)
    this.#assertRoom(
      accountId,
      socketsPerAccountMax,
      `the vals of its owner already have ${socketsPerAccountMax} open`,
    )
    this.#assertRoom(all, socketsMax, "the server already has too many open")
    const releases = [valId, accountId, all].map((key) => this.#places.open(key))
    return () => {
      for (const release of releases) release()
    }
  }

  #assertRoom(key: string, countMax: number, problem: string): void {
    if (this.#places.of(key) >= countMax)
      throw new AppError("overloaded", `Cannot open a WebSocket: ${problem}`)
  }

  /** Creates the relay of a WebSocket that is open on the val's side. */
  add(accountId: string, val: WebSocket, onEnd: (end: SocketEnd) => void): SocketRelay {
    const relay = new SocketRelay(accountId, val, this, onEnd)
    this.#relays.add(relay)
    this.#deadlines.add(relay)
    return relay
  }

  noteBacklog(relay: SocketRelay, bytes: number): void {
    this.#backlogs.set(relay, bytes)
  }

  remove(relay: SocketRelay): void {
    this.#relays.delete(relay)
    this.#deadlines.remove(relay)
  }

  stop(): void {
    for (const relay of [...this.#relays]) relay.end("closed")
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
