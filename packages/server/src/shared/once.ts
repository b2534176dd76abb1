import { AsyncLocalStorage } from "node:async_hooks"

/** A key that is being worked under; no two claims of a key expire at the same time. */
export interface Claim {
  readonly userId: string
  readonly key: string
  readonly expiresAt: number
}

/** One thing that the work did or made up. An object, because JSON has no way to say nothing. */
export interface OnceStep {
  readonly value?: unknown
}

/**
 * Work that is done once, even if the server dies over it. Each of its writes keeps, in the same
 * transaction, what the work has done and made up so far. When the same request comes again, the
 * work is done again from its beginning, but what was written is not written again: the work is
 * given what came of it then, and so it comes to the same answer. The steps of the work must
 * therefore come in the same order each time.
 */
export class Once {
  readonly claim: Claim
  readonly #seal: (steps: readonly OnceStep[]) => Uint8Array
  readonly #steps: OnceStep[]
  #next = 0
  #hasWritten: boolean

  constructor(
    claim: Claim,
    known: readonly OnceStep[],
    seal: (steps: readonly OnceStep[]) => Uint8Array,
  ) {
    this.claim = claim
    this.#steps = [...known]
    this.#hasWritten = known.length > 0
    this.#seal = seal
  }

  /** Whether something of the work is on disk. */
  get hasWritten(): boolean {
    return this.#hasWritten
  }

  /** What came of the next step, if it was done before. */
  takeRecorded(): OnceStep | undefined {
    const step = this.#steps[this.#next]
    if (step) this.#next += 1
    return step
  }

  /** What to keep together with the next step. */
  toProgress(value: unknown): Uint8Array {
    return this.#seal([...this.#steps, { value }])
  }

  recordWritten(value: unknown): void {
    this.#hasWritten = true
    this.record(value)
  }

  record(value: unknown): void {
    this.#steps.push({ value })
    this.#next += 1
  }
}

const current = new AsyncLocalStorage<Once>()

/** Does the work so that its writes know what they belong to. */
export function runOnce<T>(once: Once, work: () => Promise<T>): Promise<T> {
  return current.run(once, work)
}

/** What the work at hand is done under; undefined where nobody asked for it to be done once. */
export function findOnce(): Once | undefined {
  return current.getStore()
}

/**
 * Makes something up, like an id or a token; the same again when the work is done again. What it
 * makes must be fit for JSON.
 */
export function makeOnce<T>(make: () => T): T {
  const once = findOnce()
  if (!once) return make()
  const known = once.takeRecorded()
  if (known) return known.value as T
  const value = make()
  once.record(value)
  return value
}
