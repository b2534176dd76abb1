import type { Output } from "@hamlet/contract/client"
import { findHeader } from "../../../ui/response-view.tsx"
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

/**
 * The run of the page that the frame shows now, among the new ones: the browser says in a header
 * what a request is for. A page may have posted before it was loaded again, and fetch more since.
 * `isLast` takes the newest run if none has that header: browsers send it over https and on
 * localhost only.
 */
export async function findPageRun(
  recent: RecentRuns,
  known: ReadonlySet<string>,
  signal: AbortSignal,
  isLast: boolean,
): Promise<RunDetail | undefined> {
  const added = (await recent.refresh())
    .filter(({ id, source, status }) => source === "http" && status !== "running" && !known.has(id))
    .slice(0, limits.runsReadMax)
  let newest: RunDetail | undefined
  for (const { id } of added) {
    const run = await api.getRun({ run_id: id }, { signal })
    newest ??= run
    if (pageUses.has(findHeader(run.requestContent?.headers ?? [], "sec-fetch-dest"))) return run
  }
  return isLast ? newest : undefined
}

/**
 * The last run that a page of the file was returned by; without one, the last run of a GET request. What a page
 * fetches is newer than the page: each path is looked at once.
 */
export async function findLastPage(
  recent: RecentRuns,
  fileId: string | undefined,
  signal: AbortSignal,
): Promise<RunDetail | undefined> {
  const gets = (await recent.refresh()).filter(
    ({ source, status, request, file }) =>
      source === "http" &&
      status !== "running" &&
      request?.method === "GET" &&
      (file === null || file.id === fileId),
  )
  const byUrl = new Map(gets.toReversed().map((run) => [run.request?.url, run]))
  const newest = gets.filter((run) => byUrl.get(run.request?.url) === run)
  let first: RunDetail | undefined
  for (const { id } of newest.slice(0, limits.runsReadMax)) {
    const run = await api.getRun({ run_id: id }, { signal })
    first ??= run
    if (isPage(run)) return run
  }
  return first
}

/** Whether a response was a page, and not data. */
export function isPage({ responseContent }: Pick<RunDetail, "responseContent">): boolean {
  const type = findHeader(responseContent?.headers ?? [], "content-type")
  return /^(?:text\/html|application\/xhtml\+xml)\b/i.test(type)
}

const limits = { runsReadMax: 8 }
const pageUses: ReadonlySet<string> = new Set(["document", "iframe", "frame"])

function isFor({ request }: ListedRun, path: string): boolean {
  if (!request) return false
  const { pathname, search } = new URL(request.url)
  const wanted = new URL(path, request.url)
  return pathname === wanted.pathname && search === wanted.search
}
