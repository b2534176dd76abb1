import { Loop } from "@hamlet/kit"
import type { Fenced } from "../domain/claims.ts"
import type { ClaimedRuns } from "../domain/queue/claimed-runs.ts"
import type {
  ClaimedBatch,
  ClaimedRun,
  HeldClaim,
  QueueDepth,
  QueueStore,
  TakenOver,
} from "../domain/queue/queue-store.ts"
import type { QueueStats, RunQueue } from "../domain/queue/run-queue.ts"
import type { LiveRuns } from "../domain/runs/live-runs.ts"

/** How a node works on the queue. */
export const queueWorkerLimits = {
  /** Runs of the queue whose code runs on this node at once, or is about to. */
  runsMax: 256,
  /** Runs of one account among them, so that long runs of one account leave room for others. */
  runsPerAccountMax: 64,
  /**
   * A node may hold this many times the claims that both limits allow: some runs have ended, but
   * are not recorded yet.
   */
  claimsFactor: 2,
  /** Runs that are claimed together. Nodes claim one after the other. */
  claimMax: 1_000,
  /** How often an idle node looks for runs that are due. */
  pollMs: 1_000,
  /** The delay before a run that could not start is tried again; up to twice as long, at random. */
  returnMs: 1_000,
  /** The longest delay of a run whose account has used up its runs for this minute. */
  limitedMsMax: 30_000,
  /** How many waiting runs the metrics count, and for how long a count is valid. */
  countMax: 100_000,
  countedMs: 5_000,
}

export type QueueWorkerLimits = Readonly<typeof queueWorkerLimits>

/** How nodes tell each other that runs were added. A notice may get lost. */
export interface QueueNotices {
  notify(): void
  /** Calls back when any node has added runs. Returns a function that ends it. */
  listen(onNotice: () => void): () => void
}

/** Runs of nodes that are gone, by what this node did with them. */
type TakeoverCounts = Pick<TakenOver, "requeued" | "retried" | "crashed">

/** How many runs are claimed, and the code of how many of them has not ended. */
interface Places {
  claimed: number
  running: number
}

/**
 * Claims due runs in batches, as many as this node has room for, and runs them. `storage/queue/queue.ts`
 * has the states of a run.
 */
export class QueueWorker implements RunQueue {
  readonly #nodeId: string
  readonly #store: QueueStore
  readonly #claimedRuns: ClaimedRuns
  readonly #liveRuns: LiveRuns
  readonly #limits: QueueWorkerLimits
  readonly #notices: QueueNotices
  /** The claimed runs by id. */
  readonly #active = new Map<string, ClaimedRun>()
  /** The number of those whose code has not ended. */
  #running = 0
  readonly #perAccount = new Map<string, Places>()
  /** Runs that have ended, but could not be recorded yet. They stay claimed. */
  readonly #unrecorded = new Map<string, ClaimedRun>()
  readonly #loop: Loop
  #endListening: (() => void) | undefined
  /** The account behind which the next claim begins. */
  #after: string | null = null
  /** Runs may wait that this node had no room for. */
  #hasMore = false
  /** How often the node has lost its lease, and with it the claims that it had until then. */
  #losses = 0
  /** The node may have claims that it does not know of, because a write seemed to fail. */
  #mayHaveUnknown = false
  #isNoticeSent = false
  #depth: { readonly at: number; readonly depth: QueueDepth } | undefined
  #claimed = 0
  #returned = 0
  #takenOver: TakeoverCounts = { requeued: 0, retried: 0, crashed: 0 }

  constructor(
    nodeId: string,
    store: QueueStore,
    claimedRuns: ClaimedRuns,
    liveRuns: LiveRuns,
    limits: QueueWorkerLimits,
    notices: QueueNotices,
    onError: (error: unknown, step?: string) => void,
  ) {
    this.#nodeId = nodeId
    this.#store = store
    this.#claimedRuns = claimedRuns
    this.#liveRuns = liveRuns
    this.#limits = limits
    this.#notices = notices
    this.#loop = new Loop({ round: () => this.#claimAll(), pollMs: limits.pollMs, onError })
  }

  start(): void {
    this.#endListening ??= this.#notices.listen(() => this.#loop.wake())
    this.#loop.start()
  }

  wake(): void {
    this.#loop.wake()
    // Many runs may be added in one turn of the event loop: one notice is enough.
    if (this.#isNoticeSent || this.#loop.isStopped) return
    this.#isNoticeSent = true
    setImmediate(() => {
      this.#isNoticeSent = false
      this.#notices.notify()
    })
  }

  async stop(): Promise<void> {
    if (this.#loop.isStopped) return
    this.#endListening?.()
    await this.#loop.stop()
    const unstarted = [...this.#active.values()].filter(
      ({ id }) => (this.#liveRuns.find(id)?.status ?? "queued") === "queued",
    )
    await this.#return(unstarted, 0)
    // Another node takes them at once.
    if (unstarted.length > 0) this.#notices.notify()
  }

  /** The node has lost its lease: its runs may be running elsewhere, so they end here. */
  loseAll(): void {
    this.#losses += 1
    for (const id of this.#active.keys()) this.#liveRuns.forget(id)
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
    const { countMax, countedMs } = this.#limits
    const now = performance.now()
    if (this.#depth && now - this.#depth.at < countedMs) return this.#depth.depth
    try {
      const depth = await this.#store.depth(countMax)
      this.#depth = { at: now, depth }
      return depth
    } catch (error) {
      this.#loop.report(error, "count waiting runs")
      return undefined
    }
  }

  stats(): QueueStats {
    return {
      ...this.#takenOver,
      claimed: this.#claimed,
      returned: this.#returned,
      lost: this.#liveRuns.countLost(),
      active: this.#active.size,
    }
  }

  /** Claims until nothing is due or this node has no room. */
  async #claimAll(): Promise<void> {
    try {
      await this.#endUnknown()
      while (await this.#claimOfAll());
    } catch (error) {
      this.#mayHaveUnknown = true
      throw error
    }
  }

  /** Gives the remaining accounts their turn. Returns whether another round may claim more. */
  async #claimOfAll(): Promise<boolean> {
    let hasClaimed = this.#after !== null
    this.#hasMore = false
    do {
      const { runsMax, claimMax } = this.#limits
      const room = this.#roomIn({ claimed: this.#active.size, running: this.#running }, runsMax)
      if (room <= 0 || this.#loop.isStopped) {
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
    const losses = this.#losses
    const claim = await this.#store.claim({
      nodeId: this.#nodeId,
      held: this.#listHeld(),
      runsMax,
      after: this.#after,
      roomOf: (accountId) => {
        const places = this.#perAccount.get(accountId) ?? { claimed: 0, running: 0 }
        const room = this.#roomIn(places, this.#limits.runsPerAccountMax)
        if (room <= 0) this.#hasMore = true
        return room
      },
    })
    if (losses !== this.#losses) {
      this.#mayHaveUnknown = true
      return { runs: [], next: claim.next }
    }
    this.#claimed += claim.runs.length
    for (const run of claim.runs) void this.#run(run)
    return claim
  }

  async #run(run: ClaimedRun): Promise<void> {
    const { returnMs, limitedMsMax } = this.#limits
    const ofAccount = this.#placesOf(run.accountId)
    this.#active.set(run.id, run)
    ofAccount.claimed += 1
    ofAccount.running += 1
    this.#running += 1
    const losses = this.#losses
    const isLost = () => losses !== this.#losses
    let isRunning = true
    const endCode = () => {
      if (!isRunning) return
      isRunning = false
      ofAccount.running -= 1
      this.#running -= 1
      if (this.#hasMore) this.#loop.wake()
    }
    try {
      const onError = (error: unknown) => this.#loop.report(error, "run a claimed run")
      const outcome = await this.#claimedRuns.run(run, endCode, isLost, onError)
      if (outcome === "not_started") await this.#return([run], returnMs * (1 + Math.random()))
      if (outcome === "unrecorded") this.#unrecorded.set(run.id, run)
      // Hundreds of runs may wait for the same allowance: they are not all tried again at once.
      if (outcome === "over_limit")
        await this.#return([run], returnMs + limitedMsMax * Math.random())
    } catch (error) {
      this.#loop.report(error, "run a claimed run")
      await this.#return([run], returnMs * (1 + Math.random()))
    } finally {
      endCode()
      this.#active.delete(run.id)
      ofAccount.claimed -= 1
      if (ofAccount.claimed === 0) this.#perAccount.delete(run.accountId)
      if (this.#hasMore) this.#loop.wake()
    }
  }

  /** Has no effect on runs that have started. */
  async #return(runs: readonly Fenced[], delayMs: number): Promise<void> {
    if (runs.length === 0) return
    this.#returned += runs.length
    try {
      await this.#store.release(runs, Math.round(delayMs))
    } catch (error) {
      this.#mayHaveUnknown = true
      this.#loop.report(error, "return runs")
    }
    for (const { id } of runs) this.#liveRuns.forget(id)
  }

  async #endUnknown(): Promise<void> {
    if (!this.#mayHaveUnknown) return
    await this.#store.saveClaims(this.#nodeId, this.#listHeld())
    this.#mayHaveUnknown = false
  }

  #listHeld(): readonly HeldClaim[] {
    for (const id of this.#unrecorded.keys())
      if (!this.#liveRuns.isPending(id)) {
        this.#unrecorded.delete(id)
        this.#claimedRuns.forget(id)
      }
    return [...this.#active.values(), ...this.#unrecorded.values()]
  }

  /** One batch is recorded while the code of the next one runs. */
  #roomIn({ claimed, running }: Places, runsMax: number): number {
    return Math.min(runsMax - running, runsMax * this.#limits.claimsFactor - claimed)
  }

  #placesOf(accountId: string): Places {
    const places = this.#perAccount.get(accountId) ?? { claimed: 0, running: 0 }
    this.#perAccount.set(accountId, places)
    return places
  }
}
