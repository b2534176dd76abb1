import { type ClientLimits, clientLimits } from "./client-limits.ts"
import { Connection, type ConnectionKeeper } from "./connection.ts"
import { Exchange, type ResponseListener } from "./exchange.ts"
import type { GuestRequest } from "./request-head.ts"

/**
 * Sends requests to one process over its Unix socket, on connections that are kept. Bun's own
 * client does that too, on a thread of its own and with objects for everything: it took more than
 * half of the time that a request costs the server.
 */
export class GuestClient implements ConnectionKeeper {
  readonly limits: ClientLimits
  readonly #path: string
  readonly #connections = new Set<Connection>()
  /**
   * Those without a request; the one that was used last is used next, so that the others grow old.
   */
  readonly #idle: Connection[] = []
  #isStopped = false

  constructor(path: string, limits: ClientLimits = clientLimits) {
    this.#path = path
    this.limits = limits
  }

  /** Connections that are open. */
  get size(): number {
    return this.#connections.size
  }

  /** Whatever comes of it is told to the listener, never thrown. */
  send(request: GuestRequest, listener: ResponseListener): Exchange {
    const exchange = new Exchange(request, listener)
    if (this.#isStopped) exchange.fail("closed", "the process is gone")
    else (this.#idle.pop() ?? this.#connect()).begin(exchange)
    return exchange
  }

  /** Closes what has not been used for long; to be called now and then. */
  sweep(nowMs: number): void {
    while (this.#idle[0] && nowMs - this.#idle[0].idleSinceMs > this.limits.idleMsMax)
      this.#idle[0].stop()
  }

  stop(): void {
    this.#isStopped = true
    for (const connection of [...this.#connections]) connection.stop()
  }

  release(connection: Connection): void {
    if (this.#idle.length >= this.limits.idleMax) {
      connection.stop()
      return
    }
    connection.idleSinceMs = performance.now()
    this.#idle.push(connection)
  }

  forget(connection: Connection): void {
    this.#connections.delete(connection)
    const index = this.#idle.indexOf(connection)
    if (index !== -1) this.#idle.splice(index, 1)
  }

  repeat(exchange: Exchange): void {
    if (this.#isStopped) exchange.fail("closed", "the process is gone")
    else this.#connect().begin(exchange)
  }

  #connect(): Connection {
    const connection = new Connection(this.#path, this)
    this.#connections.add(connection)
    return connection
  }
}
