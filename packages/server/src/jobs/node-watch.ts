import type { TokenStore } from "../domain/accounts/tokens.ts"
import type { KnownNode, Node, NodeStore } from "../domain/nodes.ts"
import type { QueueStore, TakenOver } from "../domain/queue/queue-store.ts"

export interface NodeWatchDeps {
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
  /** Whether a process of this host has ended. */
  hasEnded(node: Node): boolean
  /** The delay before a run is attempted again. */
  delayOf(attempt: number): number
  /** Another node has declared this one gone: its claimed runs are no longer its own. */
  onLost(): void
  onTakeover(taken: TakenOver): void
  now(): number
  onError(error: unknown): void
}

export interface NodeWatchLimits {
  /** How often the lease is renewed, and other nodes are looked at. */
  readonly beatMs: number
  /** How long a lease lasts. Runs of a dead node go on at most a lease and a beat after its death. */
  readonly leaseMs: number
  /**
   * For how long this node must have renewed its own lease before it declares others gone. After an outage
   * of the database all leases have ended, and their nodes need time to renew them.
   */
  readonly graceMs: number
  /** Runs per transaction. */
  readonly batchMax: number
}

const defaults: NodeWatchLimits = {
  beatMs: 5_000,
  leaseMs: 20_000,
  graceMs: 10_000,
  batchMax: 500,
}

const died = { name: "ServerDied", message: "The server died while the val was running" }

/**
 * Renews the lease of this node, which is the lease of all of its runs, and takes the runs of nodes
 * whose lease has ended. Leases are times of the database's clock, so the clocks of nodes may differ.
 */
export class NodeWatch {
  readonly #deps: NodeWatchDeps
  readonly #limits: NodeWatchLimits
  /** Since when this node has renewed its lease without a failure. */
  #steadySince: number | undefined
  #timer: Timer | undefined
  #round: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(deps: NodeWatchDeps) {
    this.#deps = deps
    this.#limits = { ...defaults, ...deps.limits }
  }

  /** Resolves when the database knows this node. No run may start before. */
  async start(): Promise<void> {
    await this.#deps.nodes.add(this.#deps.node, this.#limits.leaseMs)
    this.#steadySince = this.#deps.now()
    await this.sweep()
    this.#arm()
  }

  /** This node ends. Runs that have not ended are taken from it. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#round
    try {
      await this.#deps.nodes.end(this.#deps.node.id)
    } catch (error) {
      this.#deps.onError(error)
    }
  }

  /**
   * Finds nodes that are gone and takes their runs, also runs that a node wrote after that.
   */
  async sweep(): Promise<void> {
    const { nodes, tokens } = this.#deps
    for (const node of await nodes.list()) await this.#endIfGone(node)
    await this.#takeOver()
    await tokens.removeLostRunTokens()
  }

  async #endIfGone(node: KnownNode): Promise<void> {
    const { node: self, nodes, hasEnded } = this.#deps
    if (node.id === self.id || node.isGone) return
    if (node.host === self.host && hasEnded(node)) await nodes.end(node.id)
    else if (node.isExpired && this.#isSteady()) await nodes.endExpired(node.id)
  }

  #isSteady(): boolean {
    const since = this.#steadySince
    return since !== undefined && this.#deps.now() - since >= this.#limits.graceMs
  }

  async #takeOver(): Promise<void> {
    const { queueStore, delayOf, onTakeover, now } = this.#deps
    for (let hasMore = true; hasMore && !this.#isStopped; ) {
      const { batchMax: runsMax } = this.#limits
      const taken = await queueStore.takeOver({ error: died, at: now(), runsMax, delayOf })
      onTakeover(taken)
      hasMore = taken.hasMore
      if (hasMore) await Bun.sleep(0)
    }
  }

  async #beat(): Promise<void> {
    const { node, nodes, checkSchema, onLost, now } = this.#deps
    await checkSchema()
    if (!(await nodes.renew(node.id, this.#limits.leaseMs))) {
      onLost()
      // Before the node is there again: afterwards they would seem to be running.
      await this.#takeOver()
      await nodes.add(node, this.#limits.leaseMs)
    }
    this.#steadySince ??= now()
    await this.sweep()
  }

  #arm(): void {
    this.#timer = setTimeout(() => {
      this.#round = this.#beat()
        .catch((error: unknown) => {
          this.#steadySince = undefined
          this.#deps.onError(error)
        })
        .then(() => {
          if (!this.#isStopped) this.#arm()
        })
    }, this.#limits.beatMs)
  }
}
