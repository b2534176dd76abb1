/** A table of results. */
export interface Table {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
}

/** A bar is printed with whether it was met. */
export type Cell = string | Bar

export interface Bar {
  readonly bar: string
  readonly isMet: boolean
}

export function atLeast(value: number, limit: number): Bar {
  return { bar: `≥ ${limit}`, isMet: value >= limit }
}

export function atMost(value: number, limit: number, unit = ""): Bar {
  return { bar: `≤ ${limit}${unit}`, isMet: value <= limit }
}

export function countMissed(tables: readonly Table[]): number {
  return tables
    .flatMap(({ rows }) => rows.flat())
    .filter((cell) => typeof cell !== "string" && !cell.isMet).length
}

/**
 * The tables in Markdown, with aligned columns, so that they are readable in a terminal too.
 */
export function toMarkdown(tables: readonly Table[]): string {
  return tables
    .map((table) => [`**${table.title}**`, "", ...toLines(table)].join("\n"))
    .join("\n\n")
}

function toLines({ columns, rows }: Table): readonly string[] {
  const cells = [columns, ...rows.map((row) => row.map(toText))]
  const widths = columns.map((_, column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  )
  const toLine = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`
  const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`
  return [toLine(columns), rule, ...rows.map((row) => toLine(row.map(toText)))]
}

function toText(cell: Cell): string {
  return typeof cell === "string" ? cell : `${cell.bar} ${cell.isMet ? "met" : "**missed**"}`
}
