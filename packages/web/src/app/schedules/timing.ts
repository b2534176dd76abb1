import type { Output } from "@hamlet/contract/client"

/** A schedule as the API returns it. */
export type Schedule = Output<"getSchedule">

/** When a schedule is due, as the form has it. */
export interface Timing {
  readonly kind: "every" | "cron"
  readonly every: string
  readonly cron: string
  readonly timeZone: string
}

/** The timing of a new schedule. */
export const firstTiming: Timing = {
  kind: "every",
  every: "1h",
  cron: "0 9 * * 1-5",
  timeZone: localTimeZone(),
}

/** Expressions that people often want. */
export const timingExamples = {
  every: [
    { label: "5 minutes", text: "5m" },
    { label: "15 minutes", text: "15m" },
    { label: "an hour", text: "1h" },
    { label: "6 hours", text: "6h" },
  ],
  cron: [
    { label: "every day at 09:00", text: "0 9 * * *" },
    { label: "on weekdays", text: "0 9 * * 1-5" },
    { label: "on Mondays", text: "0 9 * * 1" },
    { label: "on the first of the month", text: "0 9 1 * *" },
    { label: "on the last day of the month", text: "0 9 L * *" },
  ],
} as const

/** The timing as the API takes it. Times that are counted from one another need no time zone. */
export function toTimingInput({ kind, every, cron, timeZone }: Timing) {
  return kind === "cron" ? { cron: cron.trim(), timeZone } : { every: every.trim() }
}

/** The time zones of the browser's database, the likely ones first. */
export function listTimeZones(chosen: string): readonly { value: string; label: string }[] {
  const zones = new Set(["UTC", localTimeZone(), chosen, ...Intl.supportedValuesOf("timeZone")])
  return [...zones].map((zone) => ({ value: zone, label: zone.replaceAll("_", " ") }))
}

/** The time zone of this browser. */
export function localTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC"
}
