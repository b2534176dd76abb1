import { nodeLeaseMs } from "../../../src/domain/nodes.ts"
import { type Cluster, nodeCount } from "./cluster.ts"
import type { Side } from "./network.ts"

/** How often each fault happens. A kill is one of a node; some kill several at once. */
export interface FaultCounts {
  readonly kills: number
  readonly postgres: number
  readonly libsql: number
  readonly pauses: number
  readonly cuts: number
  /** PostgreSQL runs, and accepts no connections. */
  readonly refusals: number
  /** A node has no free file descriptors. */
  readonly files: number
}

export type FaultName = keyof FaultCounts

/** A pause after which other nodes have taken the runs of the node. */
const longerThanLeaseMs = nodeLeaseMs + 16_000
const downMsMax = 2_000
const shortCutMsMax = 8_000
/** A node that starts needs longer. */
const startMsMax = 2_000
const cuts: readonly (readonly Side[])[] = [["front"], ["back"], ["front", "back"]]

/** The order of the faults: each kind as often as it is wanted, mixed. */
export function planFaults(counts: FaultCounts, random: () => number): readonly FaultName[] {
  return (Object.keys(counts) as FaultName[])
    .flatMap((name) => Array.from({ length: counts[name] }, () => ({ name, order: random() })))
    .toSorted((one, other) => one.order - other.order)
    .map(({ name }) => name)
}

/**
 * Causes faults, one after the other: each returns when all nodes are ready again, and says what it
 * did.
 */
export class Faults {
  readonly #cluster: Cluster
  readonly #random: () => number
  readonly #done = new Map<FaultName, number>()

  constructor(cluster: Cluster, random: () => number) {
    this.#cluster = cluster
    this.#random = random
  }

  count(name: FaultName): number {
    return this.#done.get(name) ?? 0
  }

  async cause(name: FaultName): Promise<string> {
    const nth = this.count(name)
    if (name !== "kills") this.#done.set(name, nth + 1)
    if (name === "kills") return await this.#kill(nth)
    if (name === "pauses") return await this.#pause()
    if (name === "cuts") return await this.#cut(nth)
    if (name === "files") return await this.#exhaustFiles(nth)
    const downMs = Math.floor(this.#random() * downMsMax)
    if (name === "refusals") {
      await this.#cluster.refuseConnections(downMs)
      await this.#cluster.untilAllReady()
      return `PostgreSQL accepted no connections, ${downMs} ms`
    }
    if (name === "libsql") {
      const signal = nth % 2 === 0 ? "SIGKILL" : "SIGTERM"
      await this.#cluster.restartLibsql(signal, downMs)
      return `libSQL ended by ${signal}, ${downMs} ms`
    }
    const mode = nth % 2 === 0 ? "immediate" : "fast"
    await this.#cluster.restartPostgres(mode, downMs)
    await this.#cluster.untilAllReady()
    return `PostgreSQL stopped (${mode}), ${downMs} ms`
  }

  /**
   * One node mostly, sometimes several; sometimes for so long that others do its work, and sometimes
   * again while it starts.
   */
  async #kill(nth: number): Promise<string> {
    const first = this.#chooseNode()
    const chance = this.#random()
    const size = chance < 0.03 ? nodeCount : chance < 0.15 ? 2 : 1
    const killed = Array.from({ length: size }, (_, index) => (first + index) % nodeCount)
    const downMs = size === 1 && nth % 20 === 10 ? longerThanLeaseMs : this.#random() * 500
    const fromMs = Date.now()
    await this.#killEach(killed)
    await Bun.sleep(downMs)
    for (const node of killed) this.#cluster.startNode(node)
    const isRepeated = this.#random() < 0.3
    if (isRepeated) {
      await Bun.sleep(this.#random() * startMsMax)
      await this.#killEach(killed)
      for (const node of killed) this.#cluster.startNode(node)
    }
    const toMs = await this.#cluster.untilAllReady()
    if (size === nodeCount) this.#cluster.outages.push({ fromMs, toMs })
    this.#done.set("kills", nth + (isRepeated ? 2 : 1) * size)
    const times = isRepeated ? "twice" : "once"
    return `node ${killed.join(", ")} killed ${times}, ${Math.round(downMs)} ms`
  }

  async #killEach(nodes: readonly number[]): Promise<void> {
    for (const node of nodes) this.#cluster.node(node).signal("SIGKILL")
    await Promise.all(nodes.map((node) => this.#cluster.node(node).ended()))
  }

  async #pause(): Promise<string> {
    const node = this.#chooseNode()
    this.#cluster.node(node).signal("SIGSTOP")
    await Bun.sleep(longerThanLeaseMs)
    this.#cluster.node(node).signal("SIGCONT")
    await this.#cluster.untilAllReady()
    return `node ${node} paused, ${longerThanLeaseMs} ms`
  }

  async #cut(nth: number): Promise<string> {
    const { network } = this.#cluster
    const node = this.#chooseNode()
    const sides = cuts[nth % cuts.length] ?? []
    const isLong = nth % 2 === 0
    const cutMs = isLong ? longerThanLeaseMs : 1_000 + this.#random() * shortCutMsMax
    for (const side of sides) network.cut(node, side)
    await Bun.sleep(cutMs)
    for (const side of sides) network.heal(node, side)
    await this.#cluster.untilAllReady()
    return `node ${node} cut off at the ${sides.join(" and the ")}, ${Math.round(cutMs)} ms`
  }

  async #exhaustFiles(nth: number): Promise<string> {
    const node = this.#chooseNode()
    const ms = nth % 2 === 0 ? longerThanLeaseMs : this.#random() * shortCutMsMax
    const files = await this.#cluster.exhaustFiles(node, ms)
    await this.#cluster.untilAllReady()
    return `node ${node} had no more than ${files} files, ${Math.round(ms)} ms`
  }

  #chooseNode(): number {
    return Math.floor(this.#random() * nodeCount)
  }
}
