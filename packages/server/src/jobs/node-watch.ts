import type { TokenStore } from "../domain/accounts/tokens.ts"
import type { Node, NodeStore, SeenNode } from "../domain/nodes.ts"
import type { RunStore } from "../domain/runs/runs.ts"

export interface NodeWatchDeps {
  /** This process. */
  readonly node: Node
  readonly nodes: NodeStore
  readonly runs: RunStore
  readonly tokens: TokenStore
  /**
   * Throws when another node has migrated the database to a newer schema. This node then stops its
   * heartbeat.
   */
  checkSchema(): Promise<void>
  /** Whether a process of this host has ended. */
  hasEnded(node: Node): boolean
  now(): number
  onError(error: unknown): void
}

const limits = {
  /** Interval of the heartbeat. */
  beatMs: 10_000,
  /** A node without a heartbeat for this long is dead. */
  silenceMsMax: 45_000,
  /** Runs per batch. */
  batchMax: 500,
}

const died = { name: "ServerDied", message: "The server died while the val was running" }

/**
 * Sends the heartbeat of this node, and marks the runs of dead nodes as crashed. The heartbeat has
 * the time of the sender's clock, so only a change of it counts: clocks may differ.
 */
export class NodeWatch {
  readonly #deps: NodeWatchDeps
  readonly #seen = new Map<string, { readonly seenAt: number; readonly at: number }>()
  #timer: Timer | undefined
  #round: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(deps: NodeWatchDeps) {
    this.#deps = deps
  }

  /** Resolves when the database knows this node. No run may start before. */
  async start(): Promise<void> {
    await this.#deps.nodes.beat(this.#deps.node, this.#deps.now())
    await this.sweep()
    this.#arm()
  }

  /** Removes this node. All of its runs must have ended before. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#round
    try {
      await this.#deps.nodes.remove(this.#deps.node.id)
    } catch (error) {
      this.#deps.onError(error)
    }
  }

  /**
   * Removes dead nodes and marks their runs as crashed, also runs that a node wrote after it was
   * considered dead.
   */
  async sweep(): Promise<void> {
    const { nodes, runs, tokens, now } = this.#deps
    const known = await nodes.list()
    for (const node of known) if (this.#isDead(node)) await nodes.remove(node.id, node.seenAt)
    for (const id of this.#seen.keys())
      if (!known.some((node) => node.id === id)) this.#seen.delete(id)
    await tokens.removeLostRunTokens()
    while (!this.#isStopped && (await runs.finishOrphaned(died, now(), limits.batchMax)))
      await Bun.sleep(0)
  }

  #isDead(node: SeenNode): boolean {
    const { node: self, hasEnded, now } = this.#deps
    if (node.id === self.id) return false
    if (node.host === self.host && hasEnded(node)) return true
    const before = this.#seen.get(node.id)
    if (before?.seenAt === node.seenAt) return now() - before.at >= limits.silenceMsMax
    this.#seen.set(node.id, { seenAt: node.seenAt, at: now() })
    return false
  }

  async #beat(): Promise<void> {
    await this.#deps.checkSchema()
    await this.#deps.nodes.beat(this.#deps.node, this.#deps.now())
    await this.sweep()
  }

  #arm(): void {
    this.#timer = setTimeout(() => {
      this.#round = this.#beat()
        .catch((error: unknown) => this.#deps.onError(error))
        .then(() => {
          if (!this.#isStopped) this.#arm()
        })
    }, limits.beatMs)
  }
}
