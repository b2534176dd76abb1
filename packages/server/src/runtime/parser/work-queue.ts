import type { CodeToolsLimits } from "./code-tools-limits.ts"

/** Something that waits for a parser. */
export interface WaitingWork {
  /** Undefined for work that is of no owner. */
  readonly owner: string | undefined
  /** How long its code is. */
  readonly chars: number
}

type QueueLimits = Pick<
  CodeToolsLimits,
  "waitingMax" | "waitingPerOwnerMax" | "waitingCharsMax" | "waitMsMax"
>

/** Work that waits: within an owner first come, first served; between owners by turns. */
export class WorkQueue<Work extends WaitingWork> {
  readonly #limits: QueueLimits
  readonly #onLate: (work: Work) => void
  /** In the order of their turns: the owner whose work was taken last is at the end. */
  readonly #owners = new Map<string | undefined, Work[]>()
  readonly #timers = new Map<Work, Timer>()
  #chars = 0

  /** `onLate` is told of work that has waited for too long, and waits no more. */
  constructor(limits: QueueLimits, onLate: (work: Work) => void) {
    this.#limits = limits
    this.#onLate = onLate
  }

  /** False when there is no room for it. */
  add(work: Work): boolean {
    const { waitingMax, waitingPerOwnerMax, waitingCharsMax } = this.#limits
    const ofOwner = this.#owners.get(work.owner)?.length ?? 0
    if (
      this.#timers.size >= waitingMax ||
      (work.owner !== undefined && ofOwner >= waitingPerOwnerMax)
    )
      return false
    // One piece may always wait, however long it is.
    if (this.#timers.size > 0 && this.#chars + work.chars > waitingCharsMax) return false
    this.#listOf(work.owner).push(work)
    this.#note(work)
    return true
  }

  /** Back to where it was: it has waited before, so there is room for it. */
  addFirst(work: Work): void {
    this.#listOf(work.owner).unshift(work)
    this.#note(work)
  }

  /** The next piece of an owner whose turn it may be. */
  take(mayTake: (owner: string | undefined) => boolean): Work | undefined {
    for (const [owner, [work]] of this.#owners) {
      if (!work || !mayTake(owner)) continue
      const left = this.#remove(work)
      if (left.length > 0) this.#owners.set(owner, left)
      return work
    }
    return undefined
  }

  /** Everything that waits, which does no more. */
  clear(): readonly Work[] {
    const all = [...this.#timers.keys()]
    for (const work of all) this.#remove(work)
    this.#owners.clear()
    return all
  }

  #listOf(owner: string | undefined): Work[] {
    const known = this.#owners.get(owner)
    if (known) return known
    const list: Work[] = []
    this.#owners.set(owner, list)
    return list
  }

  #note(work: Work): void {
    this.#chars += work.chars
    this.#timers.set(
      work,
      setTimeout(() => {
        const left = this.#remove(work)
        if (left.length > 0) this.#owners.set(work.owner, left)
        this.#onLate(work)
      }, this.#limits.waitMsMax),
    )
  }

  /** Gives what the owner has left, who has no turn until it is put back. */
  #remove(work: Work): Work[] {
    clearTimeout(this.#timers.get(work))
    this.#timers.delete(work)
    this.#chars -= work.chars
    const left = (this.#owners.get(work.owner) ?? []).filter((other) => other !== work)
    this.#owners.delete(work.owner)
    return left
  }
}
