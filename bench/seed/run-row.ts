import type { SqlValue } from "@hamlet/database"
import { makeId, scramble } from "./random.ts"

interface SeededRun {
  readonly valId: string
  readonly version: number
  readonly accountId: string
  readonly ownerId: string
  /**
   * Its number among the runs of its owner, which decides its source and outcome, equally for all
   * owners.
   */
  readonly place: number
  readonly isByOther: boolean
  readonly at: number
}

/**
 * The row of a run: most are of http vals and succeed, and their texts are short.
 */
export function toRunRow(index: number, run: SeededRun): readonly SqlValue[] {
  const kind = scramble(41, run.place)
  const chance = scramble(43, index)
  const source = run.isByOther ? "api" : toSource(kind % 100)
  const status = toStatus((kind >>> 8) % 100)
  const hasFailed = status !== "succeeded" && status !== "cancelled"
  const error = hasFailed
    ? JSON.stringify({ name: "Error", message: `Cannot go on: number ${chance}` })
    : null
  const request =
    source === "http"
      ? JSON.stringify({
          method: "GET",
          url: `https://example.com/?n=${chance}`,
          status: hasFailed ? 500 : 200,
        })
      : null
  const logs =
    chance % 3 === 0
      ? JSON.stringify([
          { at: new Date(run.at).toISOString(), level: "info", message: `answered ${chance}` },
        ])
      : null
  return [
    makeId(42, index, run.at),
    run.valId,
    run.version,
    run.accountId,
    run.ownerId,
    source,
    status,
    run.at,
    run.at + (chance % 2_000),
    error,
    request,
    source === "api" ? "[]" : null,
    hasFailed ? null : String(chance),
    logs,
  ]
}

function toSource(percent: number): string {
  if (percent < 60) return "http"
  if (percent < 80) return "interval"
  return percent < 95 ? "api" : percent < 98 ? "ui" : "email"
}

function toStatus(percent: number): string {
  if (percent < 90) return "succeeded"
  return percent < 96
    ? "failed"
    : percent < 98
      ? "timed_out"
      : percent < 99
        ? "crashed"
        : "cancelled"
}
