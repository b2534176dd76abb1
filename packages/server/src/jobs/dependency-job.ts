import { availableParallelism } from "node:os"
import type {
  DependencyResolver,
  LockfileClaim,
  LockfileStore,
  Resolution,
  ResolvedCode,
} from "../domain/modules/lockfiles.ts"
import type { PendingLockfiles } from "../domain/modules/pending-lockfiles.ts"
import type { Val } from "../domain/vals/vals.ts"
import type { VersionStore } from "../domain/vals/versions.ts"

/** What fetching dependencies needs. */
export interface DependencyJobDeps {
  readonly locks: LockfileStore
  readonly versions: Pick<VersionStore, "find">
  readonly resolver: DependencyResolver
  readonly pendingLocks: Pick<PendingLockfiles, "note">
  /** What one resolution may take. */
  readonly resolveMsMax: number
  readonly limits?: Partial<DependencyJobLimits>
  /** What the code imports from elsewhere. */
  listRemoteImports(val: Val): Promise<readonly string[]>
  now(): number
  onError(error: unknown): void
}

/** How much it does, and how often. */
export interface DependencyJobLimits {
  /**
   * Versions at a time, each of another owner: who saves a lot waits for themselves. More than the
   * resolver does would wait for it in vain.
   */
  readonly atOnceMax: number
  /**
   * How often it is looked whether there is something to do that other nodes have left, or that is
   * to be tried again.
   */
  readonly pollMs: number
  /**
   * How long after an attempt that may go better later the next one follows. After the last of them
   * there is none.
   */
  readonly backoffMs: readonly number[]
  /** How much longer than a resolution may take it is waited for one that does not end. */
  readonly overtimeMs: number
  /** How much longer it counts as this node's work. */
  readonly leaseMsMore: number
}

const defaults: DependencyJobLimits = {
  atOnceMax: availableParallelism(),
  pollMs: 5_000,
  backoffMs: [5_000, 30_000, 120_000, 600_000],
  overtimeMs: 10_000,
  leaseMsMore: 60_000,
}

/**
 * Fetches what versions import from elsewhere, in the background. Every node does; a lock is one
 * node's for as long as a resolution can take, and then anybody's again, so that what a node that
 * died had begun is done by another.
 */
export class DependencyJob {
  readonly #deps: DependencyJobDeps
  readonly #limits: DependencyJobLimits
  readonly #stopped = new AbortController()
  /** By their owners. */
  readonly #working = new Map<string, Promise<void>>()
  #looking: Promise<void> = Promise.resolve()
  #isLooking = false
  #isWoken = false
  #timer: Timer | undefined

  constructor(deps: DependencyJobDeps) {
    this.#deps = deps
    this.#limits = { ...defaults, ...deps.limits }
  }

  start(): void {
    this.#timer = setInterval(() => this.wake(), this.#limits.pollMs).unref()
    this.wake()
  }

  /** There may be something to do. */
  wake(): void {
    if (this.#timer === undefined || this.#stopped.signal.aborted) return
    this.#isWoken = true
    if (!this.#isLooking) this.#looking = this.#look()
  }

  /** Breaks off what is under way, which others may then do at once. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#stopped.abort()
    await this.#looking
    await Promise.all(this.#working.values())
  }

  /** Takes on as much as there is room for. */
  async #look(): Promise<void> {
    this.#isLooking = true
    while (this.#isWoken) {
      this.#isWoken = false
      try {
        while (this.#working.size < this.#limits.atOnceMax && !this.#stopped.signal.aborted) {
          const claim = await this.#claim()
          if (!claim) break
          this.#take(claim)
        }
      } catch (error) {
        this.#deps.onError(error)
      }
    }
    // In the same moment as it was seen that nobody has woken it, or somebody might do so in vain.
    this.#isLooking = false
  }

  #claim(): Promise<LockfileClaim | undefined> {
    const { locks, now, resolveMsMax } = this.#deps
    const { overtimeMs, leaseMsMore } = this.#limits
    const at = now()
    return locks.claim({
      at,
      until: at + resolveMsMax + overtimeMs + leaseMsMore,
      busyOwners: [...this.#working.keys()],
    })
  }

  #take(claim: LockfileClaim): void {
    const work = this.#work(claim)
      .catch((error: unknown) => this.#deps.onError(error))
      .then(() => {
        this.#working.delete(claim.ownerId)
        this.wake()
      })
    this.#working.set(claim.ownerId, work)
  }

  async #work(claim: LockfileClaim): Promise<void> {
    const { locks, versions, pendingLocks, now } = this.#deps
    const val = await versions.find(claim.valId, claim.version)
    // Deleted a moment ago, and its lock with it.
    if (!val) return
    const resolved = await this.#resolve(val, claim)
    if (resolved === "stopped") {
      await locks.postpone(claim, now(), { resolution: null, counts: false })
      return
    }
    const { imports, bundle, isTemporary } = resolved
    const resolution: Resolution = { imports, bundle: bundle?.hash ?? null }
    const backoffMs = this.#limits.backoffMs[claim.attempts - 1]
    if (isTemporary && backoffMs !== undefined) {
      await locks.postpone(claim, now() + backoffMs, { resolution, counts: true })
      return
    }
    const state = imports.some(({ error }) => error !== null) ? "failed" : "ready"
    if (await locks.settle(claim, { state, resolution, bundle }, now()))
      pendingLocks.note(claim.valId, claim.version)
  }

  async #resolve(val: Val, claim: LockfileClaim): Promise<ResolvedCode | "stopped"> {
    const { resolver, resolveMsMax, onError } = this.#deps
    const { overtimeMs, backoffMs } = this.#limits
    // Only where nodes have died over it does it come to this.
    if (claim.attempts > backoffMs.length + 1)
      return this.#giveUp(val, "it was tried too often", false)
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(), resolveMsMax + overtimeMs)
    const signal = AbortSignal.any([this.#stopped.signal, limit.signal])
    try {
      signal.throwIfAborted()
      return await Promise.race([resolver.resolve({ code: val.code, signal }), rejectOn(signal)])
    } catch (error) {
      if (this.#stopped.signal.aborted) return "stopped"
      if (!limit.signal.aborted) onError(error)
      return this.#giveUp(
        val,
        limit.signal.aborted ? "fetching it took too long" : "the server made a mistake",
        true,
      )
    } finally {
      clearTimeout(timer)
    }
  }

  /** Where nobody knows more, none of it is there. */
  async #giveUp(val: Val, error: string, isTemporary: boolean): Promise<ResolvedCode> {
    const specifiers = await this.#deps.listRemoteImports(val)
    const imports = specifiers.map((specifier) => ({
      specifier,
      resolved: null,
      error,
      places: [],
      entry: 0,
      exports: [],
    }))
    return { imports, bundle: null, isTemporary }
  }
}

function rejectOn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
  )
}
