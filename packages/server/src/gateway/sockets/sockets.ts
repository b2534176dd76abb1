import { AppError } from "../../domain/app-error.ts"
import type { Deadlines } from "../deadlines.ts"
import type { GatewayLimits } from "../limits.ts"
import { type RelayKeeper, type SocketEnd, SocketRelay } from "./socket-relay.ts"

/** All WebSockets between clients and vals. */
export class Sockets implements RelayKeeper {
  readonly #relays = new Set<SocketRelay>()
  readonly #perVal = new Map<string, number>()
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

  /** Refuses when there are as many as there may be. */
  assertRoom(valId: string): void {
    const { socketsPerValMax, socketsMax } = this.#limits
    if ((this.#perVal.get(valId) ?? 0) >= socketsPerValMax)
      throw new AppError(
        "overloaded",
        `Cannot open a WebSocket: the val has ${socketsPerValMax} open already`,
      )
    if (this.#relays.size >= socketsMax)
      throw new AppError(
        "overloaded",
        "Cannot open a WebSocket: the server has too many open already",
      )
  }

  /** Takes charge of a WebSocket that the val has opened. */
  add(valId: string, val: WebSocket, onEnd: (end: SocketEnd) => void): SocketRelay {
    const relay = new SocketRelay(valId, val, this, onEnd)
    this.#relays.add(relay)
    this.#perVal.set(valId, (this.#perVal.get(valId) ?? 0) + 1)
    this.#deadlines.add(relay)
    return relay
  }

  hasRoom(bytesMore: number): boolean {
    this.#backlogBytes += bytesMore
    return bytesMore <= 0 || this.#backlogBytes <= this.#limits.backlogBytesTotalMax
  }

  over(relay: SocketRelay): void {
    if (!this.#relays.delete(relay)) return
    this.#deadlines.remove(relay)
    const left = (this.#perVal.get(relay.valId) ?? 1) - 1
    if (left > 0) this.#perVal.set(relay.valId, left)
    else this.#perVal.delete(relay.valId)
  }

  stop(): void {
    for (const relay of [...this.#relays]) relay.end("closed")
  }
}
