import * as tls from "node:tls"
import type { EgressLimits } from "./egress-limits.ts"
import type { OwnServer } from "./policy/decide.ts"
import type { EgressPolicy } from "./policy/policy.ts"
import { ProxyListener } from "./proxy/proxy-listener.ts"

export interface EgressDeps {
  readonly policy: EgressPolicy
  readonly limits: EgressLimits
  /** Certificates, in PEM, of authorities that are trusted in addition to the default ones. */
  readonly ca: string | undefined
  readonly own: OwnServer
  /** Takes bytes from the owner's allowance; throws RateLimited. */
  takeBytes(ownerId: string, bytes: number): void
  onError(error: unknown): void
}

/**
 * The proxy for the outgoing requests of all sandboxes. Each sandbox has a listener of its own, and
 * no other network.
 */
export class Egress {
  readonly #deps: EgressDeps
  readonly #ca: string[] | undefined
  readonly #listeners = new Set<ProxyListener>()
  readonly #timer: ReturnType<typeof setInterval>

  constructor(deps: EgressDeps) {
    this.#deps = deps
    // The option replaces the default authorities, so they are listed, too.
    this.#ca = deps.ca === undefined ? undefined : [...listAuthorities(), deps.ca]
    this.#timer = setInterval(() => this.#sweep(), deps.limits.sweepMs)
    this.#timer.unref()
  }

  /** Listens at the path. Requests wait until the listener knows its client. */
  open(
    path: string,
    { policy = this.#deps.policy }: { readonly policy?: EgressPolicy } = {},
  ): ProxyListener {
    const { limits, own } = this.#deps
    const listener = new ProxyListener(path, {
      limits,
      policy: { own, hosts: policy, ca: this.#ca, addressesMax: limits.addressesMax },
      takeBytes: (ownerId, bytes) => this.#deps.takeBytes(ownerId, bytes),
      onError: (error) => this.#deps.onError(error),
      onStop: (stopped) => this.#listeners.delete(stopped),
    })
    this.#listeners.add(listener)
    return listener
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    for (const listener of [...this.#listeners]) listener.stop()
  }

  #sweep(): void {
    const nowMs = performance.now()
    for (const listener of this.#listeners) listener.sweep(nowMs)
  }
}

/**
 * The default authorities, including those that environment variables add. Bun has the function,
 * but its types do not.
 */
function listAuthorities(): readonly string[] {
  const { getCACertificates } = tls as unknown as {
    getCACertificates?: (type: "default") => readonly string[]
  }
  return getCACertificates?.("default") ?? tls.rootCertificates
}
