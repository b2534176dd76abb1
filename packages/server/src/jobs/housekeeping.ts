import type { IdempotencyStore } from "../domain/idempotency.ts"
import type { RunStore } from "../domain/runs.ts"

/** What housekeeping needs. */
export interface HousekeepingDeps {
  readonly runs: RunStore
  readonly idempotency: IdempotencyStore
  now(): number
  onError(error: unknown): void
}

const limits = {
  /** Rows deleted at a time: few enough that nobody waits long for the database. */
  batchMax: 500,
  /** Pause between two rounds. */
  pauseMs: 10_000,
}

/** Deletes in the background what nobody can see any more: the runs of deleted vals, expired idempotency keys. */
export class Housekeeping {
  readonly #deps: HousekeepingDeps
  #timer: Timer | undefined
  #round: Promise<void> = Promise.resolve()
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
    const { runs, idempotency, now } = this.#deps
    while (!this.#isStopped && (await runs.purge(limits.batchMax))) await Bun.sleep(0)
    while (!this.#isStopped && (await idempotency.purge(now(), limits.batchMax))) await Bun.sleep(0)
  }

  #begin(): void {
    this.#round = this.run()
      .catch((error: unknown) => this.#deps.onError(error))
      .then(() => {
        if (!this.#isStopped) this.start()
      })
  }
}
