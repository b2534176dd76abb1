import type { LogTail } from "../control/log-tail.ts"
import {
  type AsyncContext,
  getAsyncContext,
  type PrintingConsole,
  setAsyncContext,
} from "../internals.ts"
import type { ErrorText } from "../protocol.ts"

/** A run in the guest; the asynchronous context of the val's code refers to it. */
export interface Run {
  readonly id: string
  /** The header of a traced call, which has no request of its own. */
  traceparent: string | null
  /** The size of all messages so far, in UTF-8. */
  logBytes: number
  logCount: number
  /** The last lines of a log that is too long to be sent completely. */
  tail: LogTail | undefined
  /** The first uncaught error. */
  failure: { readonly thrown: unknown; readonly error: ErrorText } | undefined
  /** Ends the pending response with a failure. */
  end: ((response: Response) => void) | undefined
  /** The console with the run's indentation, counts and timers; created when first needed. */
  console: PrintingConsole | undefined
  /** Its neighbours in the list of active runs. */
  older: Run | undefined
  newer: Run | undefined
  isActive: boolean
}

/** Creates a run. */
export function createRun(id: string): Run {
  return {
    id,
    traceparent: null,
    logBytes: 0,
    logCount: 0,
    tail: undefined,
    failure: undefined,
    end: undefined,
    console: undefined,
    older: undefined,
    newer: undefined,
    isActive: false,
  }
}

/**
 * The active runs are a linked list: with a Set a request takes 2 µs longer, a seventh of its whole
 * time.
 */
let newest: Run | undefined
let activeCount = 0

/** The run that loaded the module. Code that belongs to no other run is attributed to it. */
let loadRun: Run | undefined

export function setLoadRun(run: Run): void {
  loadRun = run
}

/**
 * Opens the run with this id. The run that waited for the module continues as the same run: what
 * was logged during loading is its own.
 */
export function openRun(id: string): Run {
  const run = loadRun !== undefined && loadRun.id === id ? loadRun : createRun(id)
  if (run.isActive) return run
  run.isActive = true
  run.older = newest
  if (newest !== undefined) newest.newer = run
  newest = run
  activeCount += 1
  return run
}

/**
 * Closes a run whose response is complete. Code that it left running keeps the run in its context.
 */
export function closeRun(run: Run): void {
  run.end = undefined
  if (!run.isActive) return
  run.isActive = false
  if (run.newer === undefined) newest = run.older
  else run.newer.older = run.older
  if (run.older !== undefined) run.older.newer = run.newer
  run.older = undefined
  run.newer = undefined
  activeCount -= 1
}

/** Calls `work(argument)` so that it, and everything it starts, belongs to `run`. */
export function inRun<Argument, Result>(
  run: Run,
  work: (argument: Argument) => Result,
  argument: Argument,
): Result {
  const outer = getAsyncContext()
  // An AsyncLocalStorage of the val adds its store to a copy of this object, under a number.
  setAsyncContext({ __proto__: null, run } as unknown as AsyncContext)
  try {
    return work(argument)
  } finally {
    setAsyncContext(outer)
  }
}

/**
 * Called where Deno calls the guest from its event loop. An `import()` leaves its caller's context
 * there, and code without a context would be attributed to that run.
 */
export function clearRunContext(): void {
  setAsyncContext(undefined)
}

/**
 * The run of the executing code; without a context, the only active run, or else the one that
 * loaded the module.
 */
export function currentRun(): Run | undefined {
  const run = getAsyncContext()?.run as Run | undefined
  if (run !== undefined) return run
  return activeCount === 1 ? newest : loadRun
}
