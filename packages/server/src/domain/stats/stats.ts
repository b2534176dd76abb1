import type { Caller } from "../access.ts"
import type { RunRequest, RunStatus } from "../runs/runs.ts"
import { getVal, type ValStore } from "../vals/vals.ts"
import { isError, newTally, type RunCounts, type RunSample, tally, toCounts } from "./run-tally.ts"

/** A span of time in milliseconds: `since` is exclusive, `until` inclusive. */
export interface Span {
  readonly since: number
  readonly until: number
}

/** Runs, newest first, in batches, so that reading many does not block others. */
export type RunBatches = AsyncIterable<readonly RunSample[]>

/** Reads runs for statistics. */
export interface StatStore {
  /** The runs on the account. */
  walkAccount(accountId: string, span: Span): RunBatches
  /** The runs of the val, or only those on an account other than the owner's. */
  walkVal(valId: string, accountId: string | undefined, span: Span): RunBatches
  /** The requests that started these runs, by run; runs without a request are left out. */
  findRequests(runIds: readonly string[]): Promise<ReadonlyMap<string, RunRequest>>
}

/** How much is read for one response. */
export interface StatLimits {
  readonly runsMax: number
  readonly activityValsMax: number
}

const defaults: StatLimits = { runsMax: 20_000, activityValsMax: 1_000 }

/** What statistics need. */
export interface StatDeps {
  readonly vals: ValStore
  readonly stats: StatStore
  now(): number
}

/** The requested span and number of buckets. The default is the last day. */
export interface StatQuery {
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly buckets: number
}

/** The runs of a span in buckets. */
export interface Stats extends Span {
  readonly bucketMs: number
  readonly buckets: readonly (RunCounts & { readonly at: number })[]
  readonly total: RunCounts
  /** Only the newest runs are counted, since there are too many. */
  readonly isPartial: boolean
}

/** The runs of one val in buckets. */
export interface ValActivity {
  readonly valId: string
  readonly runs: readonly number[]
  readonly errors: readonly number[]
  readonly lastRunAt: number
  readonly lastStatus: RunStatus
  readonly lastRunId: string
  readonly lastRequest: RunRequest | null
}

/** The runs of several vals in a span, most recently run first. */
export interface Activity extends Span {
  readonly bucketMs: number
  readonly vals: readonly ValActivity[]
  readonly isPartial: boolean
}

const dayMs = 86_400_000
const hourMs = 3_600_000
/** The earliest time with a four-digit year. */
const timeMin = Date.parse("0000-01-01T00:00:00Z")

/** Statistics of the caller's account, without vals that the caller may no longer see. */
export function getAccountStats(
  deps: StatDeps,
  caller: Caller,
  query: StatQuery,
  limits = defaults,
): Promise<Stats> {
  const span = toSpan(deps, query)
  return countRuns(deps.stats.walkAccount(caller.userId, span), span, query.buckets, limits)
}

/** The val's runs; all runs for its owner, otherwise only the caller's. */
export async function getValStats(
  deps: StatDeps,
  caller: Caller,
  valId: string,
  query: StatQuery,
  limits = defaults,
): Promise<Stats> {
  const val = await getVal(deps, caller, valId)
  const span = toSpan(deps, query)
  const accountId = val.ownerId === caller.userId ? undefined : caller.userId
  return countRuns(deps.stats.walkVal(valId, accountId, span), span, query.buckets, limits)
}

/** The runs of each of the caller's own vals, on the caller's account, in the last hours. */
export async function getActivity(
  deps: Pick<StatDeps, "stats" | "now">,
  { userId }: Caller,
  query: { readonly hours: number; readonly buckets: number },
  limits = defaults,
): Promise<Activity> {
  const until = deps.now()
  const span = { since: until - query.hours * hourMs, until }
  const { bucketMs, bucketCount, bucketOf } = divide(span, query.buckets)
  const vals = new Map<string, CountedVal>()
  let hasMoreVals = false
  const hasMoreRuns = await visitRuns(
    deps.stats.walkAccount(userId, span),
    limits.runsMax,
    (run) => {
      // Runs of unsaved code are recorded under the owner's id instead of a val's.
      if (run.ownerId !== userId || run.valId === userId) return
      if (!vals.has(run.valId) && vals.size === limits.activityValsMax) {
        hasMoreVals = true
        return
      }
      const val = vals.get(run.valId) ?? toCountedVal(run, bucketCount)
      vals.set(run.valId, val)
      const bucket = bucketOf(run.startedAt)
      val.runs[bucket] = (val.runs[bucket] ?? 0) + 1
      if (isError(run.status)) val.errors[bucket] = (val.errors[bucket] ?? 0) + 1
    },
  )
  const requests = await deps.stats.findRequests([...vals.values()].map((val) => val.lastRunId))
  const withRequests = [...vals.values()].map((val) => ({
    ...val,
    lastRequest: requests.get(val.lastRunId) ?? null,
  }))
  return { ...span, bucketMs, vals: withRequests, isPartial: hasMoreRuns || hasMoreVals }
}

interface CountedVal extends Omit<ValActivity, "lastRequest"> {
  readonly runs: number[]
  readonly errors: number[]
}

/** Empty counts of a val, given its latest run. */
function toCountedVal({ id, valId, startedAt, status }: RunSample, length: number): CountedVal {
  const zeros = () => Array.from({ length }, () => 0)
  const last = { lastRunId: id, lastRunAt: startedAt, lastStatus: status }
  return { valId, runs: zeros(), errors: zeros(), ...last }
}

function toSpan(deps: Pick<StatDeps, "now">, query: StatQuery): Span {
  const until = query.until ?? deps.now()
  const since = query.since ?? Math.max(timeMin, until - dayMs)
  return { since, until }
}

/**
 * Divides the span into buckets of the same whole number of milliseconds. The last one may end
 * after the span. A short span has fewer buckets, and a span that ends before it starts has none:
 * lists accept such a span too.
 */
function divide({ since, until }: Span, bucketsMax: number) {
  const bucketMs = Math.max(1, Math.ceil((until - since) / bucketsMax))
  const bucketCount = Math.max(0, Math.ceil((until - since) / bucketMs))
  return { bucketMs, bucketCount, bucketOf: (at: number) => Math.ceil((at - since) / bucketMs) - 1 }
}

async function countRuns(
  batches: RunBatches,
  span: Span,
  bucketsMax: number,
  { runsMax }: StatLimits,
): Promise<Stats> {
  const { bucketMs, bucketCount, bucketOf } = divide(span, bucketsMax)
  const tallies = Array.from({ length: bucketCount }, newTally)
  const isPartial = await visitRuns(batches, runsMax, (run) => {
    const bucket = tallies[bucketOf(run.startedAt)]
    if (bucket && run.ownerId !== null) tally(bucket, run)
  })
  const buckets = tallies.map((one, index) => ({
    at: span.since + index * bucketMs,
    ...toCounts([one]),
  }))
  return { ...span, bucketMs, buckets, total: toCounts(tallies), isPartial }
}

/** Visits the newest runs. Returns whether there are more. */
async function visitRuns(
  batches: RunBatches,
  runsMax: number,
  visit: (run: RunSample) => void,
): Promise<boolean> {
  let visited = 0
  for await (const batch of batches) {
    for (const run of batch) {
      if (visited === runsMax) return true
      visited += 1
      visit(run)
    }
  }
  return false
}
