import type { Output } from "@hamlet/contract/client"
import { toFullName } from "./names/find-val.ts"
import type { Output as Printer, RecordField } from "./output/output.ts"
import { toAgo } from "./terminal/ago.ts"

/** A schedule, as the API returns it. */
export type Schedule = Output<"getSchedule">

/** Prints a schedule. */
export function printSchedule(output: Printer, schedule: Schedule): void {
  output.record(schedule, toFields(schedule))
}

/** Whether the schedule starts runs, in one word. */
export function toState({ isPaused, isFailing }: Schedule): string {
  if (isPaused) return "paused"
  return isFailing ? "failing" : "active"
}

function toFields(it: Schedule): readonly RecordField[] {
  const now = Date.now()
  const toRelative = (at: string | null) => (at === null ? "" : toAgo(at, now))
  const [next = null, ...later] = it.nextAt
  return [
    ["val", toFullName(it.val)],
    ["runs", it.description],
    ["cron", it.cron],
    ["every", it.every],
    ["time zone", it.timeZone],
    ["state", toState(it)],
    ["reason", it.pausedReason],
    ["overlap", it.overlap],
    ["catch up", it.catchUp],
    ["next", next, next === null ? "" : `${next} (${toRelative(next)})`],
    ["then", later.length === 0 ? null : later.join(" "), later.slice(0, 4).join(" ")],
    ["last run", it.lastRunAt, toRelative(it.lastRunAt)],
    ["last status", it.lastStatus],
    ["failures", it.failureCount],
    ["run", it.lastRunId],
  ]
}
