import { EdgeTable } from "./edge-table.ts"

/**
 * Hears that the pattern of that number stands between `start` and `end`, and says from where on to
 * look for more.
 */
export type OnMatch = (start: number, end: number, pattern: number) => number

interface Nodes {
  readonly parents: number[]
  readonly units: number[]
  readonly depths: number[]
  /** The number of the longest pattern that ends here, or -1. */
  readonly patterns: number[]
}

/**
 * Finds many patterns in a text at once (Aho–Corasick): each unit of a text is read once, and the
 * steps back never exceed the steps forward, whatever the patterns are. Patterns are added first;
 * `link` completes it.
 */
export class PrefixAutomaton {
  readonly #edges = new EdgeTable()
  readonly #nodes: Nodes = { parents: [0], units: [0], depths: [0], patterns: [-1] }
  readonly #lengths: number[] = []
  /**
   * For each low byte of a unit, as bits, whether it is the first, second or third of a pattern.
   */
  readonly #beginnings = new Uint8Array(256)
  /** The node of the longest proper suffix that begins a pattern. */
  #fallbacks = new Int32Array(0)

  /** The number of nodes, which is what `link` takes time for. */
  get size(): number {
    return this.#nodes.parents.length
  }

  /** Gives the pattern's number: that of an equal one where there is one already. */
  add(pattern: string): number {
    const { parents, units, depths, patterns } = this.#nodes
    let node = 0
    for (let depth = 0; depth < pattern.length; depth++) {
      const unit = pattern.charCodeAt(depth)
      if (depth < 3) this.#noteBeginning(unit, depth)
      let next = this.#edges.find(node, unit)
      if (next === 0) {
        next = parents.length
        this.#edges.add(node, unit, next)
        parents.push(node)
        units.push(unit)
        depths.push(depth + 1)
        patterns.push(-1)
      }
      node = next
    }
    const known = patterns[node] as number
    if (known >= 0) return known
    patterns[node] = this.#lengths.length
    this.#lengths.push(pattern.length)
    return this.#lengths.length - 1
  }

  /** Links every node to its fallback, the shallow ones first. It pauses where `pace` says so. */
  async link(pace: () => Promise<void> | undefined): Promise<void> {
    const { parents, units, depths, patterns } = this.#nodes
    const fallbacks = new Int32Array(parents.length)
    let steps = 0
    for (const level of toLevels(depths)) {
      for (const node of level) {
        if (++steps % nodesPerPause === 0) await pace()
        const parent = parents[node] as number
        if (parent === 0) continue
        const fallback = this.#step(fallbacks[parent] as number, units[node] as number, fallbacks)
        fallbacks[node] = fallback
        if (patterns[node] === -1) patterns[node] = patterns[fallback] as number
      }
    }
    this.#fallbacks = fallbacks
  }

  /**
   * Goes through the first `end` units of the text. At each end of a pattern `onMatch` is given the
   * longest one that ends there, and says where to go on: at that end, or further on, when what
   * follows has been dealt with.
   */
  scan(text: string, end: number, onMatch: OnMatch): void {
    const { patterns } = this.#nodes
    let node = 0
    for (let at = 0; at < end; at++) {
      if (node === 0 && !this.#mayBegin(text, at)) continue
      node = this.#step(node, text.charCodeAt(at), this.#fallbacks)
      const pattern = patterns[node] as number
      if (pattern < 0) continue
      const next = onMatch(at + 1 - (this.#lengths[pattern] as number), at + 1, pattern)
      if (next === at + 1) continue
      node = 0
      at = next - 1
    }
  }

  #step(from: number, unit: number, fallbacks: Int32Array): number {
    for (let node = from; ; node = fallbacks[node] as number) {
      const next = this.#edges.find(node, unit)
      if (next !== 0 || node === 0) return next
    }
  }

  #noteBeginning(unit: number, depth: number): void {
    const byte = unit & 0xff
    this.#beginnings[byte] = (this.#beginnings[byte] as number) | (1 << depth)
  }

  /**
   * Tells at a glance that nothing begins there, which is so nearly everywhere. Patterns have at
   * least three units.
   */
  #mayBegin(text: string, at: number): boolean {
    const beginnings = this.#beginnings
    return (
      ((beginnings[text.charCodeAt(at) & 0xff] as number) & 1) !== 0 &&
      ((beginnings[text.charCodeAt(at + 1) & 0xff] as number) & 2) !== 0 &&
      ((beginnings[text.charCodeAt(at + 2) & 0xff] as number) & 4) !== 0
    )
  }
}

const nodesPerPause = 4096

/** The nodes of each depth but the root's. */
function toLevels(depths: readonly number[]): readonly (readonly number[])[] {
  const levels: number[][] = []
  for (let node = 1; node < depths.length; node++) {
    const depth = (depths[node] as number) - 1
    const level = levels[depth] ?? []
    level.push(node)
    levels[depth] = level
  }
  return levels
}
