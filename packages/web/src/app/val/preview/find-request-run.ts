import type { Output } from "@hamlet/contract/client"
import { api } from "../../api.ts"
import type { ListedRun, RecentRuns } from "../panes/recent-runs.ts"

type RunDetail = Output<"getRun">

/** The ids of runs. */
export function toIds(runs: readonly ListedRun[]): ReadonlySet<string> {
  return new Set(runs.map(({ id }) => id))
}

/**
 * The run of a request that the frame has sent: a frame does not tell. It is the first new run with
 * that path, since other visitors may use the val at the same time.
 */
export async function findRequestRun(
  recent: RecentRuns,
  known: ReadonlySet<string>,
  path: string,
  signal: AbortSignal,
): Promise<RunDetail | undefined> {
  const found = (await recent.refresh()).findLast(
    (run) => run.source === "http" && !known.has(run.id) && isFor(run, path),
  )
  return found && (await api.getRun({ run_id: found.id }, { signal }))
}

function isFor({ request }: ListedRun, path: string): boolean {
  if (!request) return false
  const { pathname, search } = new URL(request.url)
  const wanted = new URL(path, request.url)
  return pathname === wanted.pathname && search === wanted.search
}
