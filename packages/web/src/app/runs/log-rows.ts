interface Line {
  readonly at: string
  readonly level: string
  readonly message: string
}

/** Log lines with their positions, in rows from the top. */
export interface LogRows<Entry extends Line> {
  readonly lines: readonly Entry[]
  /** The first row of each line; the last element is the end of the last line. */
  readonly starts: readonly number[]
}

/** The lines of at least a level that contain a text. */
export function filterLines<Entry extends Line>(
  lines: readonly Entry[],
  level: string,
  text: string,
): readonly Entry[] {
  const least = levels.indexOf(level)
  const needle = text.toLowerCase()
  if (least <= 0 && needle === "") return lines
  return lines.filter(
    (line) => levels.indexOf(line.level) >= least && line.message.toLowerCase().includes(needle),
  )
}

/** Lines that are not kept, behind the first `after` lines. */
export interface LogGap {
  readonly after: number
  readonly lines: number
}

/** How much of a log is kept: `10,000 lines; the first 430 and the last 430 are kept`. */
export function describeGap(kept: number, { after, lines }: LogGap): string {
  const say = (count: number) => count.toLocaleString("en")
  return `${say(kept + lines)} lines; the first ${say(after)} and the last ${say(kept - after)} are kept`
}

/** The lines, with one that stands for those that are not kept. */
export function withGap<Entry extends Line>(
  lines: readonly Entry[],
  gap: LogGap | null,
): readonly Entry[] {
  const before = gap === null ? undefined : (lines[gap.after - 1] ?? lines[0])
  if (gap === null || before === undefined) return lines
  const message = `… ${gap.lines.toLocaleString("en")} lines are not kept …`
  return [
    ...lines.slice(0, gap.after),
    { ...before, level: "debug", message },
    ...lines.slice(gap.after),
  ]
}

/** The levels, the least severe first. */
export const levels: readonly string[] = ["debug", "log", "info", "warn", "error"]

/** Positions each line. Lines do not wrap, so a message has as many rows as it has lines. */
export function toRows<Entry extends Line>(lines: readonly Entry[]): LogRows<Entry> {
  const starts = [0]
  let end = 0
  for (const { message } of lines) {
    end += countRows(message)
    starts.push(end)
  }
  return { lines, starts }
}

/** The lines that cover `count` rows from `top` on. */
export function findVisible(
  { lines, starts }: LogRows<Line>,
  top: number,
  count: number,
): { readonly from: number; readonly to: number } {
  const from = Math.max(0, findLast(starts, top))
  return { from, to: Math.min(lines.length, findLast(starts, top + count) + 1) }
}

function countRows(message: string): number {
  let rows = 1
  for (let at = message.indexOf("\n"); at >= 0; at = message.indexOf("\n", at + 1)) rows += 1
  return rows
}

/** The last index whose number is not greater. */
function findLast(numbers: readonly number[], max: number): number {
  let low = 0
  let high = numbers.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((numbers[middle] ?? 0) <= max) low = middle
    else high = middle - 1
  }
  return low
}
