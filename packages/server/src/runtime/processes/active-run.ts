import type { Refused } from "@hamlet/guest/protocol"
import type { RunListener, Stopped } from "../../domain/runs/runner.ts"

/** What a process knows about a run in it. */
export interface ActiveRun {
  readonly run: RunListener
  readonly startedMs: number
  /** Called after a line that the run has logged was delivered. */
  noteLog(): void
  /** Called with the response with which the val refuses a WebSocket. */
  noteRefusal(refusal: Refused): void
  /** Ends the run. What it waits for resolves with this outcome. */
  endWith(outcome: Stopped): void
  /** Ends the run when it takes too long or its client has disconnected. */
  sweep(nowMs: number): void
}
