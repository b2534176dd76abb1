import { OpenCounts } from "@hamlet/kit"
import type { EgressPaths } from "../sandboxes/egress-listener.ts"
import type { EgressLimits } from "./egress-limits.ts"
import type { OwnServer, RoutePolicy } from "./policy/decide.ts"
import type { EgressPolicy } from "./policy/egress-policy.ts"
import { Refusal } from "./policy/refusal.ts"
import {
  createResolveRecords,
  type ResolveRecords,
  readPrivateDomains,
} from "./policy/resolve-records.ts"
import { type AccountEgress, ProxyListener } from "./proxy/proxy-listener.ts"

/** How outgoing requests are decided and counted. */
export interface EgressOptions {
  readonly policy: EgressPolicy
  /** Finds records of names for programs. */
  readonly resolveRecords?: ResolveRecords
  /** Domains whose records programs cannot look up. */
  readonly privateDomains?: readonly string[]
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
export class Egress implements AccountEgress {
  readonly limits: EgressLimits
  readonly #options: EgressOptions
  readonly #ca: string[] | undefined
  readonly #records: Pick<RoutePolicy, "resolveRecords" | "privateDomains">
  readonly #listeners = new Set<ProxyListener>()
  /** By account: sockets, and files of the server that connections take. */
  readonly #socketCounts = new OpenCounts()
  readonly #fileCounts = new OpenCounts()
  readonly #timer: ReturnType<typeof setInterval>

  constructor(options: EgressOptions) {
    this.limits = options.limits
    this.#options = options
    // The option replaces the default authorities, so they are listed, too.
    this.#ca = options.ca === undefined ? undefined : [...listAuthorities(), options.ca]
    this.#records = {
      resolveRecords: options.resolveRecords ?? createResolveRecords(),
      privateDomains: options.privateDomains ?? readPrivateDomains(),
    }
    this.#timer = setInterval(() => this.#sweep(), this.limits.sweepMs)
    this.#timer.unref()
  }

  /** What decides about requests that the server itself sends for users. */
  get routePolicy(): RoutePolicy {
    return this.#toRoutePolicy(this.#options.policy)
  }

  /** Listens at the paths. Requests wait until the listener knows its client. */
  open(paths: EgressPaths, policy = this.#options.policy): ProxyListener {
    const listener = new ProxyListener(paths, this, this.#toRoutePolicy(policy))
    this.#listeners.add(listener)
    return listener
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    for (const listener of [...this.#listeners]) listener.stop()
  }

  #toRoutePolicy(hosts: EgressPolicy): RoutePolicy {
    const { own } = this.#options
    const { addressesMax } = this.limits
    return { own, hosts, ...this.#records, ca: this.#ca, addressesMax }
  }

  /** Counts the sockets of each account, on this node. */
  openSocket(ownerId: string): () => void {
    const { accountSocketsMax } = this.limits
    const endCount = this.#socketCounts.tryOpen(ownerId, accountSocketsMax)
    if (!endCount)
      throw new Refusal(429, `the account has ${accountSocketsMax} sockets open already`)
    return endCount
  }

  /**
   * Each connection takes a file of the server, of which it has a limited number. An account may
   * have as many as are left for all, so the one that has the most is refused first. Before it is
   * refused, what its programs do not use is closed.
   */
  openFile(ownerId: string): (() => void) | undefined {
    const { filesMax, accountFilesMax } = this.limits
    const tryOpen = () => {
      const left = filesMax - this.#fileCounts.total
      return this.#fileCounts.tryOpen(ownerId, Math.min(accountFilesMax, left))
    }
    let endFile = tryOpen()
    while (!endFile && this.#makeRoom(ownerId)) endFile = tryOpen()
    return endFile
  }

  takeBytes(ownerId: string, bytes: number): void {
    this.#options.takeBytes(ownerId, bytes)
  }

  /** A stream may fail without a reason. The log then has the place that noticed it. */
  onError(error: unknown): void {
    this.#options.onError(error ?? new Error("A stream was broken off without a reason"))
  }

  noteStop(listener: ProxyListener): void {
    this.#listeners.delete(listener)
  }

  #makeRoom(ownerId: string): boolean {
    const own = [...this.#listeners].filter((listener) => listener.ownerId === ownerId)
    return (
      own.some((listener) => listener.closeIdle()) ||
      own.some((listener) => listener.endBackgroundRequest())
    )
  }

  #sweep(): void {
    const nowMs = performance.now()
    for (const listener of this.#listeners) listener.sweep(nowMs)
  }
}

/**
 * The default authorities, including those that environment variables add. The module is loaded
 * here, since most servers need no other authority.
 */
function listAuthorities(): readonly string[] {
  return process.getBuiltinModule("node:tls").getCACertificates("default")
}
