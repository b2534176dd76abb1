/** One line of a comparison: in both texts, only in the old one, or only in the new one. */
export interface DiffLine {
  readonly kind: "same" | "old" | "new"
  readonly text: string
}

/**
 * How far two texts may differ before what differs is shown as replaced in one piece: time and
 * memory grow with the square of it.
 */
const editsMax = 2_000

/**
 * The shortest way from one text to the other, after Myers. What begins and ends alike is set aside
 * first.
 */
export function compareLines(
  before: readonly string[],
  after: readonly string[],
): readonly DiffLine[] {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before.at(-1 - tail) === after.at(-1 - tail)
  )
    tail++
  const middle = findWay(
    before.slice(head, before.length - tail),
    after.slice(head, after.length - tail),
  )
  return [
    ...toKind("same", before.slice(0, head)),
    ...middle,
    ...toKind("same", before.slice(before.length - tail)),
  ]
}

function toKind(kind: DiffLine["kind"], lines: readonly string[]): readonly DiffLine[] {
  return lines.map((text) => ({ kind, text }))
}

/**
 * For each number of edits, how far into the old text one can come on each diagonal, from the best
 * that one edit less has reached. The first to reach both ends is the shortest; the way there is
 * found backwards.
 */
function findWay(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  const steps: Reached[] = []
  for (let edits = 0; edits <= Math.min(before.length + after.length, editsMax); edits++) {
    const last = steps.at(-1) ?? createReached(0)
    const reached = createReached(edits)
    steps.push(reached)
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x =
        edits === 0
          ? 0
          : isInsertion(last, diagonal)
            ? furthestOn(last, diagonal + 1)
            : furthestOn(last, diagonal - 1) + 1
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal])
        x++
      reached.furthest[diagonal + edits] = x
      if (x >= before.length && x - diagonal >= after.length) return goBack(steps, before, after)
    }
  }
  return [...toKind("old", before), ...toKind("new", after)]
}

function goBack(
  steps: readonly Reached[],
  before: readonly string[],
  after: readonly string[],
): readonly DiffLine[] {
  const lines: DiffLine[] = []
  let [x, y] = [before.length, after.length]
  for (let edits = steps.length - 1; edits > 0; edits--) {
    const last = steps[edits - 1] ?? createReached(0)
    const diagonal = x - y
    const isNew = isInsertion(last, diagonal)
    const startX = isNew ? furthestOn(last, diagonal + 1) : furthestOn(last, diagonal - 1) + 1
    for (; x > startX; x--, y--) lines.push({ kind: "same", text: before[x - 1] ?? "" })
    if (isNew) lines.push({ kind: "new", text: after[--y] ?? "" })
    else lines.push({ kind: "old", text: before[--x] ?? "" })
  }
  for (; x > 0; x--) lines.push({ kind: "same", text: before[x - 1] ?? "" })
  return lines.reverse()
}

/** How far so many edits reach into the old text, by diagonal. */
interface Reached {
  readonly edits: number
  readonly furthest: Int32Array
}

function createReached(edits: number): Reached {
  return { edits, furthest: new Int32Array(2 * edits + 1).fill(-1) }
}

function furthestOn({ edits, furthest }: Reached, diagonal: number): number {
  return furthest[diagonal + edits] ?? -1
}

/**
 * Whether the next edit gets further on this diagonal by taking a line of the new text than by
 * leaving one of the old.
 */
function isInsertion(last: Reached, diagonal: number): boolean {
  return furthestOn(last, diagonal + 1) > furthestOn(last, diagonal - 1)
}
