import * as tls from "node:tls"
import { OpenCounts } from "../../shared/counter.ts"
import type { EgressLimits } from "./egress-limits.ts"
import type { OwnServer, RoutePolicy } from "./policy/decide.ts"
import type { EgressPolicy } from "./policy/policy.ts"
import { Refusal } from "./policy/refusal.ts"
import {
  createResolveRecords,
  type ResolveRecords,
  readPrivateDomains,
} from "./policy/resolve-records.ts"
import { ProxyListener } from "./proxy/proxy-listener.ts"

export interface EgressDeps {
  readonly policy: EgressPolicy
  /** Finds records of names for vals. */
  readonly resolveRecords?: ResolveRecords
  /** Domains whose records vals cannot look up. */
  readonly privateDomains?: readonly string[]
  readonly limits: EgressLimits
  /** Certificates, in PEM, of authorities that are trusted in addition to the default ones. */
  readonly ca: string | undefined
  readonly own: OwnServer
  /** Takes bytes from the owner's allowance; throws RateLimited. */
  takeBytes(ownerId: string, bytes: number): void
  onError(error: unknown): void
}

export interface OpenOptions {
  readonly policy?: EgressPolicy
  readonly sockets?: string | undefined
}

/**
 * The proxy for the outgoing requests of all sandboxes. Each sandbox has a listener of its own, and
 * no other network.
 */
export class Egress {
  readonly #deps: EgressDeps
  readonly #ca: string[] | undefined
  readonly #records: Pick<RoutePolicy, "resolveRecords" | "privateDomains">
  readonly #listeners = new Set<ProxyListener>()
  /** By account: sockets, and connections from sandboxes for them, which may not have asked yet. */
  readonly #socketCounts = new OpenCounts()
  readonly #connectionCounts = new OpenCounts()
  readonly #timer: ReturnType<typeof setInterval>

  constructor(deps: EgressDeps) {
    this.#deps = deps
    // The option replaces the default authorities, so they are listed, too.
    this.#ca = deps.ca === undefined ? undefined : [...listAuthorities(), deps.ca]
    this.#records = {
      resolveRecords: deps.resolveRecords ?? createResolveRecords(),
      privateDomains: deps.privateDomains ?? readPrivateDomains(),
    }
    this.#timer = setInterval(() => this.#sweep(), deps.limits.sweepMs)
    this.#timer.unref()
  }

  /** What decides about requests that the server itself sends for users. */
  get routePolicy(): RoutePolicy {
    return this.#toRoutePolicy(this.#deps.policy)
  }

  /**
   * Listens at the path, and at `sockets` for TCP connections. Requests wait until the listener
   * knows its client.
   */
  open(path: string, { policy = this.#deps.policy, sockets }: OpenOptions = {}): ProxyListener {
    const { limits } = this.#deps
    const listener = new ProxyListener(
      { requests: path, sockets },
      {
        limits,
        policy: this.#toRoutePolicy(policy),
        takeBytes: (ownerId, bytes) => this.#deps.takeBytes(ownerId, bytes),
        openSocket: (ownerId) => this.#openSocket(ownerId),
        admitConnection: (ownerId) => this.#admitConnection(ownerId),
        onError: (error) => this.#deps.onError(error),
        onStop: (stopped) => this.#listeners.delete(stopped),
      },
    )
    this.#listeners.add(listener)
    return listener
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    for (const listener of [...this.#listeners]) listener.stop()
  }

  #toRoutePolicy(hosts: EgressPolicy): RoutePolicy {
    const { own, limits } = this.#deps
    return { own, hosts, ...this.#records, ca: this.#ca, addressesMax: limits.addressesMax }
  }

  /** Counts the sockets of each account, on this node. */
  #openSocket(ownerId: string): () => void {
    const { accountSocketsMax } = this.#deps.limits
    const endCount = this.#socketCounts.tryOpen(ownerId, accountSocketsMax)
    if (!endCount)
      throw new Refusal(429, `the account has ${accountSocketsMax} sockets open already`)
    return endCount
  }

  /** Each connection takes a file of the server, of which it has a limited number. */
  #admitConnection(ownerId: string): (() => void) | undefined {
    const { accountSocketsMax, accountSparesMax } = this.#deps.limits
    return this.#connectionCounts.tryOpen(ownerId, accountSocketsMax + accountSparesMax)
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
