import type { RunListener, Stopped } from "../domain/execution.ts"

/** A run in a process, as the process sees it. */
export interface Occupant {
  readonly run: RunListener
  readonly startedMs: number
  /** False once an answer has begun: from then on its body decides how long it takes. */
  readonly isWaiting: boolean
  /** The run has logged a line, which it has been given. */
  noteLog(): void
  /** Whatever the run waits for ends like this. */
  endWith(outcome: Stopped): void
  stop(status: "cancelled" | "timed_out"): void
}
