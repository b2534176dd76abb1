import { AsyncLocalStorage } from "node:async_hooks"
import { findActing } from "./access/acting.ts"

const current = new AsyncLocalStorage<number>()

/** Runs the work so that `findCallDepth` returns the depth inside it. */
export function runAtDepth<T>(depth: number, work: () => T): T {
  return depth === 0 ? work() : current.run(depth, work)
}

/**
 * The number of vals that called each other before the current request; 0 outside of a request. An
 * event that the request causes carries it on, so that events and vals cannot cause each other
 * forever.
 */
export function findCallDepth(): number {
  return current.getStore() ?? 0
}

/** What has caused a write. */
export interface Cause {
  readonly depth: number
  /** The person, who is the author of new versions; null where no request has caused it. */
  readonly actorId: string | null
}

/** The cause of what the current request writes. */
export function findCause(): Cause {
  return { depth: findCallDepth(), actorId: findActing()?.actorId ?? null }
}
