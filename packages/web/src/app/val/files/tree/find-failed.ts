import { isFailure } from "../../../runs/list/run-title.ts"
import type { ListedRun } from "../../panes/recent-runs.ts"

/**
 * The ids of the files whose last run failed. The runs are the newest first; one that has not ended
 * says nothing yet.
 */
export function findFailed(
  runs: readonly Pick<ListedRun, "file" | "status" | "request">[],
): ReadonlySet<string> {
  const last = new Map<string, boolean>()
  for (const run of runs) {
    const isEnded = run.status !== "queued" && run.status !== "running"
    if (run.file && isEnded && !last.has(run.file.id)) last.set(run.file.id, isFailure(run))
  }
  return new Set([...last].filter(([, isFailed]) => isFailed).map(([id]) => id))
}
