import type { TokenStore } from "../domain/accounts/tokens.ts"
import type { Node, NodeStore, SeenNode } from "../domain/nodes.ts"
import type { RunStore } from "../domain/runs/runs.ts"

/** What watching the nodes needs. */
export interface NodeWatchDeps {
  /** This process. */
  readonly node: Node
  readonly nodes: NodeStore
  readonly runs: RunStore
  readonly tokens: TokenStore
  /**
   * Throws when another node has given the database a newer schema: this one then says no more that
   * it lives.
   */
  checkSchema(): Promise<void>
  /** Whether a process of this host has ended. */
  hasEnded(node: Node): boolean
  now(): number
  onError(error: unknown): void
}

const limits = {
  /** How often a node says that it lives. */
  beatMs: 10_000,
  /** A node that has said nothing for this long is dead. */
  silenceMsMax: 45_000,
  /** Runs that are ended at a time. */
  batchMax: 500,
}

const died = { name: "ServerDied", message: "The server died while the val was running" }

/**
 * Says that this node lives, and ends the runs of nodes that do not. When a node was last seen is
 * read by its own clock, so only whether it changes is looked at: clocks that differ kill nobody.
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

  /** Resolves when this node is known: before that, none of its runs may begin. */
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
   * Forgets the nodes that are dead and ends their runs, also those that a node wrote down after it
   * was taken for dead.
   */
  async sweep(): Promise<void> {
    const { nodes, runs, tokens, now } = this.#deps
    const known = await nodes.list()
    for (const node of known) if (this.#isDead(node)) await nodes.remove(node.id, node.seenAt)
    for (const id of this.#seen.keys())
      if (!known.some((node) => node.id === id)) this.#seen.delete(id)
    await tokens.removeLostRunTokens()
    while (!this.#isStopped && (await runs.crashLost(died, now(), limits.batchMax)))
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
