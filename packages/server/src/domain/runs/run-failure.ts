import { AppError } from "../app-error.ts"
import type { Stopped } from "./runner.ts"
import type { RunError } from "./runs.ts"

/**
 * A val that was called and did not return: not our failure, but the answer to whoever called it.
 */
export class RunFailure extends AppError {
  constructor(
    code: "run_failed" | "run_timed_out",
    message: string,
    readonly runId: string,
    /** As it was thrown; only for the val's owner. */
    readonly runError: RunError | undefined,
  ) {
    super(code, message)
  }
}

/** The failure of a call, as its caller may know it. */
export function toRunFailure(
  stopped: Stopped,
  runId: string,
  label: string,
  isOwner: boolean,
): RunFailure {
  const { status, error } = stopped
  const code = status === "timed_out" ? "run_timed_out" : "run_failed"
  return new RunFailure(
    code,
    `Cannot run val "${label}": ${error.message}`,
    runId,
    isOwner ? error : undefined,
  )
}
