import type { activity, stats } from "@hamlet/contract"
import type { z } from "zod"
import type { RunCounts } from "../../domain/stats/run-tally.ts"
import type { Activity, Stats } from "../../domain/stats/stats.ts"

/** Numbers of runs over time. */
export function toStatsView(it: Stats): z.infer<typeof stats> {
  return {
    since: toTime(it.since),
    until: toTime(it.until),
    bucketMs: it.bucketMs,
    buckets: it.buckets.map((bucket) => ({ at: toTime(bucket.at), ...toCountsView(bucket) })),
    total: toCountsView(it.total),
    isPartial: it.isPartial,
  }
}

/** Numbers of runs of several vals over time. */
export function toActivityView(it: Activity): z.infer<typeof activity> {
  return {
    since: toTime(it.since),
    until: toTime(it.until),
    bucketMs: it.bucketMs,
    data: it.vals.map((val) => ({
      valId: val.valId,
      runs: [...val.runs],
      errors: [...val.errors],
      lastRunAt: toTime(val.lastRunAt),
      lastStatus: val.lastStatus,
    })),
    isPartial: it.isPartial,
  }
}

function toCountsView({ runs, errors, p50Ms, p95Ms }: RunCounts): z.infer<typeof stats>["total"] {
  return { runs, errors, p50Ms, p95Ms }
}

function toTime(ms: number): string {
  return new Date(ms).toISOString()
}
