/** A stretch of a merged text: lines that both sides agree on, or what each side has instead. */
export type Segment =
  | { readonly kind: "agreed"; readonly lines: readonly string[] }
  | {
      readonly kind: "conflict"
      readonly ours: readonly string[]
      readonly theirs: readonly string[]
    }

const limits = {
  /** A comparison takes the square of it. Beyond, all that differs counts as one change. */
  editsMax: 1_000,
}

/**
 * Merges two texts that were made from one, by lines. Changes of both sides to the same lines, or to
 * lines beside each other, are conflicts unless they are equal: as on the server.
 */
export function mergeTexts(base: string, ours: string, theirs: string): readonly Segment[] {
  const before = base.split("\n")
  const sides = [ours, theirs].map((text) => compareLines(before, text.split("\n")))
  const [left = [], right = []] = sides
  const segments: Segment[] = []
  let done = 0
  for (const { start, end } of joinRanges([...left, ...right])) {
    segments.push({ kind: "agreed", lines: before.slice(done, start) })
    const [mine, other] = [left, right].map((changes) => applyTo(before, changes, start, end))
    segments.push(decide(before.slice(start, end), mine ?? [], other ?? []))
    done = end
  }
  segments.push({ kind: "agreed", lines: before.slice(done) })
  return segments.filter((one) => one.kind === "conflict" || one.lines.length > 0)
}

function decide(
  base: readonly string[],
  ours: readonly string[],
  theirs: readonly string[],
): Segment {
  if (isSame(ours, theirs) || isSame(theirs, base)) return { kind: "agreed", lines: ours }
  return isSame(ours, base) ? { kind: "agreed", lines: theirs } : { kind: "conflict", ours, theirs }
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((line, index) => line === right[index])
}

/** Lines from `start` to before `end`. */
interface Range {
  readonly start: number
  readonly end: number
}

/** Those lines become others. */
interface Change extends Range {
  readonly lines: readonly string[]
}

/** Ranges that overlap or touch are one. */
function joinRanges(ranges: readonly Range[]): readonly Range[] {
  const joined: Range[] = []
  for (const range of [...ranges].sort((one, other) => one.start - other.start)) {
    const last = joined.at(-1)
    if (last && range.start <= last.end)
      joined[joined.length - 1] = { start: last.start, end: Math.max(last.end, range.end) }
    else joined.push(range)
  }
  return joined
}

/** What the changes make of a range. */
function applyTo(
  before: readonly string[],
  changes: readonly Change[],
  start: number,
  end: number,
): readonly string[] {
  let lines: readonly string[] = []
  let done = start
  for (const change of changes) {
    if (change.start < start || change.end > end) continue
    lines = [...lines, ...before.slice(done, change.start), ...change.lines]
    done = change.end
  }
  return [...lines, ...before.slice(done, end)]
}

/** The changes from one list of lines to another, in order; they do not touch each other. */
function compareLines(before: readonly string[], after: readonly string[]): readonly Change[] {
  const sharedMax = Math.min(before.length, after.length)
  let head = 0
  while (head < sharedMax && before[head] === after[head]) head += 1
  let tail = 0
  while (tail < sharedMax - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1
  const old = before.slice(head, before.length - tail)
  const now = after.slice(head, after.length - tail)
  if (old.length === 0 && now.length === 0) return []
  const changes = findEdits(old, now) ?? [{ start: 0, end: old.length, lines: now }]
  return changes.map(({ start, end, lines }) => ({ start: start + head, end: end + head, lines }))
}

/** The least edits, found greedily (Myers); undefined if there are too many. */
function findEdits(old: readonly string[], now: readonly string[]): readonly Change[] | undefined {
  const countMax = Math.min(old.length + now.length, limits.editsMax)
  const middle = countMax + 1
  /** By diagonal, how far into `old` the edits so far lead. */
  const reach = new Int32Array(2 * countMax + 3)
  const earlier: Int32Array[] = []
  for (let count = 0; count <= countMax; count++) {
    earlier.push(reach.slice(middle - count - 1, middle + count + 2))
    for (let diagonal = -count; diagonal <= count; diagonal += 2) {
      const at = middle + diagonal
      const isDown = chooseDown(reach, at, diagonal, count)
      let x = isDown ? (reach[at + 1] ?? 0) : (reach[at - 1] ?? 0) + 1
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) x += 1
      reach[at] = x
      if (x >= old.length && x - diagonal >= now.length) return traceBack(earlier, old, now, count)
    }
  }
  return undefined
}

function chooseDown(reach: Int32Array, at: number, diagonal: number, count: number): boolean {
  return diagonal === -count || (diagonal !== count && (reach[at - 1] ?? 0) < (reach[at + 1] ?? 0))
}

function traceBack(
  earlier: readonly Int32Array[],
  old: readonly string[],
  now: readonly string[],
  count: number,
): readonly Change[] {
  const changes: Change[] = []
  let [x, y] = [old.length, now.length]
  for (let left = count; left > 0; left--) {
    const reach = earlier[left] ?? new Int32Array()
    const at = x - y + left + 1
    const isDown = chooseDown(reach, at, x - y, left)
    const from = (isDown ? reach[at + 1] : reach[at - 1]) ?? 0
    const fromLine = from - (x - y + (isDown ? 1 : -1))
    const [start, end] = [from, isDown ? from : from + 1]
    const lines = isDown ? now.slice(fromLine, fromLine + 1) : []
    const next = changes[0]
    if (next?.start === end) changes[0] = { start, end: next.end, lines: [...lines, ...next.lines] }
    else changes.unshift({ start, end, lines })
    ;[x, y] = [from, fromLine]
  }
  return changes
}
