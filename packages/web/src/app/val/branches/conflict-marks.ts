import type { Segment } from "./merge-texts.ts"

/** The lines around a conflict in a text. No line of the texts looks like one of them. */
export interface ConflictMarks {
  readonly start: string
  readonly middle: string
  readonly end: string
}

/** What becomes of a conflict. */
export type ConflictChoice = "ours" | "theirs" | "both"

const limits = {
  /** The length of marks as people know them from Git. */
  marksMin: 7,
}

/** Marks that name both sides, and are longer than any that the texts contain. */
export function createMarks(
  names: { readonly ours: string; readonly theirs: string },
  texts: readonly string[],
): ConflictMarks {
  const lengths = texts
    .flatMap((text) => text.match(/^(<+|=+|>+)/gm) ?? [])
    .map((run) => run.length)
  const length = lengths.reduce((most, one) => Math.max(most, one + 1), limits.marksMin)
  return {
    start: `${"<".repeat(length)} ${names.ours}`,
    middle: "=".repeat(length),
    end: `${">".repeat(length)} ${names.theirs}`,
  }
}

/** The merged text, with marks around what a person must decide. */
export function toMarkedText(segments: readonly Segment[], marks: ConflictMarks): string {
  return segments
    .flatMap((segment) =>
      segment.kind === "agreed"
        ? segment.lines
        : [marks.start, ...segment.ours, marks.middle, ...segment.theirs, marks.end],
    )
    .join("\n")
}

/** A marked conflict in a text: the indexes of its marks among the lines. */
export interface MarkedConflict {
  readonly start: number
  readonly middle: number
  readonly end: number
}

/** The conflicts that a text still contains, in order. A mark without the others is a line. */
export function findMarkedConflicts(text: string, marks: ConflictMarks): readonly MarkedConflict[] {
  const found: MarkedConflict[] = []
  let [start, middle] = [-1, -1]
  for (const [index, line] of text.split("\n").entries()) {
    if (line === marks.start) [start, middle] = [index, -1]
    else if (line === marks.middle && start >= 0 && middle < 0) middle = index
    else if (line === marks.end && middle >= 0) {
      found.push({ start, middle, end: index })
      ;[start, middle] = [-1, -1]
    }
  }
  return found
}

/** The text without the marks of a conflict, and without the lines that are not taken. */
export function resolveConflict(
  text: string,
  { start, middle, end }: MarkedConflict,
  choice: ConflictChoice,
): string {
  const lines = text.split("\n")
  const ours = choice === "theirs" ? [] : lines.slice(start + 1, middle)
  const theirs = choice === "ours" ? [] : lines.slice(middle + 1, end)
  return [...lines.slice(0, start), ...ours, ...theirs, ...lines.slice(end + 1)].join("\n")
}
