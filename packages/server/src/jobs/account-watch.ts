import type { AccountState, AccountStore } from "../domain/accounts/accounts.ts"
import type { LiveRuns } from "../domain/runs/live-runs.ts"
import type { Runner } from "../domain/runs/runner.ts"

export interface AccountWatchDeps {
  readonly accounts: Pick<AccountStore, "findRevision" | "listStates">
  readonly liveRuns: Pick<LiveRuns, "cancelAllOf">
  readonly runner: Pick<Runner, "endAllOf">
  /** Replaces the quotas in force. */
  readonly accountBook: { replace(states: readonly AccountState[]): void }
  onError(error: unknown): void
}

const limits = {
  /** How often this node looks for changes made through another node. */
  pollMs: 2_000,
}

/**
 * Polls for suspensions and quotas that another node has written. Requests check the database
 * themselves. This class covers what does not: runs and processes that started before a suspension,
 * and quotas, which are read without waiting.
 */
export class AccountWatch {
  readonly #deps: AccountWatchDeps
  #suspended: ReadonlySet<string> = new Set()
  #mark = ""
  #timer: Timer | undefined
  #work: Promise<void> = Promise.resolve()
  #isStopped = false
  #isFailing = false

  constructor(deps: AccountWatchDeps) {
    this.#deps = deps
  }

  async start(): Promise<void> {
    await this.refresh()
    this.#arm()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#work.catch(() => {})
  }

  /** Reads the accounts again. Calls run one after the other. */
  refresh(): Promise<void> {
    const refreshed = this.#work.catch(() => {}).then(() => this.#read())
    this.#work = refreshed
    return refreshed
  }

  async #read(): Promise<void> {
    const { accounts, accountBook, liveRuns, runner } = this.#deps
    // Read the mark first: a change during the read of the states is then found by the next poll.
    const mark = await accounts.findRevision()
    const states = await accounts.listStates()
    this.#mark = mark
    accountBook.replace(states)
    const before = this.#suspended
    this.#suspended = new Set(
      states.filter(({ isSuspended }) => isSuspended).map(({ userId }) => userId),
    )
    for (const userId of this.#suspended) {
      if (before.has(userId)) continue
      liveRuns.cancelAllOf(userId)
      runner.endAllOf(userId)
    }
  }

  #arm(): void {
    this.#timer = setTimeout(() => void this.#poll(), limits.pollMs).unref()
  }

  async #poll(): Promise<void> {
    try {
      if ((await this.#deps.accounts.findRevision()) !== this.#mark) await this.refresh()
      this.#isFailing = false
    } catch (error) {
      // Report an outage once, not with every poll.
      if (!this.#isFailing) this.#deps.onError(error)
      this.#isFailing = true
    }
    if (!this.#isStopped) this.#arm()
  }
}
