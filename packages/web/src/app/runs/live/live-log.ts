import type { LogLine } from "../followed-run.ts"

/** A line of the account's log, or the failure of a run. */
export interface LiveLine extends LogLine {
  readonly runId: string
  readonly val: { readonly username: string; readonly name: string }
}

/** The lines that are kept, the oldest first. */
export interface LiveLog {
  readonly lines: readonly LiveLine[]
  /** How many were added, with those that are not kept any more. */
  readonly total: number
  /**
   * Lines that were read from the list and may arrive over the stream as well, with their number.
   */
  readonly expected: ReadonlyMap<string, number>
}

/** How much is kept. */
export interface LiveLogLimits {
  readonly linesMax: number
  readonly charsMax: number
}

const defaults: LiveLogLimits = { linesMax: 5_000, charsMax: 4_000_000 }

/** A log without lines. */
export const emptyLog: LiveLog = { lines: [], total: 0, expected: new Map() }

/** Appends lines of the stream. A line that was read from the list already is not added twice. */
export function appendLines(
  log: LiveLog,
  lines: readonly LiveLine[],
  limits: LiveLogLimits = defaults,
): LiveLog {
  const expected = new Map(log.expected)
  const added = lines.filter((line) => !take(expected, toKey(line)))
  return keep({ ...log, expected }, added, limits)
}

/**
 * Adds those lines of the list that the log has not got: they were logged before the stream was
 * opened, or while there was none.
 */
export function mergeLines(
  log: LiveLog,
  lines: readonly LiveLine[],
  limits: LiveLogLimits = defaults,
): LiveLog {
  const known = new Map<string, number>()
  for (const line of log.lines) add(known, toKey(line))
  // Older lines than these were there, and are not kept any more.
  const oldest = log.total > log.lines.length ? (log.lines[0]?.at ?? "") : ""
  const missing = lines.filter((line) => line.at >= oldest && !take(known, toKey(line)))
  const expected = new Map<string, number>()
  for (const line of missing) add(expected, toKey(line))
  return keep({ ...log, expected }, missing, limits)
}

function keep(log: LiveLog, added: readonly LiveLine[], limits: LiveLogLimits): LiveLog {
  if (added.length === 0) return log
  const isLater = (added[0]?.at ?? "") >= (log.lines.at(-1)?.at ?? "")
  const all = [...log.lines, ...added]
  // The sort is stable: lines of the same millisecond keep their order.
  const lines = isLater && isSorted(added) ? all : all.sort(byTime)
  return { ...log, lines: withinLimits(lines, limits), total: log.total + added.length }
}

/** The last lines that fit. */
function withinLimits(
  lines: readonly LiveLine[],
  { linesMax, charsMax }: LiveLogLimits,
): readonly LiveLine[] {
  let first = lines.length
  for (let chars = 0; first > 0 && lines.length - first < linesMax; first -= 1) {
    chars += lines[first - 1]?.message.length ?? 0
    if (chars > charsMax) break
  }
  return first === 0 ? lines : lines.slice(first)
}

function byTime(one: LiveLine, other: LiveLine): number {
  return one.at < other.at ? -1 : one.at > other.at ? 1 : 0
}

function isSorted(lines: readonly LiveLine[]): boolean {
  return lines.every((line, index) => index === 0 || line.at >= (lines[index - 1]?.at ?? ""))
}

/** Lines have no ids. Equal ones of the same millisecond are counted. */
function toKey({ runId, at, level, message }: LiveLine): string {
  return JSON.stringify([runId, at, level, message])
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

/** Takes one away. Returns whether there was one. */
function take(counts: Map<string, number>, key: string): boolean {
  const count = counts.get(key) ?? 0
  if (count > 1) counts.set(key, count - 1)
  else counts.delete(key)
  return count > 0
}
