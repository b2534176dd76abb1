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
export function mergeLines(texts: ThreeTexts, editsMax: number): MergedLines {
  const { parts, steps } = mergeParts(texts, editsMax)
  const merged = parts.map((part) => (part.isConflict ? undefined : part.text))
  return { text: merged.includes(undefined) ? undefined : merged.join(""), steps }
}

/** A part of a merged text: lines that are clear, or what each side has made of the same lines. */
export type MergedPart =
  | { readonly isConflict: false; readonly text: string }
  | { readonly isConflict: true; readonly ours: string; readonly theirs: string }

/** Merges as `mergeLines` does, and shows conflicts in their place. */
export function mergeParts(
  { base, ours, theirs }: ThreeTexts,
  editsMax: number,
): { readonly parts: readonly MergedPart[]; readonly steps: number } {
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
  const toText = (some: readonly number[]) => some.map((line) => lines[line]).join("")
  const parts = mergeChanges(before, left.changes, right.changes).map(
    (part): MergedPart =>
      part.isConflict
        ? { isConflict: true, ours: toText(part.ours), theirs: toText(part.theirs) }
        : { isConflict: false, text: toText(part.lines) },
  )
  return { parts, steps: left.steps + right.steps }
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

type Part =
  | { readonly isConflict: false; readonly lines: readonly number[] }
  | {
      readonly isConflict: true
      readonly ours: readonly number[]
      readonly theirs: readonly number[]
    }

/** The lines with the changes of both sides. Changes that touch each other are one conflict. */
function mergeChanges(
  before: readonly number[],
  ours: readonly Change[],
  theirs: readonly Change[],
): readonly Part[] {
  const parts: Part[] = []
  let at = 0
  let [left, right] = [0, 0]
  while (left < ours.length || right < theirs.length) {
    const [fromLeft, fromRight] = [left, right]
    let end = Math.min(ours[left]?.start ?? before.length, theirs[right]?.start ?? before.length)
    const start = end
    for (let isGrowing = true; isGrowing; ) {
      const next = [ours[left], theirs[right]].findIndex((one) => one && one.start <= end)
      isGrowing = next >= 0
      const change = next === 0 ? ours[left++] : next === 1 ? theirs[right++] : undefined
      end = Math.max(end, change?.end ?? end)
    }
    const mine = ours.slice(fromLeft, left)
    const other = theirs.slice(fromRight, right)
    parts.push({ isConflict: false, lines: before.slice(at, start) })
    const [a, b] = [mine, other].map((changes) => applyChanges(before, changes, start, end))
    if (!a || !b) break
    if (mine.length === 0) parts.push({ isConflict: false, lines: b })
    else if (other.length === 0 || areSame(mine, other)) parts.push({ isConflict: false, lines: a })
    else parts.push({ isConflict: true, ours: a, theirs: b })
    at = end
  }
  parts.push({ isConflict: false, lines: before.slice(at) })
  return parts
}

/** The lines from `start` to before `end`, with the changes of one side. */
function applyChanges(
  before: readonly number[],
  changes: readonly Change[],
  start: number,
  end: number,
): readonly number[] {
  const parts: (readonly number[])[] = []
  let at = start
  for (const change of changes) {
    parts.push(before.slice(at, change.start), change.lines)
    at = change.end
  }
  parts.push(before.slice(at, end))
  return parts.flat()
}

function areSame(left: readonly Change[], right: readonly Change[]): boolean {
  const [one] = left
  const [other] = right
  return left.length === 1 && right.length === 1 && !!one && !!other && isSame(one, other)
}

function isSame(left: Change, right: Change): boolean {
  return (
    left.start === right.start &&
    left.end === right.end &&
    left.lines.length === right.lines.length &&
    left.lines.every((line, at) => line === right.lines[at])
  )
}
