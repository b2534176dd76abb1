import { availableParallelism } from "node:os"
import {
  type DependencyResolver,
  type LockfileClaim,
  type LockfileStore,
  type ResolvedCode,
  toResolution,
} from "../domain/modules/lockfiles.ts"
import type { ImportStore } from "../domain/modules/module-graph.ts"
import type { PendingLockfiles } from "../domain/modules/pending-lockfiles.ts"
import type { Val } from "../domain/vals/vals.ts"
import type { VersionStore } from "../domain/vals/versions.ts"

export interface DependencyJobDeps {
  readonly lockfiles: LockfileStore
  readonly versions: Pick<VersionStore, "find">
  readonly imports: ImportStore
  readonly resolver: DependencyResolver
  readonly pendingLockfiles: Pick<PendingLockfiles, "note">
  /** The time limit of one resolution. */
  readonly resolveMsMax: number
  readonly limits?: Partial<DependencyJobLimits>
  /** The remote imports of the code. `local` as for the resolver. */
  listRemoteImports(val: Val, local: readonly string[] | undefined): Promise<readonly string[]>
  now(): number
  onError(error: unknown): void
}

export interface DependencyJobLimits {
  /**
   * Concurrent resolutions, one per owner: an owner who saves a lot waits for their own work. More
   * than the resolver runs at once would only wait there.
   */
  readonly atOnceMax: number
  /** How often the job looks for work that other nodes left and for retries that are due. */
  readonly pollMs: number
  /**
   * The delay before each retry after a temporary failure. The number of delays is the number of
   * retries.
   */
  readonly backoffMs: readonly number[]
  /** How long the job waits for a resolution beyond its time limit before it gives up. */
  readonly overtimeMs: number
  /** How long a claim lasts beyond that. */
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
 * Resolves the packages of saved versions in the background. A node claims a lockfile for as long
 * as a resolution can take. After that another node may claim it, so that work of a node that died
 * is done.
 */
export class DependencyJob {
  readonly #deps: DependencyJobDeps
  readonly #limits: DependencyJobLimits
  readonly #stopped = new AbortController()
  /** By owner id. */
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

  /** Looks for work now. */
  wake(): void {
    if (this.#timer === undefined || this.#stopped.signal.aborted) return
    this.#isWoken = true
    if (!this.#isLooking) this.#looking = this.#look()
  }

  /** Aborts running resolutions. Other nodes may claim them at once. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#stopped.abort()
    await this.#looking
    await Promise.all(this.#working.values())
  }

  /** Claims lockfiles until all slots are busy. */
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
    // Reset without an await after the last check of isWoken, so that no wake-up is lost.
    this.#isLooking = false
  }

  #claim(): Promise<LockfileClaim | undefined> {
    const { lockfiles, now, resolveMsMax } = this.#deps
    const { overtimeMs, leaseMsMore } = this.#limits
    const at = now()
    return lockfiles.claim({
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
    const { lockfiles, versions, pendingLockfiles, now } = this.#deps
    const val = await versions.find(claim.valId, claim.version)
    // The version was deleted meanwhile, and its lockfile with it.
    if (!val) return
    const resolved = await this.#resolve(val, claim)
    if (resolved === "stopped") {
      await lockfiles.postpone(claim, now(), { resolution: null, counts: false })
      return
    }
    const { imports, bundle, isTemporary } = resolved
    const resolution = toResolution(resolved)
    const backoffMs = this.#limits.backoffMs[claim.attempts - 1]
    if (isTemporary && backoffMs !== undefined) {
      await lockfiles.postpone(claim, now() + backoffMs, { resolution, counts: true })
      return
    }
    const state = imports.some(({ error }) => error !== null) ? "failed" : "ready"
    if (await lockfiles.settle(claim, { state, resolution, bundle }, now()))
      pendingLockfiles.note(claim.valId, claim.version)
  }

  async #resolve(val: Val, claim: LockfileClaim): Promise<ResolvedCode | "stopped"> {
    const { resolver, resolveMsMax, onError } = this.#deps
    const { overtimeMs, backoffMs } = this.#limits
    const local = await this.#listLocal(claim)
    // Reached only when nodes died during earlier attempts.
    if (claim.attempts > backoffMs.length + 1)
      return this.#giveUp(val, local, "it was tried too often", false)
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(), resolveMsMax + overtimeMs)
    const signal = AbortSignal.any([this.#stopped.signal, limit.signal])
    try {
      signal.throwIfAborted()
      return await Promise.race([
        resolver.resolve({ code: val.code, local, signal }),
        rejectOn(signal),
      ])
    } catch (error) {
      if (this.#stopped.signal.aborted) return "stopped"
      if (!limit.signal.aborted) onError(error)
      return this.#giveUp(
        val,
        local,
        limit.signal.aborted ? "fetching it took too long" : "the server made a mistake",
        true,
      )
    } finally {
      clearTimeout(timer)
    }
  }

  /** The specifiers of vals on this server. Undefined for versions for which they are not known. */
  async #listLocal({ valId, version }: LockfileClaim): Promise<readonly string[] | undefined> {
    const imports = await this.#deps.imports.find(valId, version, null)
    const known = imports.flatMap(({ specifiers }) => specifiers ?? [])
    return imports.every(({ specifiers }) => specifiers !== null) ? known : undefined
  }

  /** Marks every remote import of the val as failed. */
  async #giveUp(
    val: Val,
    local: readonly string[] | undefined,
    error: string,
    isTemporary: boolean,
  ): Promise<ResolvedCode> {
    const specifiers = await this.#deps.listRemoteImports(val, local)
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
