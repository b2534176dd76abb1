import type { EgressLimits } from "../egress-limits.ts"
import { type Destination, Upstream, type UpstreamKeeper } from "./upstream.ts"

/**
 * The connections to the outside of one sandbox. Nobody else ever gets one of them: what a val has
 * said there is its own affair.
 */
export class UpstreamPool implements UpstreamKeeper {
  readonly limits: EgressLimits
  readonly #all = new Set<Upstream>()
  /** Those without a request, the one that was used last at the end. */
  readonly #idle: Upstream[] = []
  /**
   * Those that are still being made though nobody waits for them any more: that cannot be stopped.
   */
  readonly #abandoned = new Set<Upstream>()
  #isStopped = false

  constructor(limits: EgressLimits) {
    this.limits = limits
  }

  /** Connections, those that are still being made included. */
  get size(): number {
    return this.#all.size
  }

  /** How many are being made that nobody waits for any more. */
  get abandoned(): number {
    return this.#abandoned.size
  }

  /** One to the same host that goes to one of these addresses. */
  take(key: string, addresses: readonly string[], isRepeatable: boolean): Upstream | undefined {
    const oldestMs =
      performance.now() - (isRepeatable ? this.limits.pooledMsMax : this.limits.freshMsMax)
    for (let index = this.#idle.length - 1; index >= 0; index--) {
      const upstream = this.#idle[index] as Upstream
      // The others before it are older still.
      if (upstream.idleSinceMs < oldestMs) return undefined
      if (upstream.destination.key !== key || !addresses.includes(upstream.destination.address))
        continue
      this.#idle.splice(index, 1)
      return upstream
    }
    return undefined
  }

  connect(destination: Destination): Upstream {
    const upstream = new Upstream(destination, this)
    this.#all.add(upstream)
    return upstream
  }

  release(upstream: Upstream): void {
    if (this.#isStopped) return void upstream.stop()
    upstream.idleSinceMs = performance.now()
    this.#idle.push(upstream)
    if (this.#idle.length > this.limits.pooledMax) this.#idle[0]?.stop()
  }

  abandon(upstream: Upstream): void {
    this.#abandoned.add(upstream)
  }

  forget(upstream: Upstream): void {
    this.#all.delete(upstream)
    this.#abandoned.delete(upstream)
    const index = this.#idle.indexOf(upstream)
    if (index !== -1) this.#idle.splice(index, 1)
  }

  /** Closes what has not been used for long. */
  sweep(nowMs: number): void {
    while (this.#idle[0] && nowMs - this.#idle[0].idleSinceMs > this.limits.pooledMsMax)
      this.#idle[0].stop()
  }

  stop(): void {
    this.#isStopped = true
    for (const upstream of [...this.#all]) upstream.stop()
  }
}
