import type { AccountState, AccountStore } from "../domain/accounts/accounts.ts"
import type { LiveRuns } from "../domain/runs/live-runs.ts"
import type { Runner } from "../domain/runs/runner.ts"

/** What watching the accounts needs. */
export interface AccountWatchDeps {
  readonly accounts: Pick<AccountStore, "findMark" | "listStates">
  readonly liveRuns: Pick<LiveRuns, "cancelAllOf">
  readonly runner: Pick<Runner, "endAllOf">
  /** Takes the quotas that hold from now on. */
  readonly accountBook: { replace(states: readonly AccountState[]): void }
  onError(error: unknown): void
}

const limits = {
  /** How soon this node acts on what was changed through another one. */
  pollMs: 2_000,
}

/**
 * Knows which accounts are suspended or have quotas of their own. Requests with a token, and to a
 * val, ask the database and need nothing of this; it is for what goes on without asking: runs and
 * processes that began before a suspension, and quotas, which are looked at without waiting.
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

  /** Reads the accounts again, after those who asked before have. */
  refresh(): Promise<void> {
    const refreshed = this.#work.catch(() => {}).then(() => this.#read())
    this.#work = refreshed
    return refreshed
  }

  async #read(): Promise<void> {
    const { accounts, accountBook, liveRuns, runner } = this.#deps
    // The mark first: what changes while the states are read is then seen the next time.
    const mark = await accounts.findMark()
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
      if ((await this.#deps.accounts.findMark()) !== this.#mark) await this.refresh()
      this.#isFailing = false
    } catch (error) {
      // Once, not every other second, while the database is away.
      if (!this.#isFailing) this.#deps.onError(error)
      this.#isFailing = true
    }
    if (!this.#isStopped) this.#arm()
  }
}
