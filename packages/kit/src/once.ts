import { AsyncLocalStorage } from "node:async_hooks"

/** The claim of an idempotency key. No two claims of a key expire at the same time. */
export interface KeyClaim {
  readonly userId: string
  readonly key: string
  readonly expiresAt: number
}

/** An idempotent request, for a store outside of the main database that records what it has done. */
export interface IdempotentRequest {
  /** A hash of the user, the key and the content of the request. */
  readonly hash: string
  readonly at: number
  /** What was recorded until then is forgotten, like the response. */
  readonly discardBefore: number
}

/** The value of one recorded step. Wrapped in an object, since JSON has no undefined. */
export interface OnceStep {
  readonly value?: unknown
}

/**
 * Work that takes effect once, even if the server crashes meanwhile. Each write also stores, in the
 * same transaction, the steps so far: values written and values generated. When the same request
 * comes again, the work starts over, but recorded steps return their recorded values instead of
 * being executed, so that it produces the same response. The steps must come in the same order each
 * time.
 */
export class Once {
  readonly claim: KeyClaim
  readonly request: IdempotentRequest
  readonly #seal: (steps: readonly OnceStep[]) => Uint8Array
  readonly #steps: OnceStep[]
  #next = 0
  #hasWritten: boolean

  constructor(
    claim: KeyClaim,
    request: IdempotentRequest,
    recorded: readonly OnceStep[],
    seal: (steps: readonly OnceStep[]) => Uint8Array,
  ) {
    this.claim = claim
    this.request = request
    this.#steps = [...recorded]
    this.#hasWritten = recorded.length > 0
    this.#seal = seal
  }

  /** Whether any step is on disk. */
  get hasWritten(): boolean {
    return this.#hasWritten
  }

  /** The next step, if it was recorded by an earlier attempt. */
  takeRecorded(): OnceStep | undefined {
    const step = this.#steps[this.#next]
    if (step) this.#next += 1
    return step
  }

  /** The progress to store together with the next step. */
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

const current = new AsyncLocalStorage<Once | undefined>()

/**
 * Runs the work so that `findOnce` returns `once` inside it. It is undefined for a request without a
 * key: a run may have sent it that was started by a request with one, which it is no part of.
 */
export function runOnce<T>(once: Once | undefined, work: () => Promise<T>): Promise<T> {
  return current.run(once, work)
}

/** The Once of the current work; undefined for requests without an idempotency key. */
export function findOnce(): Once | undefined {
  return current.getStore()
}

/**
 * Generates a value such as an id or a token, or returns the recorded one when the work is
 * repeated. The value must be serializable as JSON.
 */
export function makeOnce<T>(make: () => T): T {
  const once = findOnce()
  if (!once) return make()
  const recorded = once.takeRecorded()
  if (recorded) return recorded.value as T
  const value = make()
  once.record(value)
  return value
}
