import { setTimeout as sleep } from "node:timers/promises"
import { OpenCounts } from "@hamlet/kit"
import { hasChangeableRoles, hasRolesOf } from "../../access/acting.ts"
import type { Caller } from "../../access/caller.ts"
import { AppError } from "../../app-error.ts"
import type { MemberStore } from "../../organisations/members.ts"
import type { ValStore } from "../../vals/vals.ts"
import type { LiveRun, LiveRuns } from "../live-runs.ts"
import { numberLines } from "../run-log.ts"
import type { LogGap, LogLine, RunStatus, RunStore, Runs } from "../runs.ts"
import { type AccountEvent, accountTimes, followAccount } from "./follow-account.ts"

/** The events of a followed run: log lines with their indexes, and its end. */
export type FollowEvent =
  | { readonly kind: "log"; readonly index: number; readonly line: LogLine }
  | { readonly kind: "end"; readonly status: RunStatus; readonly logsTruncated: boolean }

/** The limits of following. */
const defaults = { ...accountTimes, followersMax: 1_000, followersPerAccountMax: 50 }

/** The followers of runs. */
export class RunFollowers {
  readonly #runs: Runs
  readonly #liveRuns: LiveRuns
  readonly #store: RunStore
  readonly #vals: Pick<ValStore, "findById">
  readonly #members: Pick<MemberStore, "findRoles">
  readonly #limits: Readonly<typeof defaults>
  readonly #perAccount = new OpenCounts()
  readonly #stopping = new AbortController()
  #count = 0

  constructor(
    runs: Runs,
    liveRuns: LiveRuns,
    store: RunStore,
    vals: Pick<ValStore, "findById">,
    members: Pick<MemberStore, "findRoles">,
    limits: Partial<typeof defaults> = {},
  ) {
    this.#runs = runs
    this.#liveRuns = liveRuns
    this.#store = store
    this.#vals = vals
    this.#members = members
    this.#limits = { ...defaults, ...limits }
  }

  /**
   * Yields the log lines of the run, starting at line `from`, until it ends or `signal` is aborted.
   * Each step contains all new events. Rejects at once if the caller may not see the run.
   */
  async follow(
    caller: Caller,
    id: string,
    from: number,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<readonly FollowEvent[]>> {
    await this.#runs.get(caller, id)
    this.#assertRoom(caller, `run "${id}"`)
    return this.#counted(
      caller,
      this.#steps(caller, id, from, AbortSignal.any([signal, this.#stopping.signal])),
    )
  }

  /**
   * Yields the events of all runs on the caller's account, until `signal` is aborted or the time is
   * over. Each step contains all new events.
   */
  followAccount(caller: Caller, signal: AbortSignal): AsyncGenerator<readonly AccountEvent[]> {
    this.#assertRoom(caller, "the logs of your account")
    return this.#counted(
      caller,
      followAccount(
        { liveRuns: this.#liveRuns, runs: this.#store, vals: this.#vals },
        caller,
        AbortSignal.any([signal, this.#stopping.signal]),
        this.#limits,
      ),
    )
  }

  #assertRoom(caller: Caller, what: string): void {
    const count = this.#perAccount.of(caller.ownerId)
    if (this.#count >= this.#limits.followersMax || count >= this.#limits.followersPerAccountMax)
      throw new AppError(
        "rate_limited",
        `Cannot follow ${what}: too many runs are being followed already`,
      )
  }

  /** Ends all following. */
  stop(): void {
    this.#stopping.abort()
  }

  async *#counted<Event>(
    caller: Caller,
    steps: AsyncGenerator<readonly Event[]>,
  ): AsyncGenerator<readonly Event[]> {
    this.#count += 1
    const end = this.#perAccount.open(caller.ownerId)
    try {
      for await (const step of steps) {
        // The client follows again, and is refused then.
        if (await this.#hasLostRole(caller)) return
        yield step
      }
    } finally {
      this.#count -= 1
      end()
    }
  }

  async #hasLostRole(caller: Caller): Promise<boolean> {
    return (
      hasChangeableRoles(caller) &&
      !hasRolesOf(caller, await this.#members.findRoles(caller.actorId))
    )
  }

  async *#steps(
    caller: Caller,
    id: string,
    from: number,
    signal: AbortSignal,
  ): AsyncGenerator<readonly FollowEvent[]> {
    let next = from
    while (!signal.aborted) {
      const live = this.#liveRuns.find(id)
      // A run that was taken from this node, or whose attempt has failed, goes on elsewhere.
      if (live && !hasMoved(live)) {
        yield* followLive(live, next, signal)
        if (!hasMoved(live)) return
        next = Math.max(next, live.logTotal)
      }
      // Checks each time whether the caller may still see the run.
      const run = await this.#runs.get(caller, id)
      const isOver = run.endedAt !== null
      const events = toEvents(run, next, isOver)
      next = Math.max(next, run.logs.length + (run.logGap?.lines ?? 0))
      if (events.length > 0) yield events
      if (isOver) return
      await sleep(this.#limits.pollMs, undefined, { signal }).catch(() => {})
    }
  }
}

function hasMoved({ isLost, isRetried }: LiveRun): boolean {
  return isLost || isRetried
}

async function* followLive(
  live: LiveRun,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<readonly FollowEvent[]> {
  let next = from
  let wake = () => {}
  const onChange = () => wake()
  const unsubscribe = live.subscribe(onChange)
  signal.addEventListener("abort", onChange)
  try {
    while (!signal.aborted) {
      // Created before the state is read, so that no change is missed.
      const change = new Promise<void>((resolve) => {
        wake = resolve
      })
      const isOver = live.endedAt !== null
      const events = toEvents(live, next, isOver && !hasMoved(live))
      next = Math.max(next, live.logTotal)
      if (events.length > 0) yield events
      if (isOver) return
      if (!signal.aborted) await change
    }
  } finally {
    unsubscribe()
    signal.removeEventListener("abort", onChange)
  }
}

interface Followed {
  readonly logs: readonly LogLine[]
  readonly logGap: LogGap | null
  readonly status: RunStatus
  readonly logsTruncated: boolean
}

function toEvents(run: Followed, from: number, isOver: boolean): readonly FollowEvent[] {
  const lines = numberLines(run.logs, run.logGap, from).map((it) => ({
    kind: "log" as const,
    ...it,
  }))
  return isOver
    ? [...lines, { kind: "end", status: run.status, logsTruncated: run.logsTruncated }]
    : lines
}
