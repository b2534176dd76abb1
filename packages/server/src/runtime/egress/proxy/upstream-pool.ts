import type { EgressLimits } from "../egress-limits.ts"
import { type Destination, UpstreamConnection, type UpstreamOwner } from "./upstream-connection.ts"

/**
 * The connections of one sandbox to other servers. Sandboxes never share a connection: servers may
 * tie state to it, such as a login.
 */
export class UpstreamPool implements UpstreamOwner {
  readonly limits: EgressLimits
  readonly #all = new Set<UpstreamConnection>()
  /** Connections without a request, the most recently used one last. */
  readonly #idle: UpstreamConnection[] = []
  /** Connections that are being opened, but are not needed any more. */
  readonly #abandoned = new Set<UpstreamConnection>()
  #isStopped = false

  constructor(limits: EgressLimits) {
    this.limits = limits
  }

  /** How many connections there are, including those that are being opened. */
  get size(): number {
    return this.#all.size
  }

  /** How many connections are being opened, but are not needed any more. */
  get abandonedCount(): number {
    return this.#abandoned.size
  }

  /** Takes an idle connection to the same host and one of these addresses. */
  take(
    key: string,
    addresses: readonly string[],
    isRepeatable: boolean,
  ): UpstreamConnection | undefined {
    const oldestMs =
      performance.now() - (isRepeatable ? this.limits.pooledMsMax : this.limits.freshMsMax)
    const index = this.#idle.findLastIndex(
      ({ idleSinceMs, destination }) =>
        idleSinceMs >= oldestMs &&
        destination.key === key &&
        addresses.includes(destination.address),
    )
    return index === -1 ? undefined : this.#idle.splice(index, 1)[0]
  }

  connect(destination: Destination): UpstreamConnection {
    const connection = new UpstreamConnection(destination, this)
    this.#all.add(connection)
    return connection
  }

  release(connection: UpstreamConnection): void {
    if (this.#isStopped) return void connection.stop()
    connection.idleSinceMs = performance.now()
    this.#idle.push(connection)
    if (this.#idle.length > this.limits.pooledMax) this.#idle[0]?.stop()
  }

  abandon(connection: UpstreamConnection): void {
    this.#abandoned.add(connection)
  }

  remove(connection: UpstreamConnection): void {
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

  stop(): void {
    this.#isStopped = true
    for (const connection of [...this.#all]) connection.stop()
  }
}
