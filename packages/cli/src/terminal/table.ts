/** A column of a table: its heading, its cells, and whether they may be truncated. */
export interface TableColumn {
  readonly title: string
  readonly cells: readonly TableCell[]
  /** Values to copy, such as ids, are never truncated. */
  readonly isWhole: boolean
}

/** A cell, and how it is coloured after truncation. */
export interface TableCell {
  readonly text: string
  readonly paint?: ((text: string) => string) | undefined
}

const gap = "  "
const columnCharsMin = 6

/** The lines of a table, no wider than `width` where truncation can achieve that. */
export function toTable(
  columns: readonly TableColumn[],
  width: number,
  paintTitle: (text: string) => string,
): readonly string[] {
  const widths = toWidths(columns, width)
  const header = toLine(
    columns.map(({ title }) => ({ text: title, paint: paintTitle })),
    widths,
  )
  const count = columns[0]?.cells.length ?? 0
  const rows = Array.from({ length: count }, (_, row) =>
    toLine(
      columns.map(({ cells }) => cells[row] ?? { text: "" }),
      widths,
    ),
  )
  return [header, ...rows]
}

/** Shrinks the widest column that may be truncated, until the line fits. */
function toWidths(columns: readonly TableColumn[], width: number): readonly number[] {
  const widths = columns.map(({ title, cells }) =>
    cells.reduce((widest, { text }) => Math.max(widest, Bun.stringWidth(text)), title.length),
  )
  let excess = widths.reduce((sum, one) => sum + one, gap.length * (columns.length - 1)) - width
  for (; excess > 0; excess--) {
    const candidates = widths.map((one, index) =>
      columns[index]?.isWhole === true || one <= columnCharsMin ? 0 : one,
    )
    const widest = Math.max(...candidates)
    if (widest === 0) break
    widths[candidates.indexOf(widest)] = widest - 1
  }
  return widths
}

function toLine(cells: readonly TableCell[], widths: readonly number[]): string {
  const parts = cells.map(({ text, paint }, index) => {
    const shown = truncateTo(text, widths[index] ?? 0)
    const isLast = index === cells.length - 1
    return (
      (paint ? paint(shown) : shown) +
      (isLast ? "" : " ".repeat(Math.max(0, (widths[index] ?? 0) - Bun.stringWidth(shown))))
    )
  })
  return parts.join(gap).trimEnd()
}

/** Truncates to a terminal width, with an ellipsis. */
export function truncateTo(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text
  let kept = ""
  let used = 0
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    const more = Bun.stringWidth(segment)
    if (used + more > width - 1) break
    kept += segment
    used += more
  }
  return `${kept}…`
}
