import type { Occupant } from "./occupant.ts"

/**
 * Who has left a process lately, since a run may log after its answer. Two generations: when the younger one is full, the older one is forgotten
 * as a whole. There are thousands in a second, and to forget them one by one would take a walk over all that was deleted before.
 */
export class LateSeats {
  readonly #generationMax: number
  #younger = new Map<string, Occupant>()
  #older = new Map<string, Occupant>()

  constructor(seatsMax: number) {
    this.#generationMax = Math.ceil(seatsMax / 2)
  }

  add(seat: Occupant): void {
    if (this.#younger.size >= this.#generationMax) {
      this.#older = this.#younger
      this.#younger = new Map()
    }
    this.#younger.set(seat.run.id, seat)
  }

  /** The run of that id, unless it began before then. */
  find(runId: string, sinceMs: number): Occupant | undefined {
    const seat = this.#younger.get(runId) ?? this.#older.get(runId)
    return seat && seat.startedMs >= sinceMs ? seat : undefined
  }

  /** How deep the deepest of those is that did not begin before then. */
  findDepth(sinceMs: number): number {
    let depth = 0
    for (const seats of [this.#younger, this.#older])
      for (const { run, startedMs } of seats.values()) if (startedMs >= sinceMs) depth = Math.max(depth, run.depth)
    return depth
  }

  clear(): void {
    this.#younger.clear()
    this.#older.clear()
  }
}
