import { ApiError, type Client, ConnectionError } from "@hamlet/contract/client"
import { limits } from "../limits.ts"
import type { LogLine } from "./log-lines.ts"
import { getEndedRun, type Run } from "./runs.ts"

/** Dependencies and callbacks of a run watcher. */
export interface RunWatcherDeps {
  readonly client: Client
  /** Lists runs that started after `since`, newest first; all runs if it is undefined. */
  listRuns(since: Date | undefined, limit: number): AsyncIterable<Run>
  onLog(run: Run, line: LogLine): void
  /** Called with a run that did not succeed. */
  onFailure(run: Run): void
  /** Called with a note for the user. */
  onProblem(text: string): void
}

/** Reports the logs of the latest runs, oldest first. */
export async function showLatest(deps: RunWatcherDeps, count: number): Promise<void> {
  for (const run of await listLatest(deps, count)) await showRun(deps, run)
}

/**
 * Reports the latest runs and then follows new ones forever. New runs are polled for, each is
 * followed live, and a server that is unavailable is waited for.
 */
export async function watchRuns(deps: RunWatcherDeps, count: number): Promise<never> {
  const latest = await listLatest(deps, count)
  const seen = new Map(latest.map((run) => [run.id, Date.parse(run.runStartAt)]))
  const startedMs = Date.now()
  const queue = createQueue(deps)
  // One after the other, so that the oldest comes first. Those that still run are followed.
  for (const run of latest) {
    if (run.runEndAt === null) queue.add(run)
    else await showRun(deps, run)
  }
  for (let isOffline = false; ; ) {
    await Bun.sleep(limits.followPollMs)
    try {
      for (const run of await listUnseen(deps, seen, startedMs)) queue.add(run)
      if (isOffline) deps.onProblem("The server responds again")
      isOffline = false
    } catch (error) {
      if (!isTemporary(error)) throw error
      if (!isOffline) deps.onProblem(`${(error as Error).message}; retrying`)
      isOffline = true
    }
  }
}

async function listLatest({ listRuns }: RunWatcherDeps, count: number): Promise<readonly Run[]> {
  const runs: Run[] = []
  if (count === 0) return runs
  for await (const run of listRuns(undefined, Math.min(count, limits.pageItemsMax))) {
    runs.push(run)
    if (runs.length === count) break
  }
  return runs.reverse()
}

/** Runs of requests are written late, so a run may appear before one that started earlier. */
async function listUnseen(
  { listRuns }: RunWatcherDeps,
  seen: Map<string, number>,
  startedMs: number,
): Promise<readonly Run[]> {
  const latestMs = Math.max(startedMs, ...seen.values())
  const sinceMs = latestMs - limits.followOverlapMs
  const runs: Run[] = []
  for await (const run of listRuns(new Date(sinceMs), limits.pageItemsMax)) {
    const beganMs = Date.parse(run.runStartAt)
    // A run that started before the watch is not new.
    if (!seen.has(run.id) && beganMs > startedMs - limits.followOverlapMs) runs.push(run)
    seen.set(run.id, beganMs)
  }
  for (const [id, beganMs] of seen) if (beganMs < sinceMs) seen.delete(id)
  return runs.reverse()
}

/** Follows as many runs at once as the server allows per account; others wait. */
function createQueue(deps: RunWatcherDeps) {
  const waiting: Run[] = []
  let active = 0
  const next = () => {
    if (active >= limits.followedMax) return
    const run = waiting.shift()
    if (!run) return
    active += 1
    void showRun(deps, run)
      .catch((error: unknown) =>
        deps.onProblem(error instanceof Error ? error.message : String(error)),
      )
      .finally(() => {
        active -= 1
        next()
      })
  }
  return {
    add(run: Run) {
      if (waiting.length >= limits.followWaitingMax)
        return deps.onProblem(
          `Too many runs to show: a run was skipped; see it with "hamlet run logs ${run.id}"`,
        )
      waiting.push(run)
      next()
    },
  }
}

async function showRun(deps: RunWatcherDeps, run: Run): Promise<void> {
  const { client } = deps
  let { status } = run
  if (run.runEndAt !== null)
    for (const line of (await client.getRunLogs({ run_id: run.id })).data) deps.onLog(run, line)
  else
    for await (const event of client.follow({ run_id: run.id })) {
      if (event.kind === "log") deps.onLog(run, event.line)
      else status = event.status
    }
  if (status !== "succeeded")
    deps.onFailure(run.runEndAt === null ? await getEndedRun(client, run.id) : run)
}

/** Whether a failure may go away by itself. */
export function isTemporary(error: unknown): boolean {
  return (
    error instanceof ConnectionError ||
    (error instanceof ApiError && (error.status === 429 || error.status >= 500))
  )
}
