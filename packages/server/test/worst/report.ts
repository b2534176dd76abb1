import type { Row } from "./measure/measure-row.ts"
import { toSlug } from "./worst-doors.ts"

const rowsShown = 40

/** The rows as a table, the worst first, and how each is repeated. */
export function toReport(rows: readonly Row[], options: string): string {
  const sorted = rows.toSorted(
    (one, other) =>
      other.problems.length - one.problems.length ||
      other.waitedMs - other.quietMs - (one.waitedMs - one.quietMs),
  )
  const lines = sorted.slice(0, rowsShown).map(toLine)
  const red = sorted.filter(({ problems }) => problems.length > 0)
  return [
    "waited   quiet   pause  growth  processes   back    took  door, manner",
    ...lines,
    ...red.map(
      ({ door, manner, problems }) =>
        `✗ ${door}, ${manner}: ${problems.join("; ")}\n  npm run long-test -- worst --doors ${toSlug(door)} --manners ${manner}${options}`,
    ),
    `${rows.length} rows, ${red.length} with a problem`,
  ].join("\n")
}

/** One row of the table. */
export function toLine(row: Row): string {
  const ms = (value: number) => value.toFixed().padStart(5)
  const mb = (value: number) => value.toFixed().padStart(6)
  const mark = row.problems.length > 0 ? "✗" : " "
  return `${ms(row.waitedMs)} ${ms(row.quietMs)} ${ms(row.pauseMs)} ${mb(row.growthMb)} ${mb(row.childrenMb)} ${ms(row.backMs)} ${ms(row.tookMs)} ${mark} ${row.door}, ${row.manner}`
}
