import { diffArrays } from "diff"

/** What two sides had in common, and what each has made of it. */
export interface ThreeTexts {
  readonly base: string
  readonly ours: string
  readonly theirs: string
}

/** A merged text, or undefined if both sides changed the same lines. */
export interface MergedLines {
  readonly text: string | undefined
  /** What the comparisons have cost: the sum of the squares of their edits. */
  readonly steps: number
}

/**
 * Merges texts line by line. Changes of both sides to the same lines, or to lines beside each other,
 * conflict unless they are equal. A side with more than `editsMax` lines added and removed counts as
 * one change, from its first changed line to its last: that takes less time, and conflicts more often.
 */
export function mergeLines({ base, ours, theirs }: ThreeTexts, editsMax: number): MergedLines {
  const numbers = new Map<string, number>()
  const lines: string[] = []
  // Lines become numbers, so that comparing two of them takes the same time for long ones.
  const read = (text: string): readonly number[] =>
    (text.match(/[^\n]*\n|[^\n]+/g) ?? []).map((line) => {
      const known = numbers.get(line)
      if (known !== undefined) return known
      numbers.set(line, lines.length)
      return lines.push(line) - 1
    })
  const before = read(base)
  const left = compareLines(before, read(ours), editsMax)
  const right = compareLines(before, read(theirs), editsMax)
  const merged = mergeChanges(before, left.changes, right.changes)
  const text = merged?.map((line) => lines[line]).join("")
  return { text, steps: left.steps + right.steps }
}

/** The lines from `start` to before `end` become others. */
interface Change {
  readonly start: number
  readonly end: number
  readonly lines: readonly number[]
}

function compareLines(
  before: readonly number[],
  after: readonly number[],
  editsMax: number,
): { readonly changes: readonly Change[]; readonly steps: number } {
  const parts = diffArrays([...before], [...after], { maxEditLength: editsMax })
  if (!parts) return { changes: [toOneChange(before, after)], steps: editsMax ** 2 }
  const changes: Change[] = []
  let [start, edits] = [0, 0]
  for (const part of parts) {
    const isSame = !part.added && !part.removed
    const last = changes.at(-1)
    const end = part.added ? start : start + part.value.length
    if (!isSame) {
      edits += part.value.length
      const lines = part.added ? part.value : []
      // An insertion beside a removal is one change.
      if (last?.end === start)
        changes[changes.length - 1] = { ...last, end, lines: [...last.lines, ...lines] }
      else changes.push({ start, end, lines })
    }
    start = end
  }
  return { changes, steps: edits ** 2 }
}

function toOneChange(before: readonly number[], after: readonly number[]): Change {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start++
  let kept = 0
  while (kept < shorter - start && before.at(-1 - kept) === after.at(-1 - kept)) kept++
  return { start, end: before.length - kept, lines: after.slice(start, after.length - kept) }
}

/** The lines with the changes of both sides; undefined if two of them conflict. */
function mergeChanges(
  before: readonly number[],
  ours: readonly Change[],
  theirs: readonly Change[],
): readonly number[] | undefined {
  const merged: (readonly number[])[] = []
  let at = 0
  let [left, right] = [0, 0]
  while (left < ours.length || right < theirs.length) {
    const [mine, other] = [ours[left], theirs[right]]
    const doTouch = mine && other && mine.start <= other.end && other.start <= mine.end
    if (doTouch && !isSame(mine, other)) return undefined
    const next = !other || (mine && mine.start <= other.start) ? mine : other
    if (!next) break
    if (next === mine || doTouch) left++
    if (next === other || doTouch) right++
    merged.push(before.slice(at, next.start), next.lines)
    at = next.end
  }
  merged.push(before.slice(at))
  return merged.flat()
}

function isSame(left: Change, right: Change): boolean {
  return (
    left.start === right.start &&
    left.end === right.end &&
    left.lines.length === right.lines.length &&
    left.lines.every((line, at) => line === right.lines[at])
  )
}
