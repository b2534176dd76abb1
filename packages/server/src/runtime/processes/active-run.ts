import type { RunListener, Stopped } from "../../domain/runs/runner.ts"

/** A run in a process, as the process sees it. */
export interface ActiveRun {
  readonly run: RunListener
  readonly startedMs: number
  /** The run has logged a line, which it has been given. */
  noteLog(): void
  /** Whatever the run waits for ends like this. */
  endWith(outcome: Stopped): void
  /** Looked at now and then: what takes too long, or what nobody waits for any longer, is ended. */
  sweep(nowMs: number): void
}
