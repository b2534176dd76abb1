import { Loop } from "@hamlet/kit"
import { purgeUser, type UserData } from "../domain/accounts/accounts.ts"
import { type IdempotencyStore, toDiscardBefore } from "../domain/accounts/idempotency.ts"
import type { ObjectStore } from "../domain/blobs/objects.ts"
import type { MailStore } from "../domain/mail/inbound/receive-mail.ts"
import type { EmailStore } from "../domain/mail/outbound/emails.ts"
import type { BundleStore } from "../domain/modules/lockfiles.ts"
import type { LiveRuns } from "../domain/runs/live-runs.ts"
import type { RunPosition, RunStore } from "../domain/runs/runs.ts"
import { type DeletedVals, purgeVals } from "../domain/val-storage.ts"
import type { ValStore } from "../domain/vals/vals.ts"
import type { DeliveryStore } from "../domain/webhooks/deliveries.ts"

export interface HousekeepingOptions extends UserData, DeletedVals {
  readonly runs: RunStore
  readonly idempotency: IdempotencyStore
  readonly liveRuns: Pick<LiveRuns, "runsPerVal" | "bytesPerAccount" | "uncounted">
  readonly vals: Pick<ValStore, "addRunCounts" | "indexBacklog">
  readonly bundles: Pick<BundleStore, "purge">
  readonly objects: Pick<ObjectStore, "purge">
  readonly emails: Pick<EmailStore, "purge">
  readonly deliveries: Pick<DeliveryStore, "purgeOlder" | "purgeBeyond">
  /** The webhooks that may have more deliveries than are kept. */
  readonly deliveriesPerWebhook: { take(): readonly string[] }
  readonly mails: Pick<MailStore, "purge" | "purgeKeys">
  readonly retention: RunRetention
  now(): number
  onError(error: unknown, step?: string): void
}

/** How many runs are kept: by age, by number per val, and by size per account. */
export interface RunRetention {
  readonly keptMs: number
  readonly keptPerVal: number
  readonly keptBytesPerAccount: number
}

const limits = {
  /** Rows per batch. A small batch does not block the database for long. */
  batchMax: 500,
  /** Runs per query when the sizes are read. */
  sizesMax: 2_000,
  /** Pause between two rounds. */
  pauseMs: 10_000,
  /** How long the content of a replaced or deleted blob is kept for downloads that have started. */
  unusedMs: 900_000,
  /** How long the content of a failed email is kept, so that its sender can send it again. */
  failedEmailMs: 604_800_000,
  /** How long deliveries of webhooks are kept after their end, and how many of each webhook. */
  deliveryMs: 3 * 86_400_000,
  deliveriesMax: 1_000,
  /** How often partitions of runs are added and dropped: each may make requests wait for a moment. */
  partitionMs: 600_000,
  /** How often runs are added to the numbers of runs of vals, which an index has. */
  countMs: 60_000,
  /** How long the mail of an ended run is kept for a replay. */
  mailMs: 86_400_000,
  /** Bundles checked per round. The next round continues after the last one. */
  bundlesMax: 200,
  /** Vals per batch that are indexed for searches. */
  indexedMax: 20,
  /**
   * How long an unreferenced bundle is kept: another node may be about to reference it, and clocks
   * differ.
   */
  bundleMsMin: 3_600_000,
  /**
   * Pause between two batches, as a multiple of the duration of a batch: housekeeping takes at most
   * a tenth of the time.
   */
  restFactor: 9,
  /** The longest such pause: a batch that waited for a slow database has not kept it busy. */
  restMsMax: 2_000,
}

/**
 * Deletes in the background what is no longer visible, and runs beyond the retention limits; indexes
 * vals that were not indexed when they were written.
 */
export class Housekeeping {
  readonly #options: HousekeepingOptions
  readonly #loop: Loop
  /** The last bundle that was checked. */
  #bundle = ""
  /** The last run whose mail was checked. */
  #mail = ""
  #countedAt = Number.NEGATIVE_INFINITY
  #partitionedAt = Number.NEGATIVE_INFINITY

  constructor(options: HousekeepingOptions) {
    this.#options = options
    const { onError } = options
    this.#loop = new Loop({ round: () => this.run(), pollMs: limits.pauseMs, onError })
  }

  start(): void {
    this.#loop.start(limits.pauseMs)
  }

  /** Waits for the current batch. */
  stop(): Promise<void> {
    return this.#loop.stop()
  }

  /** Runs one round. */
  async run(): Promise<void> {
    const { accounts, runs, emails, idempotency, liveRuns, retention, objects, now } = this.#options
    // Users whose deletion was interrupted.
    const users = await this.#loop.attempt("list deleted users", () => accounts.listPendingPurges())
    for (const id of users ?? [])
      await this.#purge("delete a user", () => purgeUser(this.#options, id))
    await this.#purge("delete runs of deleted vals", () => runs.purge(limits.batchMax))
    await this.#purge("delete vals", () => purgeVals(this.#options))
    await this.#purge("delete idempotency keys", () =>
      idempotency.purge(now(), toDiscardBefore(now()), limits.batchMax),
    )
    if (now() - this.#partitionedAt >= limits.partitionMs) {
      this.#partitionedAt = now()
      await this.#loop.attempt("add partitions of runs", () => runs.addPartitions(retention.keptMs))
      await this.#loop.attempt("drop partitions of runs", () =>
        runs.dropPartitions(retention.keptMs),
      )
    }
    await this.#purge("delete expired runs", () =>
      runs.purgeOlder(now() - retention.keptMs, limits.batchMax),
    )
    await this.#purge("delete expired emails", () =>
      emails.purge(now() - retention.keptMs, now() - limits.failedEmailMs, limits.batchMax),
    )
    for (const valId of liveRuns.runsPerVal.take())
      await this.#purge("delete runs beyond the number of a val", () =>
        runs.purgeBeyond(valId, retention.keptPerVal, limits.batchMax),
      )
    for (const accountId of liveRuns.bytesPerAccount.take())
      await this.#loop.attempt("delete runs beyond the size of an account", () =>
        this.#keepBytes(accountId),
      )
    await this.#loop.attempt("count runs", () => this.#countRuns())
    await this.#purge("index vals", () => this.#options.vals.indexBacklog(limits.indexedMax))
    await this.#purgeDeliveries()
    await this.#loop.attempt("delete bundles", () => this.#purgeBundles())
    await this.#loop.attempt("delete received mail", () => this.#purgeMails())
    await this.#purge("delete keys of received mail", () =>
      this.#options.mails.purgeKeys(now() - limits.mailMs),
    )
    // Last, because a bucket may be unavailable.
    await this.#purge("delete unused objects", () => objects.purge(now() - limits.unusedMs))
  }

  async #purgeBundles(): Promise<void> {
    const { bundles, now } = this.#options
    const before = now() - limits.bundleMsMin
    this.#bundle = (await bundles.purge(this.#bundle, before, limits.bundlesMax)) ?? ""
  }

  async #purgeMails(): Promise<void> {
    const { mails, now } = this.#options
    this.#mail = (await mails.purge(this.#mail, now() - limits.mailMs, now())) ?? ""
  }

  async #countRuns(): Promise<void> {
    const { liveRuns, vals, now } = this.#options
    if (now() - this.#countedAt < limits.countMs) return
    const counts = liveRuns.uncounted.take()
    if (counts.size === 0) return
    try {
      await vals.addRunCounts(counts)
      this.#countedAt = now()
    } catch (error) {
      for (const [valId, runs] of counts) liveRuns.uncounted.note(valId, runs)
      throw error
    }
  }

  async #purgeDeliveries(): Promise<void> {
    const { deliveries, deliveriesPerWebhook } = this.#options
    await this.#purge("delete expired deliveries", () =>
      deliveries.purgeOlder(limits.deliveryMs, limits.batchMax),
    )
    for (const webhookId of deliveriesPerWebhook.take())
      await this.#purge("delete deliveries beyond the number of a webhook", () =>
        deliveries.purgeBeyond(webhookId, limits.deliveriesMax, limits.batchMax),
      )
  }

  /**
   * Adds up sizes from the latest run backwards and deletes every run from the first that exceeds
   * the limit.
   */
  async #keepBytes(accountId: string): Promise<void> {
    const { runs, retention } = this.#options
    let left = retention.keptBytesPerAccount
    let last: RunPosition | undefined
    let first: RunPosition | undefined
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

  /** A step of batches. */
  async #purge(name: string, batch: () => Promise<boolean>): Promise<void> {
    await this.#loop.attempt(name, () => this.#repeat(batch))
  }

  /** Runs batches while there is more to do, with pauses for other work. */
  async #repeat(batch: () => Promise<boolean>): Promise<void> {
    while (!this.#loop.isStopped) {
      const startedMs = performance.now()
      if (!(await batch())) return
      const restMs = (performance.now() - startedMs) * limits.restFactor
      await this.#loop.rest(Math.min(restMs, limits.restMsMax))
    }
  }
}
