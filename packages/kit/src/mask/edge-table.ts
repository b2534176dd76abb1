/** At most so much of the table is filled before it doubles. */
const fillMax = 0.5

/**
 * The edges of a tree, by node and unit, in flat arrays: a Map of Maps would take ten times the
 * memory and twice the time. Users choose the hashed units, so the factor is random: a user cannot
 * choose units that collide.
 */
export class EdgeTable {
  readonly #factor = Math.floor(Math.random() * 0x3fffffff) * 2 + 1
  #mask = 255
  #nodes = new Int32Array(256).fill(-1)
  #units = new Uint16Array(256)
  #targets = new Int32Array(256)
  #count = 0

  /** The node that the edge leads to; 0, to which no edge leads, where there is none. */
  find(node: number, unit: number): number {
    const place = this.#place(node, unit)
    return this.#nodes[place] === -1 ? 0 : (this.#targets[place] as number)
  }

  add(node: number, unit: number, target: number): void {
    if (this.#count >= this.#nodes.length * fillMax) this.#double()
    this.#put(node, unit, target)
    this.#count += 1
  }

  /** Where the edge is, or would be. */
  #place(node: number, unit: number): number {
    const hash = Math.imul(node ^ Math.imul(unit, 0x9e3779b1), this.#factor)
    let place = (hash ^ (hash >>> 15)) & this.#mask
    while (
      this.#nodes[place] !== -1 &&
      !(this.#nodes[place] === node && this.#units[place] === unit)
    )
      place = (place + 1) & this.#mask
    return place
  }

  #put(node: number, unit: number, target: number): void {
    const place = this.#place(node, unit)
    this.#nodes[place] = node
    this.#units[place] = unit
    this.#targets[place] = target
  }

  #double(): void {
    const [nodes, units, targets] = [this.#nodes, this.#units, this.#targets]
    const size = nodes.length * 2
    this.#mask = size - 1
    this.#nodes = new Int32Array(size).fill(-1)
    this.#units = new Uint16Array(size)
    this.#targets = new Int32Array(size)
    for (const [place, node] of nodes.entries())
      if (node !== -1) this.#put(node, units[place] as number, targets[place] as number)
  }
}
