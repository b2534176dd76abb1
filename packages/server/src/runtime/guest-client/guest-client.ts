import { type ClientLimits, clientLimits } from "./client-limits.ts"
import { Connection, type ConnectionOwner } from "./connection.ts"
import { Exchange, type ResponseListener } from "./exchange.ts"
import type { GuestRequest } from "./request-head.ts"

/**
 * Sends requests to one process over its Unix socket, on connections that are reused. ADR 9 says
 * why this is not `fetch`.
 */
export class GuestClient implements ConnectionOwner {
  readonly limits: ClientLimits
  readonly #path: string
  readonly #connections = new Set<Connection>()
  /** Connections without a request, the most recently used one last; it is used next. */
  readonly #idle: Connection[] = []
  #isStopped = false

  constructor(path: string, limits: ClientLimits = clientLimits) {
    this.#path = path
    this.limits = limits
  }

  /** How many connections are open. */
  get size(): number {
    return this.#connections.size
  }

  /** Failures are passed to the listener, never thrown. */
  send(request: GuestRequest, listener: ResponseListener): Exchange {
    const exchange = new Exchange(request, listener)
    if (this.#isStopped) exchange.fail("closed", "the process has ended")
    else (this.#idle.pop() ?? this.#connect()).begin(exchange)
    return exchange
  }

  /** Closes connections that have been idle for too long. */
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

  remove(connection: Connection): void {
    this.#connections.delete(connection)
    const index = this.#idle.indexOf(connection)
    if (index !== -1) this.#idle.splice(index, 1)
  }

  repeat(exchange: Exchange): void {
    if (this.#isStopped) exchange.fail("closed", "the process has ended")
    else this.#connect().begin(exchange)
  }

  #connect(): Connection {
    const connection = new Connection(this.#path, this)
    this.#connections.add(connection)
    return connection
  }
}
