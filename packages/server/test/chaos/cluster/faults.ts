import { waitUntil } from "../../support/wait-until.ts"
import { type Cluster, nodeCount } from "./cluster.ts"
import type { Side } from "./network.ts"

/** How often each fault happens. A kill is one of a node; some kill several at once. */
export interface FaultCounts {
  readonly kills: number
  readonly libsql: number
  readonly postgres: number
  readonly pauses: number
  readonly cuts: number
}

export type FaultName = keyof FaultCounts

/**
 * Faults of one lane follow each other; those of two lanes overlap. While a node is paused or cut
 * off, another one may be killed, and the third one has to do their work.
 */
export const lanes: readonly (readonly FaultName[])[] = [
  ["kills", "libsql"],
  ["pauses", "cuts", "postgres"],
]

/** The lease of a node is 20 s: others have taken its runs before it comes back. */
const longerThanLeaseMs = 26_000
const downMsMax = 2_000
const shortCutMsMax = 8_000
/** A node that starts needs longer. */
const startMsMax = 2_000
/** For nodes that start on a busy machine. */
const waitMsMax = 600_000
const cuts: readonly (readonly Side[])[] = [["front"], ["back"], ["front", "back"]]

/** The order of the faults of a lane: each kind as often as it is wanted, mixed. */
export function planFaults(
  lane: readonly FaultName[],
  counts: FaultCounts,
  random: () => number,
): readonly FaultName[] {
  return lane
    .flatMap((name) => Array.from({ length: counts[name] }, () => ({ name, order: random() })))
    .toSorted((one, other) => one.order - other.order)
    .map(({ name }) => name)
}

/** Causes faults. Each returns when it is over and its nodes are ready, and says what it did. */
export class Faults {
  readonly #cluster: Cluster
  readonly #random: () => number
  readonly #done = new Map<FaultName, number>()
  /** Nodes that are down, paused or cut off. */
  readonly #disturbed = new Set<number>()

  constructor(cluster: Cluster, random: () => number) {
    this.#cluster = cluster
    this.#random = random
  }

  count(name: FaultName): number {
    return this.#done.get(name) ?? 0
  }

  async cause(name: FaultName): Promise<string> {
    const nth = this.count(name)
    if (name === "kills") return await this.#kill(nth)
    this.#done.set(name, nth + 1)
    if (name === "pauses") return await this.#pause()
    if (name === "cuts") return await this.#cut(nth)
    const downMs = Math.floor(this.#random() * downMsMax)
    if (name === "libsql") {
      const signal = nth % 2 === 0 ? "SIGKILL" : "SIGTERM"
      await this.#cluster.restartLibsql(signal, downMs)
      return `libSQL ended by ${signal}, ${downMs} ms`
    }
    const mode = nth % 2 === 0 ? "immediate" : "fast"
    await this.#cluster.restartPostgres(mode, downMs)
    for (let node = 0; node < nodeCount; node += 1) await this.#cluster.untilReady(node)
    return `PostgreSQL stopped (${mode}), ${downMs} ms`
  }

  /**
   * One node mostly, sometimes several; sometimes for so long that others do its work, and sometimes
   * again while it starts.
   */
  async #kill(nth: number): Promise<string> {
    const chance = this.#random()
    const isAlone = this.#disturbed.size > 0
    const size = isAlone ? 1 : chance < 0.03 ? nodeCount : chance < 0.15 ? 2 : 1
    const killed = Array.from({ length: size }, () => this.#chooseNode())
    const downMs = size === 1 && nth % 20 === 10 ? longerThanLeaseMs : this.#random() * 500
    this.#done.set("kills", nth + size)
    await this.#killEach(killed)
    await Bun.sleep(downMs)
    for (const node of killed) this.#cluster.startNode(node)
    const isRepeated = this.#random() < 0.3
    if (isRepeated) {
      await Bun.sleep(this.#random() * startMsMax)
      await this.#killEach(killed)
      this.#done.set("kills", nth + 2 * size)
      for (const node of killed) this.#cluster.startNode(node)
    }
    await this.#untilReady(killed)
    const times = isRepeated ? "twice" : "once"
    return `node ${killed.join(", ")} killed ${times}, ${Math.round(downMs)} ms`
  }

  async #killEach(nodes: readonly number[]): Promise<void> {
    for (const node of nodes) this.#cluster.node(node).signal("SIGKILL")
    await Promise.all(nodes.map((node) => this.#cluster.node(node).ended()))
  }

  async #pause(): Promise<string> {
    const node = await this.#chooseSecond()
    this.#cluster.node(node).signal("SIGSTOP")
    await Bun.sleep(longerThanLeaseMs)
    this.#cluster.node(node).signal("SIGCONT")
    await this.#untilReady([node])
    return `node ${node} paused, ${longerThanLeaseMs} ms`
  }

  async #cut(nth: number): Promise<string> {
    const { network } = this.#cluster
    const node = await this.#chooseSecond()
    const sides = cuts[nth % cuts.length] ?? []
    const isLong = nth % 2 === 0
    const cutMs = isLong ? longerThanLeaseMs : 1_000 + this.#random() * shortCutMsMax
    for (const side of sides) network.cut(node, side)
    await Bun.sleep(cutMs)
    for (const side of sides) network.heal(node, side)
    await this.#untilReady([node])
    return `node ${node} cut off at the ${sides.join(" and the ")}, ${Math.round(cutMs)} ms`
  }

  /** A node that no fault has, when there is another one too, which does the work. */
  async #chooseSecond(): Promise<number> {
    await waitUntil(() => this.#disturbed.size < nodeCount - 1, { msMax: waitMsMax })
    return this.#chooseNode()
  }

  /** A node that no fault has. */
  #chooseNode(): number {
    const free = Array.from({ length: nodeCount }, (_, node) => node).filter(
      (node) => !this.#disturbed.has(node),
    )
    const node = free[Math.floor(this.#random() * free.length)]
    if (node === undefined) throw new Error("every node has a fault")
    this.#disturbed.add(node)
    return node
  }

  async #untilReady(nodes: readonly number[]): Promise<void> {
    for (const node of nodes) await this.#cluster.untilReady(node)
    for (const node of nodes) this.#disturbed.delete(node)
  }
}
