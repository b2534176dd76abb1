import type { activity, stats, valActivity } from "@hamlet/contract"
import type { Caller } from "../access/caller.ts"
import { type AccountView, isOfAccount, rightsOn } from "../access/rights.ts"
import type { Clock } from "../clock.ts"
import type { Stored } from "../records/stored.ts"
import type { RunRequest, RunStatus } from "../runs/runs.ts"
import type { Vals } from "../vals/vals.ts"

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
  walkAccount(view: AccountView, span: Span): RunBatches
  /** The runs of the val, or only those on an account other than the owner's. */
  walkVal(valId: string, accountId: string | undefined, span: Span): RunBatches
  /** The requests that started these runs, by run; runs without a request are left out. */
  findRequests(runIds: readonly string[]): Promise<ReadonlyMap<string, RunRequest>>
}

/** How much is read for one response. */
const defaults = {
  runsMax: 20_000,
  activityValsMax: 1_000,
}

export type StatLimits = Readonly<typeof defaults>

/** The requested span and number of buckets. The default is the last day. */
export interface StatQuery {
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly buckets: number
  /** Only runs of this file, or of this branch. */
  readonly fileId?: string | undefined
  readonly branchId?: string | undefined
}

/** The runs of a span in buckets. */
export type Stats = Stored<typeof stats>

/** The runs of one val in buckets. */
export type ValActivity = Stored<typeof valActivity>

/** The runs of several vals in a span, most recently run first. */
export interface Activity extends Omit<Stored<typeof activity>, "data"> {
  readonly vals: readonly ValActivity[]
}

const dayMs = 86_400_000
const hourMs = 3_600_000
/** The earliest time with a four-digit year. */
const timeMin = Date.parse("0000-01-01T00:00:00Z")

/** Statistics of runs. */
export type RunStats = ReturnType<typeof createRunStats>

/** Creates the statistics. */
export function createRunStats(
  store: StatStore,
  vals: Vals,
  { now }: Pick<Clock, "now">,
  limits: StatLimits = defaults,
) {
  const toSpan = (query: StatQuery): Span => {
    const until = query.until ?? now()
    return { since: query.since ?? Math.max(timeMin, until - dayMs), until }
  }
  return {
    /** The runs on the caller's account, without vals that the caller may no longer see. */
    getOfAccount(caller: Caller, query: StatQuery): Promise<Stats> {
      const span = toSpan(query)
      return countRuns(store.walkAccount(caller, span), span, query, limits)
    },
    /** The val's runs; all runs for its owner, otherwise only the caller's. */
    async getOfVal(caller: Caller, valId: string, query: StatQuery): Promise<Stats> {
      const val = await vals.get(caller, valId)
      const span = toSpan(query)
      const accountId = rightsOn(val, caller).inspect ? undefined : caller.ownerId
      return countRuns(store.walkVal(valId, accountId, span), span, query, limits)
    },
    /** The runs of each of the caller's own vals, on the caller's account, in the last hours. */
    async getActivity(
      caller: Caller,
      query: { readonly hours: number; readonly buckets: number },
    ): Promise<Activity> {
      const until = now()
      const span = { since: until - query.hours * hourMs, until }
      const { bucketMs, bucketCount, bucketOf } = divide(span, query.buckets)
      const counted = new Map<string, CountedVal>()
      let hasMoreVals = false
      const hasMoreRuns = await visitRuns(
        store.walkAccount(caller, span),
        limits.runsMax,
        (run) => {
          // Runs of unsaved code are recorded under the owner's id instead of a val's.
          if (run.ownerId === null || !isOfAccount({ ownerId: run.ownerId }, caller)) return
          if (run.valId === caller.ownerId) return
          if (!counted.has(run.valId) && counted.size === limits.activityValsMax) {
            hasMoreVals = true
            return
          }
          const val = counted.get(run.valId) ?? toCountedVal(run, bucketCount)
          counted.set(run.valId, val)
          const bucket = bucketOf(run.startedAt)
          val.runs[bucket] = (val.runs[bucket] ?? 0) + 1
          if (isError(run.status)) val.errors[bucket] = (val.errors[bucket] ?? 0) + 1
        },
      )
      const requests = await store.findRequests(
        Array.from(counted.values(), ({ lastRunId }) => lastRunId),
      )
      const withRequests = Array.from(counted.values(), (val) => ({
        ...val,
        lastRequest: requests.get(val.lastRunId) ?? null,
      }))
      return { ...span, bucketMs, vals: withRequests, isPartial: hasMoreRuns || hasMoreVals }
    },
  }
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
  { buckets: bucketsMax, fileId, branchId }: StatQuery,
  { runsMax }: StatLimits,
): Promise<Stats> {
  const { bucketMs, bucketCount, bucketOf } = divide(span, bucketsMax)
  const tallies = Array.from({ length: bucketCount }, newTally)
  const isPartial = await visitRuns(batches, runsMax, (run) => {
    if (fileId !== undefined && run.fileId !== fileId) return
    if (branchId !== undefined && run.branchId !== branchId) return
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

/** The fields of a run that statistics use. */
export interface RunSample {
  readonly id: string
  readonly valId: string
  /** The file that it has started, and its branch. */
  readonly fileId: string
  readonly branchId: string
  readonly startedAt: number
  readonly endedAt: number | null
  readonly status: RunStatus
  /** Null when the viewer may not see the val, or it was deleted. */
  readonly ownerId: string | null
}

/** The number of runs and of errors, and percentiles of the durations of ended runs. */
export interface RunCounts {
  readonly runs: number
  readonly errors: number
  readonly p50Ms: number | null
  readonly p95Ms: number | null
}

/** An accumulator for RunCounts. */
export interface RunTally {
  runs: number
  errors: number
  readonly durationsMs: number[]
}

/** An empty tally. */
function newTally(): RunTally {
  return { runs: 0, errors: 0, durationsMs: [] }
}

/** Adds a run to a tally. */
function tally(to: RunTally, run: RunSample): void {
  to.runs += 1
  if (isError(run.status)) to.errors += 1
  // The clock may have been set back during the run.
  if (run.endedAt !== null) to.durationsMs.push(Math.max(0, run.endedAt - run.startedAt))
}

/** Whether the run failed. A cancelled run is not an error. */
function isError(status: RunStatus): boolean {
  return status === "failed" || status === "timed_out" || status === "crashed"
}

/** The counts of all tallies together. */
function toCounts(tallies: readonly RunTally[]): RunCounts {
  // A Float64Array sorts ten times as fast as an array.
  const durations = Float64Array.from(tallies.flatMap(({ durationsMs }) => durationsMs)).sort()
  return {
    runs: tallies.reduce((sum, { runs }) => sum + runs, 0),
    errors: tallies.reduce((sum, { errors }) => sum + errors, 0),
    p50Ms: percentile(durations, 50),
    p95Ms: percentile(durations, 95),
  }
}

/** The smallest duration that `percent` of all durations do not exceed. */
function percentile(sorted: Float64Array, percent: number): number | null {
  return sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? null
}
