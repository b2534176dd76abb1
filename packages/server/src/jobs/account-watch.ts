import { Loop } from "@hamlet/kit"
import type { AccountStore } from "../domain/accounts/accounts.ts"
import type { ChangingQuotas } from "../domain/limits/quotas.ts"
import type { LiveRuns } from "../domain/runs/live-runs.ts"
import type { OfUser } from "../domain/runs/retirement.ts"

/** How often this node looks for changes made through another node. */
const pollMs = 2_000

/**
 * Polls for suspensions and quotas that another node has written. Requests check the database
 * themselves. This class covers what does not: runs and processes that started before a suspension,
 * and quotas, which are read without waiting.
 */
export class AccountWatch {
  readonly #accounts: Pick<AccountStore, "findRevision" | "listStates">
  readonly #quotas: ChangingQuotas
  readonly #liveRuns: Pick<LiveRuns, "cancelAllOf">
  readonly #runner: { endAll(selection: OfUser): void }
  #suspended: ReadonlySet<string> = new Set()
  #mark = ""
  readonly #loop: Loop
  #work: Promise<void> = Promise.resolve()

  constructor(
    accounts: Pick<AccountStore, "findRevision" | "listStates">,
    quotas: ChangingQuotas,
    liveRuns: Pick<LiveRuns, "cancelAllOf">,
    runner: { endAll(selection: OfUser): void },
    onError: (error: unknown) => void,
  ) {
    this.#accounts = accounts
    this.#quotas = quotas
    this.#liveRuns = liveRuns
    this.#runner = runner
    this.#loop = new Loop({ round: () => this.#poll(), pollMs, onError })
  }

  async start(): Promise<void> {
    await this.refresh()
    this.#loop.start(pollMs)
  }

  async stop(): Promise<void> {
    await this.#loop.stop()
    await this.#work.catch(() => {})
  }

  /** Reads the accounts again. Calls run one after the other. */
  refresh(): Promise<void> {
    const refreshed = this.#work.catch(() => {}).then(() => this.#read())
    this.#work = refreshed
    return refreshed
  }

  async #read(): Promise<void> {
    // Read the mark first: a change during the read of the states is then found by the next poll.
    const mark = await this.#accounts.findRevision()
    const states = await this.#accounts.listStates()
    this.#mark = mark
    this.#quotas.replace(states)
    const before = this.#suspended
    this.#suspended = new Set(
      states.filter(({ isSuspended }) => isSuspended).map(({ userId }) => userId),
    )
    for (const userId of this.#suspended) {
      if (before.has(userId)) continue
      this.#liveRuns.cancelAllOf(userId)
      this.#runner.endAll({ userId })
    }
  }

  async #poll(): Promise<void> {
    if ((await this.#accounts.findRevision()) !== this.#mark) await this.refresh()
  }
}
