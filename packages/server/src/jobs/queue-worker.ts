import type {
  ClaimedBatch,
  Fenced,
  HeldClaim,
  QueueDepth,
  QueueStore,
} from "../domain/queue/queue-store.ts"
import type { ClaimedRun } from "../domain/queue/queued-run.ts"
import { type RunClaimedDeps, runClaimed } from "../domain/queue/run-claimed.ts"
import type { QueueStats, RunQueue } from "../domain/queue/run-queue.ts"

/** How a node works on the queue. */
export interface QueueWorkerLimits {
  /** Runs of the queue whose code runs on this node at once, or is about to. */
  readonly runsMax: number
  /** Those of one account, so that long runs of one account leave room for others. */
  readonly runsPerAccountMax: number
  /** The same with those whose end is not on disk yet, as a multiple of both limits. */
  readonly claimsFactor: number
  /** Runs that are claimed together. Nodes claim one after the other. */
  readonly claimMax: number
  /** How often an idle node looks for runs that are due. */
  readonly pollMs: number
  /** The delay before a run that could not start is tried again; up to twice as long, at random. */
  readonly returnMs: number
  /** The same, at most, for a run whose account has used up its runs for this minute. */
  readonly limitedMsMax: number
  /** How many waiting runs the metrics count, and for how long a count is valid. */
  readonly countMax: number
  readonly countedMs: number
}

export const queueWorkerLimits: QueueWorkerLimits = {
  runsMax: 256,
  runsPerAccountMax: 64,
  claimsFactor: 2,
  claimMax: 1_000,
  pollMs: 1_000,
  returnMs: 1_000,
  limitedMsMax: 30_000,
  countMax: 100_000,
  countedMs: 5_000,
}

export interface QueueWorkerDeps extends RunClaimedDeps {
  readonly nodeId: string
  readonly queueStore: QueueStore
  readonly limits: QueueWorkerLimits
  /** Tells all nodes that runs were added. It may get lost. */
  notify(): void
  /** Calls back when any node has added runs. Returns a function that ends it. */
  listen(onNotice: () => void): () => void
  onError(error: unknown): void
}

/** Runs of nodes that are gone, by what this node did with them. */
export interface TakeoverCounts {
  readonly requeued: number
  readonly retried: number
  readonly crashed: number
}

/** How many runs are claimed, and the code of how many of them has not ended. */
interface Places {
  claimed: number
  running: number
}

/**
 * Claims due runs in batches, as many as this node has room for, and runs them.
 *
 *   waiting ──claim──▶ queued on this node ──begin──▶ running ──▶ ended
 *      ▲                   │ no slot, stop,               │ failed, retries left
 *      └───────────────────┴─ or the node is gone ────────┘
 */
export class QueueWorker implements RunQueue {
  readonly #deps: QueueWorkerDeps
  /** The claimed runs by id. */
  readonly #active = new Map<string, ClaimedRun>()
  /** The number of those whose code has not ended. */
  #running = 0
  readonly #perAccount = new Map<string, Places>()
  /** Runs that have ended, but could not be recorded yet. They stay claimed. */
  readonly #unrecorded = new Map<string, ClaimedRun>()
  #state: "new" | "started" | "stopped" = "new"
  #endListening: (() => void) | undefined
  #timer: Timer | undefined
  /** The account behind which the next claim begins. */
  #after: string | null = null
  #claiming: Promise<void> | undefined
  #mustClaimAgain = false
  /** Runs may wait that this node had no room for. */
  #hasMore = false
  /** The node may have claims that it does not know of, because a write seemed to fail. */
  #mayHaveUnknown = false
  #isFailing = false
  #isNoticeSent = false
  #depth: { readonly at: number; readonly depth: QueueDepth } | undefined
  #claimed = 0
  #returned = 0
  #takenOver: TakeoverCounts = { requeued: 0, retried: 0, crashed: 0 }

  constructor(deps: QueueWorkerDeps) {
    this.#deps = deps
  }

  start(): void {
    if (this.#state !== "new") return
    this.#state = "started"
    this.#endListening = this.#deps.listen(() => this.#pump())
    this.#timer = setInterval(() => this.#pump(), this.#deps.limits.pollMs)
    this.#pump()
  }

  wake(): void {
    this.#pump()
    // Many runs may be added in one turn of the event loop: one notice is enough.
    if (this.#isNoticeSent || this.#state === "stopped") return
    this.#isNoticeSent = true
    setImmediate(() => {
      this.#isNoticeSent = false
      this.#deps.notify()
    })
  }

  async stop(): Promise<void> {
    if (this.#state === "stopped") return
    this.#state = "stopped"
    clearInterval(this.#timer)
    this.#endListening?.()
    await this.#claiming
    const { liveRuns } = this.#deps
    const unstarted = [...this.#active.values()].filter(
      ({ id }) => (liveRuns.find(id)?.status ?? "queued") === "queued",
    )
    await this.#return(unstarted, 0)
    // Another node takes them at once.
    if (unstarted.length > 0) this.#deps.notify()
  }

  /** The node has lost its lease: its runs may be running elsewhere, so they end here. */
  loseAll(): void {
    for (const id of this.#active.keys()) this.#deps.liveRuns.forget(id)
  }

  /** For the metrics. */
  noteTakeover({ requeued, retried, crashed }: TakeoverCounts): void {
    const before = this.#takenOver
    this.#takenOver = {
      requeued: before.requeued + requeued,
      retried: before.retried + retried,
      crashed: before.crashed + crashed,
    }
    if (requeued + retried > 0) this.wake()
  }

  async readDepth(): Promise<QueueDepth | undefined> {
    const { countMax, countedMs } = this.#deps.limits
    const now = performance.now()
    if (this.#depth && now - this.#depth.at < countedMs) return this.#depth.depth
    try {
      const depth = await this.#deps.queueStore.depth(countMax)
      this.#depth = { at: now, depth }
      return depth
    } catch (error) {
      this.#report(error)
      return undefined
    }
  }

  stats(): QueueStats {
    return {
      ...this.#takenOver,
      claimed: this.#claimed,
      returned: this.#returned,
      lost: this.#deps.liveRuns.countLost(),
      active: this.#active.size,
    }
  }

  #pump(): void {
    if (this.#state !== "started") return
    this.#mustClaimAgain = true
    this.#claiming ??= this.#claimAll().finally(() => {
      this.#claiming = undefined
      if (this.#mustClaimAgain && !this.#isFailing) this.#pump()
    })
  }

  /** Claims until nothing is due or this node has no room. */
  async #claimAll(): Promise<void> {
    try {
      await this.#endUnknown()
      let hasClaimed = true
      while (this.#state === "started" && (hasClaimed || this.#mustClaimAgain)) {
        this.#mustClaimAgain = false
        hasClaimed = await this.#claimOfAll()
      }
      this.#isFailing = false
    } catch (error) {
      this.#mayHaveUnknown = true
      this.#mustClaimAgain = false
      this.#report(error)
    }
  }

  /** Gives the remaining accounts their turn. Returns whether another round may claim more. */
  async #claimOfAll(): Promise<boolean> {
    let hasClaimed = this.#after !== null
    this.#hasMore = false
    do {
      const { runsMax, claimMax } = this.#deps.limits
      const room = this.#roomIn({ claimed: this.#active.size, running: this.#running }, runsMax)
      if (room <= 0 || this.#state !== "started") {
        this.#hasMore = true
        return false
      }
      const claim = await this.#claim(Math.min(room, claimMax))
      hasClaimed ||= claim.runs.length > 0
      this.#after = claim.next
    } while (this.#after !== null)
    return hasClaimed
  }

  async #claim(runsMax: number): Promise<ClaimedBatch> {
    const { queueStore, nodeId, limits } = this.#deps
    const claim = await queueStore.claim({
      nodeId,
      held: this.#listHeld(),
      runsMax,
      after: this.#after,
      roomOf: (accountId) => {
        const places = this.#perAccount.get(accountId) ?? { claimed: 0, running: 0 }
        const room = this.#roomIn(places, limits.runsPerAccountMax)
        if (room <= 0) this.#hasMore = true
        return room
      },
    })
    this.#claimed += claim.runs.length
    for (const run of claim.runs) void this.#run(run)
    return claim
  }

  async #run(run: ClaimedRun): Promise<void> {
    const { limits } = this.#deps
    const ofAccount = this.#placesOf(run.accountId)
    this.#active.set(run.id, run)
    ofAccount.claimed += 1
    ofAccount.running += 1
    this.#running += 1
    let isRunning = true
    const endCode = () => {
      if (!isRunning) return
      isRunning = false
      ofAccount.running -= 1
      this.#running -= 1
      if (this.#hasMore) this.#pump()
    }
    try {
      const outcome = await runClaimed(this.#deps, run, endCode)
      if (outcome === "not_started")
        await this.#return([run], limits.returnMs * (1 + Math.random()))
      if (outcome === "unrecorded") this.#unrecorded.set(run.id, run)
      // Hundreds of runs may wait for the same allowance: they are not all tried again at once.
      if (outcome === "over_limit")
        await this.#return([run], limits.returnMs + limits.limitedMsMax * Math.random())
    } catch (error) {
      this.#report(error)
      await this.#return([run], limits.returnMs * (1 + Math.random()))
    } finally {
      endCode()
      this.#active.delete(run.id)
      ofAccount.claimed -= 1
      if (ofAccount.claimed === 0) this.#perAccount.delete(run.accountId)
      if (this.#hasMore) this.#pump()
    }
  }

  /** Has no effect on runs that have started. */
  async #return(runs: readonly Fenced[], delayMs: number): Promise<void> {
    if (runs.length === 0) return
    const { queueStore, liveRuns } = this.#deps
    this.#returned += runs.length
    try {
      await queueStore.release(runs, Math.round(delayMs))
    } catch (error) {
      this.#mayHaveUnknown = true
      this.#report(error)
    }
    for (const { id } of runs) liveRuns.forget(id)
  }

  async #endUnknown(): Promise<void> {
    if (!this.#mayHaveUnknown) return
    await this.#deps.queueStore.saveClaims(this.#deps.nodeId, this.#listHeld())
    this.#mayHaveUnknown = false
  }

  #listHeld(): readonly HeldClaim[] {
    for (const id of this.#unrecorded.keys())
      if (!this.#deps.liveRuns.find(id)) this.#unrecorded.delete(id)
    return [...this.#active.values(), ...this.#unrecorded.values()]
  }

  /** One batch is recorded while the code of the next one runs. */
  #roomIn({ claimed, running }: Places, runsMax: number): number {
    return Math.min(runsMax - running, runsMax * this.#deps.limits.claimsFactor - claimed)
  }

  #placesOf(accountId: string): Places {
    const places = this.#perAccount.get(accountId) ?? { claimed: 0, running: 0 }
    this.#perAccount.set(accountId, places)
    return places
  }

  /** Reports an outage once, not with every poll. */
  #report(error: unknown): void {
    if (!this.#isFailing) this.#deps.onError(error)
    this.#isFailing = true
  }
}
