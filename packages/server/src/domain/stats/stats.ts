import type { Caller } from "../access.ts"
import type { RunStatus } from "../runs/runs.ts"
import { getVal, type ValStore } from "../vals/vals.ts"
import { isError, newTally, type RunCounts, type RunSample, tally, toCounts } from "./run-tally.ts"

/** A span of time in milliseconds: `since` is exclusive, `until` inclusive. */
export interface Span {
  readonly since: number
  readonly until: number
}

/**
 * Runs, newest first, some at a time: whoever goes through many lets others have their turn
 * meanwhile.
 */
export type RunBatches = AsyncIterable<readonly RunSample[]>

/** Where runs are found to be counted. */
export interface StatStore {
  /** The runs on the account. */
  walkAccount(accountId: string, span: Span): RunBatches
  /**
   * The runs of the val; where an account is named, which is not that of the val's owner, only
   * those on it.
   */
  walkVal(valId: string, accountId: string | undefined, span: Span): RunBatches
}

/** How much is looked at for one answer. */
export interface StatLimits {
  readonly runsMax: number
  readonly activityValsMax: number
}

const defaults: StatLimits = { runsMax: 20_000, activityValsMax: 1_000 }

/** What counting needs. */
export interface StatDeps {
  readonly vals: ValStore
  readonly stats: StatStore
  now(): number
}

/** Which span is asked for, in how many buckets; what is left out of it has a default. */
export interface StatQuery {
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly buckets: number
}

/** The runs of a span, bucket by bucket. */
export interface Stats extends Span {
  readonly bucketMs: number
  readonly buckets: readonly (RunCounts & { readonly at: number })[]
  readonly total: RunCounts
  /** There are too many: only the newest are counted. */
  readonly isPartial: boolean
}

/** The runs of one val, bucket by bucket. */
export interface ValActivity {
  readonly valId: string
  readonly runs: readonly number[]
  readonly errors: readonly number[]
  readonly lastRunAt: number
  readonly lastStatus: RunStatus
}

/** The runs of several vals in a span, those that ran last first. */
export interface Activity extends Span {
  readonly bucketMs: number
  readonly vals: readonly ValActivity[]
  readonly isPartial: boolean
}

const dayMs = 86_400_000
const hourMs = 3_600_000
/** The first moment whose year is written with four digits. */
const timeMin = Date.parse("0000-01-01T00:00:00Z")

/** The runs on the caller's account, without those of vals that they may no longer see. */
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

/**
 * The runs of each of the caller's own vals in the last hours, as far as they are on the caller's
 * account.
 */
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
      // Code that is no val has its owner's id in the place of a val's.
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
  return { ...span, bucketMs, vals: [...vals.values()], isPartial: hasMoreRuns || hasMoreVals }
}

interface CountedVal extends ValActivity {
  readonly runs: number[]
  readonly errors: number[]
}

/** Nothing counted yet of a val, whose latest run this is. */
function toCountedVal({ valId, startedAt, status }: RunSample, length: number): CountedVal {
  const zeros = () => Array.from({ length }, () => 0)
  return { valId, runs: zeros(), errors: zeros(), lastRunAt: startedAt, lastStatus: status }
}

function toSpan(deps: Pick<StatDeps, "now">, query: StatQuery): Span {
  const until = query.until ?? deps.now()
  const since = query.since ?? Math.max(timeMin, until - dayMs)
  return { since, until }
}

/**
 * Buckets of the same whole number of milliseconds, of which the last may end after the span; fewer
 * where that has not so many, and none where it ends before it begins, which lists do not refuse
 * either.
 */
function divide({ since, until }: Span, bucketsMax: number) {
  const bucketMs = Math.max(1, Math.ceil((until - since) / bucketsMax))
  const bucketCount = Math.max(0, Math.ceil((until - since) / bucketMs))
  return { bucketMs, bucketCount, bucketOf: (at: number) => Math.ceil((at - since) / bucketMs) - 1 }
}

async function countRuns(
  walk: RunBatches,
  span: Span,
  bucketsMax: number,
  { runsMax }: StatLimits,
): Promise<Stats> {
  const { bucketMs, bucketCount, bucketOf } = divide(span, bucketsMax)
  const tallies = Array.from({ length: bucketCount }, newTally)
  const isPartial = await visitRuns(walk, runsMax, (run) => {
    const bucket = tallies[bucketOf(run.startedAt)]
    if (bucket && run.ownerId !== null) tally(bucket, run)
  })
  const buckets = tallies.map((one, index) => ({
    at: span.since + index * bucketMs,
    ...toCounts([one]),
  }))
  return { ...span, bucketMs, buckets, total: toCounts(tallies), isPartial }
}

/** Goes through the newest runs; true when there are more. */
async function visitRuns(
  walk: RunBatches,
  runsMax: number,
  visit: (run: RunSample) => void,
): Promise<boolean> {
  let visited = 0
  for await (const some of walk) {
    for (const run of some) {
      if (visited === runsMax) return true
      visited += 1
      visit(run)
    }
  }
  return false
}
