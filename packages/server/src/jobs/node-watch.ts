import { Loop } from "@hamlet/kit"
import type { TokenStore } from "../domain/accounts/tokens.ts"
import {
  type KnownNode,
  type Node,
  type NodeReport,
  type NodeStatus,
  type NodeStore,
  nodeLeaseMs,
} from "../domain/nodes.ts"
import type { QueueStore, TakenOver } from "../domain/queue/queue-store.ts"
import { serverErrors } from "../domain/runs/runs.ts"

export interface NodeWatchOptions {
  /** This process. */
  readonly node: Node
  readonly nodes: NodeStore
  readonly queueStore: Pick<QueueStore, "takeOver">
  readonly tokens: TokenStore
  readonly limits?: Partial<NodeWatchLimits>
  /**
   * Throws when another node has migrated the database to a newer schema. This node then no longer
   * renews its lease.
   */
  checkSchema(): Promise<void>
  /** What this node tells about itself, beside its clock. */
  report(): Omit<NodeReport, "clockSkewMs" | "isClockWrong">
  /** Whether a process of this host has ended. */
  hasEnded(node: Node): boolean
  /** The delay before a run is attempted again. */
  delayOf(attempt: number): number
  /** Another node has declared this one gone: its claimed runs are no longer its own. */
  onLost(): void
  onTakeover(taken: TakenOver): void
  /** How many nodes there are, this one included, whenever they were looked at. */
  onNodes(count: number): void
  /** The clocks of this machine and of the database have come to differ too much, or no longer do. */
  onClock(status: NodeStatus): void
  now(): number
  onError(error: unknown, step?: string): void
}

const defaults = {
  /** How often the lease is renewed, and other nodes are looked at. */
  beatMs: 2_500,
  /** The pause between two beats of which the first took long. */
  pauseMs: 500,
  leaseMs: nodeLeaseMs,
  /** How soon this node tries again when it could not renew its lease. */
  failedMs: 1_000,
  /**
   * For how long this node must have renewed its own lease in time before it declares others gone. After
   * an outage of the database all leases have ended, and their nodes need time to renew them.
   */
  graceMs: 10_000,
  /** Runs per transaction. */
  batchMax: 500,
  /** How much the clocks of this machine and of the database may differ. */
  skewMsMax: 5_000,
}

export type NodeWatchLimits = Readonly<typeof defaults>

/**
 * Renews the lease of this node, which is the lease of all of its runs, and takes the runs of nodes
 * at the moment when their lease ends. Leases are times of the database's clock, so the clocks of nodes
 * may differ.
 */
export class NodeWatch {
  readonly #options: NodeWatchOptions
  readonly #limits: NodeWatchLimits
  /** Since when this node has renewed its lease in time, and when it did so last. */
  #steadySince: number | undefined
  #renewedAt = Number.NEGATIVE_INFINITY
  readonly #beats: Loop
  /** Beside the beats: on a busy machine a sweep takes longer than a lease may be late. */
  readonly #sweeps: Loop
  #reported: ReturnType<NodeWatchOptions["report"]> | undefined
  #status: NodeStatus = { problem: undefined, clockSkewMs: 0, isClockWrong: false }

  constructor(options: NodeWatchOptions) {
    this.#options = options
    this.#limits = { ...defaults, ...options.limits }
    const { onError } = options
    const { beatMs: pollMs, failedMs } = this.#limits
    this.#beats = new Loop({ round: () => this.#beat(), pollMs, failedMs, onError })
    this.#sweeps = new Loop({
      // A node that cannot renew its lease declares no other one gone.
      round: async () => {
        await this.#sweeps.attempt("compare clocks", () => this.#compareClocks())
        return this.#status.problem === undefined ? await this.sweep() : pollMs
      },
      pollMs,
      onError,
    })
  }

  get status(): NodeStatus {
    return this.#status
  }

  /** Resolves when the database knows this node. No run may start before. */
  async start(): Promise<void> {
    await this.#compareClocks()
    await this.#add()
    this.#noteRenewal()
    const { beatMs } = this.#limits
    this.#beats.start(beatMs)
    const sleepMs = await this.sweep()
    this.#sweeps.start(Math.min(sleepMs, beatMs))
  }

  /** Reports, and looks at the other nodes, now: this one has changed, or another one has come. */
  look(): void {
    this.#beats.wake()
    this.#sweeps.wake()
  }

  /** This node ends. Runs that have not ended are taken from it. */
  async stop(): Promise<void> {
    await Promise.all([this.#beats.stop(), this.#sweeps.stop()])
    await this.#options.nodes
      .end(this.#options.node.id)
      .catch((error: unknown) => this.#options.onError(error, "end this node"))
  }

  /**
   * Finds nodes that are gone and takes their runs, also runs that a node wrote after that. Returns how
   * long no other node can be found gone.
   */
  async sweep(): Promise<number> {
    const { nodes, tokens, onNodes } = this.#options
    const known = await this.#sweeps.attempt("list nodes", () => nodes.list())
    if (known) onNodes(known.filter(({ isGone }) => !isGone).length)
    // Before they are tried: what comes to its end meanwhile is tried in the next sweep.
    const endsInMs = Math.min(...(known ?? []).map((node) => this.#msUntilEnd(node)))
    const listedMs = performance.now()
    for (const node of known ?? [])
      await this.#sweeps.attempt("end a node that is gone", () => this.#endIfGone(node))
    await this.#sweeps.attempt("take over runs", () => this.#takeOver())
    await this.#sweeps.attempt("remove tokens of lost runs", () => tokens.removeLostRunTokens())
    return Math.max(0, listedMs + endsInMs - performance.now())
  }

  async #endIfGone(node: KnownNode): Promise<void> {
    const { node: self, nodes, hasEnded } = this.#options
    if (node.id === self.id || node.isGone) return
    if (node.host === self.host && hasEnded(node)) await nodes.end(node.id)
    else if (node.leaseLeftMs < 0 && this.#msUntilSteady() <= 0) await nodes.endExpired(node.id)
  }

  /** Until this node may declare the other one gone, unless that renews its lease. */
  #msUntilEnd({ id, isGone, leaseLeftMs }: KnownNode): number {
    if (id === this.#options.node.id || isGone) return Number.POSITIVE_INFINITY
    const endsInMs = Math.max(leaseLeftMs + 1, this.#msUntilSteady())
    // Otherwise it is tried now.
    return endsInMs > 0 ? endsInMs : Number.POSITIVE_INFINITY
  }

  #msUntilSteady(): number {
    const now = this.#options.now()
    if (this.#steadySince === undefined || this.#isLate(now)) return Number.POSITIVE_INFINITY
    return this.#steadySince + this.#limits.graceMs - now
  }

  #noteRenewal(): void {
    const now = this.#options.now()
    if (this.#steadySince === undefined || this.#isLate(now)) this.#steadySince = now
    this.#renewedAt = now
  }

  /**
   * Healthy nodes can lose their lease only while the database is away for a lease less a beat. It
   * need not fail, it may just be slow; but then this node has not renewed its lease for as long.
   */
  #isLate(now: number): boolean {
    const gapMs = now - this.#renewedAt
    // A clock that was set back must not make it wait for hours.
    return gapMs < 0 || gapMs >= this.#limits.leaseMs - this.#limits.beatMs
  }

  async #takeOver(waits = false): Promise<void> {
    const { queueStore, delayOf, onTakeover, now } = this.#options
    for (let hasMore = true; hasMore && !this.#sweeps.isStopped; ) {
      const { batchMax: runsMax } = this.#limits
      const taken = await queueStore.takeOver({
        error: serverErrors.died,
        at: now(),
        runsMax,
        delayOf,
        waits,
      })
      for (const error of taken.errors) this.#sweeps.report(error)
      onTakeover(taken)
      hasMore = taken.hasMore
      if (hasMore) await Bun.sleep(0)
    }
  }

  async #beat(): Promise<number> {
    const { beatMs, pauseMs } = this.#limits
    const beganMs = performance.now()
    try {
      await this.#renew()
    } catch (error) {
      this.#steadySince = undefined
      this.#status = { ...this.#status, problem: error }
      throw error
    }
    // A busy machine takes seconds for this, and the lease goes on meanwhile.
    return Math.max(pauseMs, beganMs + beatMs - performance.now())
  }

  async #renew(): Promise<void> {
    const { node, nodes, checkSchema, onLost } = this.#options
    await checkSchema()
    if (!(await nodes.renew(node.id, this.#limits.leaseMs, this.#report()))) {
      onLost()
      // Before the node is there again: afterwards they would seem to be running.
      await this.#takeOver(true)
      await this.#add()
    }
    this.#noteRenewal()
    this.#status = { ...this.#status, problem: undefined }
  }

  #add(): Promise<void> {
    return this.#options.nodes.add(this.#options.node, this.#limits.leaseMs, this.#report())
  }

  /**
   * The last one again when there is none now, for example without a free descriptor: a lease needs
   * no report.
   */
  #report(): NodeReport | undefined {
    const { clockSkewMs, isClockWrong } = this.#status
    try {
      this.#reported = this.#options.report()
    } catch (error) {
      this.#beats.report(error, "report")
    }
    return this.#reported && { ...this.#reported, clockSkewMs, isClockWrong }
  }

  async #compareClocks(): Promise<void> {
    const { nodes, now, onClock } = this.#options
    const before = now()
    const there = await nodes.readClock()
    const roundTripMs = now() - before
    const skewMs = before + roundTripMs / 2 - there
    // The database read its clock at some moment of the round trip.
    const certainMs = Math.max(0, Math.abs(skewMs) - Math.abs(roundTripMs) / 2)
    const wasWrong = this.#status.isClockWrong
    const isClockWrong = certainMs > this.#limits.skewMsMax
    this.#status = { ...this.#status, clockSkewMs: Math.sign(skewMs) * certainMs, isClockWrong }
    if (isClockWrong !== wasWrong) onClock(this.#status)
  }
}
