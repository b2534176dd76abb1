import type { Caller } from "../access.ts"
import { getVal } from "../vals/vals.ts"
import type { LiveRuns } from "./live-runs.ts"
import { getRun, type RunDeps, runNotFound } from "./runs.ts"

/** What cancelling needs. */
export interface CancelDeps extends RunDeps {
  readonly liveRuns: LiveRuns
  now(): number
}

/** Cancels a run that the caller may see. Returns false when it had already ended. */
export async function cancelRun(
  deps: CancelDeps,
  caller: Caller,
  id: string,
  valId?: string,
): Promise<boolean> {
  if (valId !== undefined) await getVal(deps, caller, valId)
  const run = await getRun(deps, caller, id)
  if (valId !== undefined && run.val.id !== valId) throw runNotFound(id)
  const live = deps.liveRuns.find(id)
  if (live && live.endedAt === null) {
    live.cancel()
    return true
  }
  // An attempt that has just ended may be repeated: its record says whether.
  await live?.settled()
  return deps.runs.requestCancel(
    id,
    { name: "Cancelled", message: "The run was cancelled" },
    deps.now(),
  )
}
