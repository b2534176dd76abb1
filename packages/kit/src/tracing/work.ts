import { AsyncLocalStorage } from "node:async_hooks"
import type { TraceSpan } from "./tracer.ts"

/** A request, or another piece of work, in progress: what it has waited for, in milliseconds. */
export class Work {
  databaseMs = 0
  /** For others that run at the same time. */
  queueMs = 0
  /** For the body of the request. */
  clientMs = 0
  /** For a process to start. */
  processMs = 0
  /** For other servers, to which the val has sent requests. */
  egressMs = 0
  /**
   * The account or the address that it is done for, while it goes on: owners take turns where work
   * waits. Undefined for work of the server itself.
   */
  owner: string | undefined

  /** The span is undefined where traces are off. */
  constructor(public span?: TraceSpan) {}

  /** Records that a wait ends now. */
  noteWait(wait: "queue" | "process", startMs: number): void {
    this[`${wait}Ms`] += performance.now() - startMs
    this.span?.addChild(wait, "internal", startMs)
  }
}

const current = new AsyncLocalStorage<Work>()

/** Runs a function so that `currentWork` returns the work inside it, and in all that it starts. */
export function runWork<Result>(work: Work, run: () => Result): Result {
  return current.run(work, run)
}

/** The work to which the running code belongs; undefined for none. */
export function currentWork(): Work | undefined {
  return current.getStore()
}

/** Runs a function that serves more than the current work, such as a timer of a queue. */
export function detachWork<Result>(run: () => Result): Result {
  return current.getStore() === undefined ? run() : current.exit(run)
}
