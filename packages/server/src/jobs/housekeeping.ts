import { type AccountDeps, purgeUser } from "../domain/accounts/accounts.ts"
import { type IdempotencyStore, toKeptSince } from "../domain/accounts/idempotency.ts"
import type { ObjectStore } from "../domain/blobs/objects.ts"
import type { BundleStore } from "../domain/modules/lockfiles.ts"
import type { LiveRuns } from "../domain/runs/live-runs.ts"
import type { RunPlace, RunStore } from "../domain/runs/runs.ts"

/** What housekeeping needs. */
export interface HousekeepingDeps extends Pick<AccountDeps, "accounts" | "ownerDatabases"> {
  readonly runs: RunStore
  readonly idempotency: IdempotencyStore
  readonly liveRuns: Pick<LiveRuns, "counts" | "bytes">
  readonly bundles: Pick<BundleStore, "purge">
  readonly objects: Pick<ObjectStore, "purge">
  readonly retention: RunRetention
  now(): number
  onError(error: unknown): void
}

/** How long runs are kept, how many of each val, and how much of them on each account. */
export interface RunRetention {
  readonly keptMs: number
  readonly keptPerVal: number
  readonly keptBytesPerAccount: number
}

const limits = {
  /** Rows deleted at a time: few enough that nobody waits long for the database. */
  batchMax: 500,
  /** Runs whose sizes are read at a time. */
  sizesMax: 2_000,
  /** Pause between two rounds. */
  pauseMs: 10_000,
  /**
   * How long the content of a blob is kept after it was replaced or deleted: whoever reads it at
   * that moment can finish.
   */
  unusedMs: 900_000,
  /** Bundles that are looked at in a round, which goes on where the one before has ended. */
  bundlesMax: 200,
  /**
   * How long a bundle is kept that nobody names: another node may be about to, and its clock may be
   * wrong.
   */
  bundleMsMin: 3_600_000,
  /**
   * Pause between two batches, in multiples of what a batch took: cleaning up takes a tenth of the
   * time at most, whatever there is to do.
   */
  restFactor: 9,
}

/**
 * Deletes in the background what nobody can see any more, and the runs that are too old or too
 * many.
 */
export class Housekeeping {
  readonly #deps: HousekeepingDeps
  #timer: Timer | undefined
  #round: Promise<void> = Promise.resolve()
  /** How far it has got with the bundles. */
  #bundle = ""
  #isStopped = false

  constructor(deps: HousekeepingDeps) {
    this.#deps = deps
  }

  start(): void {
    this.#timer = setTimeout(() => this.#begin(), limits.pauseMs)
  }

  /** Waits for the batch that is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#round
  }

  /** Cleans up until there is nothing left to do. */
  async run(): Promise<void> {
    const { accounts, runs, idempotency, liveRuns, retention, objects, now } = this.#deps
    // What is left of users whose deletion was cut off.
    for (const id of await accounts.listPurges())
      await this.#repeat(() => purgeUser(this.#deps, id))
    await this.#repeat(() => runs.purge(limits.batchMax))
    await this.#repeat(() => idempotency.purge(now(), toKeptSince(now()), limits.batchMax))
    await this.#repeat(() => runs.purgeOlder(now() - retention.keptMs, limits.batchMax))
    for (const valId of liveRuns.counts.take()) {
      await this.#repeat(() => runs.purgeBeyond(valId, retention.keptPerVal, limits.batchMax))
    }
    for (const accountId of liveRuns.bytes.take()) await this.#keepBytes(accountId)
    this.#bundle =
      (await this.#deps.bundles.purge(
        this.#bundle,
        now() - limits.bundleMsMin,
        limits.bundlesMax,
      )) ?? ""
    // Last, since it may have to ask a bucket, which may be away.
    await this.#repeat(() => objects.purge(now() - limits.unusedMs))
  }

  /**
   * Goes back from the latest run to the first that there is no room for; that one goes, and all
   * before it.
   */
  async #keepBytes(accountId: string): Promise<void> {
    const { runs, retention } = this.#deps
    let left = retention.keptBytesPerAccount
    let last: RunPlace | undefined
    let first: RunPlace | undefined
    await this.#repeat(async () => {
      const sizes = await runs.listSizes(accountId, last, limits.sizesMax)
      first = sizes.find(({ bytes }) => {
        left -= bytes
        return left < 0
      })
      last = sizes.at(-1)
      return first === undefined && sizes.length === limits.sizesMax
    })
    const from = first
    if (from) await this.#repeat(() => runs.purgeFrom(accountId, from, limits.batchMax))
  }

  /** Does a batch after the other while there may be more, and lets everybody else go first. */
  async #repeat(batch: () => Promise<boolean>): Promise<void> {
    while (!this.#isStopped) {
      const startedMs = performance.now()
      if (!(await batch())) return
      await Bun.sleep((performance.now() - startedMs) * limits.restFactor)
    }
  }

  #begin(): void {
    this.#round = this.run()
      .catch((error: unknown) => this.#deps.onError(error))
      .then(() => {
        if (!this.#isStopped) this.start()
      })
  }
}
