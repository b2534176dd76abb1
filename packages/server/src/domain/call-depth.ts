import { AsyncLocalStorage } from "node:async_hooks"

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
