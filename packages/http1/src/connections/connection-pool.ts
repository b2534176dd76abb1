import type { PoolLimits } from "../http1-limits.ts"
import type { ResponseOptions } from "../messages/response-reader.ts"
import {
  type ConnectionOwner,
  type Destination,
  Http1Connection,
  type Http1Failure,
} from "./http1-connection.ts"

/** The connections of one client: those with a request, and idle ones that can be used again. */
export class ConnectionPool implements ConnectionOwner {
  readonly limits: PoolLimits
  readonly options: ResponseOptions
  /** All connections, each with what is called when it is closed. */
  readonly #all = new Map<Http1Connection, () => void>()
  /** Connections without a request, the most recently used one last. */
  readonly #idle: Http1Connection[] = []
  /** Connections that are being opened, but are not needed any more. */
  readonly #abandoned = new Set<Http1Connection>()
  #isStopped = false

  constructor(limits: PoolLimits, options: ResponseOptions = {}) {
    this.limits = limits
    this.options = options
  }

  /** How many connections there are, including those that are being opened. */
  get size(): number {
    return this.#all.size
  }

  /** How many connections are being opened, but are not needed any more. */
  get abandonedCount(): number {
    return this.#abandoned.size
  }

  /**
   * Takes the connection to one of these destinations that was used last, if it has not been idle
   * for longer than `idleMsMax`.
   */
  take(
    destinations: readonly Destination[],
    idleMsMax = this.limits.pooledMsMax,
  ): Http1Connection | undefined {
    const oldestMs = performance.now() - idleMsMax
    for (let index = this.#idle.length - 1; index >= 0; index--) {
      const connection = this.#idle[index] as Http1Connection
      // The others have been idle for longer.
      if (connection.idleSinceMs < oldestMs) return undefined
      if (!destinations.some(({ key }) => key === connection.destination.key)) continue
      this.#idle.splice(index, 1)
      return connection
    }
    return undefined
  }

  connect(destination: Destination, onClosed: () => void = () => {}): Http1Connection {
    const connection = new Http1Connection(destination, this)
    this.#all.set(connection, onClosed)
    return connection
  }

  /** Closes the connection that has been idle for longest. Returns false if none is idle. */
  closeIdle(): boolean {
    const [oldest] = this.#idle
    oldest?.stop()
    return oldest !== undefined
  }

  release(connection: Http1Connection): void {
    if (this.#isStopped) return void connection.stop()
    this.#idle.push(connection)
    if (this.#idle.length > this.limits.pooledMax) this.#idle[0]?.stop()
  }

  abandon(connection: Http1Connection): void {
    this.#abandoned.add(connection)
  }

  remove(connection: Http1Connection): void {
    this.#all.get(connection)?.()
    this.#all.delete(connection)
    this.#abandoned.delete(connection)
    const index = this.#idle.indexOf(connection)
    if (index !== -1) this.#idle.splice(index, 1)
  }

  /** Closes connections that have been idle for too long. */
  sweep(nowMs: number): void {
    while (this.#idle[0] && nowMs - this.#idle[0].idleSinceMs > this.limits.pooledMsMax)
      this.#idle[0].stop()
  }

  /** Closes all connections. The exchanges on them fail. */
  stop(failure?: Http1Failure): void {
    this.#isStopped = true
    for (const connection of [...this.#all.keys()]) connection.stop(failure)
  }
}
