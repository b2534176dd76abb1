import type { NodeStatus } from "../../domain/nodes.ts"
import { printMetric } from "./print-metric.ts"

/** The connections to the database, and how it responds. */
export interface DatabaseCounts {
  readonly connections: number
  readonly inUse: number
  readonly waiting: number
  readonly isUp: boolean
  readonly readErrors: number
  readonly writeErrors: number
}

/** A pool does not notice that the database is away: its connections count only while it responds. */
export function printDatabase(
  { connections, inUse, waiting, isUp, readErrors, writeErrors }: DatabaseCounts,
  { problem, clockSkewMs }: NodeStatus,
): readonly string[] {
  return [
    ...printMetric("hamlet_database_up", "gauge", "Whether the last read got its result", [
      ["", Number(isUp)],
    ]),
    ...printMetric(
      "hamlet_database_writable",
      "gauge",
      "Whether this node could renew its lease, which it writes every 2.5 seconds",
      [["", Number(problem === undefined)]],
    ),
    ...printMetric(
      "hamlet_database_errors_total",
      "counter",
      "Reads and writes that failed because the database was unavailable",
      [
        ['{operation="read"}', readErrors],
        ['{operation="write"}', writeErrors],
      ],
    ),
    ...printMetric(
      "hamlet_database_connections",
      "gauge",
      "Connections of the database pool by state; waiting counts callers without a connection",
      [
        ['{state="open"}', isUp ? connections : 0],
        ['{state="in_use"}', isUp ? inUse : 0],
        ['{state="waiting"}', waiting],
      ],
    ),
    ...printMetric(
      "hamlet_clock_skew_seconds",
      "gauge",
      "The clock of this machine minus that of the database",
      [["", clockSkewMs / 1000]],
    ),
  ]
}
