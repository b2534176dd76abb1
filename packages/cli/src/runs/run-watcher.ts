import { ApiError, type Client, ConnectionError } from "@hamlet/contract/client"
import { limits } from "../limits.ts"
import type { LogLine } from "./log-lines.ts"
import { getEndedRun, type Run } from "./runs.ts"

/** What watching needs, and who is told. */
export interface RunWatcherDeps {
  readonly client: Client
  /** Runs that began after a moment, newest first; all of them where there is none. */
  listRuns(since: Date | undefined, limit: number): AsyncIterable<Run>
  onLog(run: Run, line: LogLine): void
  /** A run that did not succeed. */
  onFailure(run: Run): void
  /** Something that whoever waits should know. */
  onProblem(text: string): void
}

/** Shows what the latest runs have logged, the oldest first. */
export async function showLatest(deps: RunWatcherDeps, count: number): Promise<void> {
  for (const run of await listLatest(deps, count)) await showRun(deps, run)
}

/**
 * Shows the latest runs and then everything that happens, for ever. New runs are looked for at
 * intervals and each is followed as it goes; a server that goes away is waited for.
 */
export async function watchRuns(deps: RunWatcherDeps, count: number): Promise<never> {
  const latest = await listLatest(deps, count)
  const seen = new Map(latest.map((run) => [run.id, Date.parse(run.runStartAt)]))
  const startedMs = Date.now()
  const queue = createQueue(deps)
  for (const run of latest) queue.add(run)
  for (let isAway = false; ; ) {
    await Bun.sleep(limits.followPollMs)
    try {
      for (const run of await listUnseen(deps, seen, startedMs)) queue.add(run)
      if (isAway) deps.onProblem("The server answers again")
      isAway = false
    } catch (error) {
      if (!isTemporary(error)) throw error
      if (!isAway) deps.onProblem(`${(error as Error).message}; trying again until it does`)
      isAway = true
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

/**
 * Runs of requests are written a little late, so that a run may appear before one that began
 * earlier.
 */
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
    // What began before anybody watched is not news.
    if (!seen.has(run.id) && beganMs > startedMs - limits.followOverlapMs) runs.push(run)
    seen.set(run.id, beganMs)
  }
  for (const [id, beganMs] of seen) if (beganMs < sinceMs) seen.delete(id)
  return runs.reverse()
}

/** Follows so many runs at once as the server lets one account; the others wait for their turn. */
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
          `There are too many runs to show: "hamlet run logs ${run.id}" shows one that was left out`,
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

/** Whether a failure is over sooner or later without anybody doing anything about it. */
export function isTemporary(error: unknown): boolean {
  return (
    error instanceof ConnectionError ||
    (error instanceof ApiError && (error.status === 429 || error.status >= 500))
  )
}
