import {
  type AsyncContext,
  getAsyncContext,
  type PrintingConsole,
  setAsyncContext,
} from "../internals.ts"
import type { ErrorText } from "../protocol.ts"

/** One run as the guest knows it; it is what the asynchronous context of the val's code carries. */
export interface Run {
  readonly id: string
  /** Of all messages so far, in UTF-8. */
  logBytes: number
  logCount: number
  areLogsTruncated: boolean
  /** The first error that nobody caught. */
  failure: { readonly thrown: unknown; readonly error: ErrorText } | undefined
  /** Ends the answer that is waited for, with a failure. */
  end: ((answer: Response) => void) | undefined
  /** Indentation, counts and timers of console; there when a method was called that needs them. */
  console: PrintingConsole | undefined
  /** Its neighbours among the active runs. */
  older: Run | undefined
  newer: Run | undefined
  isActive: boolean
}

/** A run that has done nothing yet. */
export function createRun(id: string): Run {
  return {
    id,
    logBytes: 0,
    logCount: 0,
    areLogsTruncated: false,
    failure: undefined,
    end: undefined,
    console: undefined,
    older: undefined,
    newer: undefined,
    isActive: false,
  }
}

/**
 * The active runs are a list that is linked by hand: with a Set a request takes 2 µs longer, a
 * seventh of its whole time.
 */
let newest: Run | undefined
let activeCount = 0

/** The run that loaded the module. It answers for what belongs to no other. */
let loadRun: Run | undefined

export function setLoadRun(run: Run): void {
  loadRun = run
}

/**
 * The run of that id. The one that waited for the module goes on as the same run, for what was
 * logged while it loaded is its own.
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

/** Its answer is complete. What it left running keeps the run in its context. */
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

/** Calls `work(argument)` so that it, and whatever it starts, belongs to `run`. */
export function inRun<Argument, Result>(
  run: Run,
  work: (argument: Argument) => Result,
  argument: Argument,
): Result {
  const outer = getAsyncContext()
  // An AsyncLocalStorage of the val adds its store to a copy of this, under a number.
  setAsyncContext({ __proto__: null, run } as unknown as AsyncContext)
  try {
    return work(argument)
  } finally {
    setAsyncContext(outer)
  }
}

/**
 * To be called where Deno calls us from its event loop. An `import()` leaves the context of whoever
 * asked for it behind there, and what has no context of its own would pass for theirs.
 */
export function clearRunContext(): void {
  setAsyncContext(undefined)
}

/**
 * The run to which the code that is being executed belongs; where no context tells, the only active
 * one, or else the one that loaded it.
 */
export function currentRun(): Run | undefined {
  const run = getAsyncContext()?.run as Run | undefined
  if (run !== undefined) return run
  return activeCount === 1 ? newest : loadRun
}
