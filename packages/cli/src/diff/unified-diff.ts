import { compareLines, type DiffLine } from "./compare-lines.ts"

/** A line of a unified diff, and what it is. */
export interface UnifiedLine {
  readonly kind: DiffLine["kind"] | "header"
  readonly text: string
}

const contextLines = 3
const marks = { same: " ", old: "-", new: "+" } as const

/** The lines of a unified diff; none when the texts are the same. */
export function toUnifiedDiff(
  before: string,
  after: string,
  names: { readonly before: string; readonly after: string },
): readonly UnifiedLine[] {
  const lines = compareLines(toLines(before), toLines(after))
  const hunks = findHunks(lines)
  if (hunks.length === 0) return []
  return [
    { kind: "header", text: `--- ${names.before}` },
    { kind: "header", text: `+++ ${names.after}` },
    ...hunks.flatMap(([from, to]) => toHunk(lines, from, to)),
  ]
}

/** A last line without a newline differs from one that has it, and says so as diff does. */
function toLines(text: string): readonly string[] {
  const lines = text.split("\n")
  const last = lines.pop()
  return last === "" || last === undefined
    ? lines
    : [...lines, `${last}\n\\ No newline at end of file`]
}

/** Where something differs, with a few lines around it; what is close together is one piece. */
function findHunks(lines: readonly DiffLine[]): readonly (readonly [from: number, to: number])[] {
  const hunks: [number, number][] = []
  for (const [index, { kind }] of lines.entries()) {
    if (kind === "same") continue
    const from = Math.max(0, index - contextLines)
    const to = Math.min(lines.length, index + contextLines + 1)
    const last = hunks.at(-1)
    if (last && from <= last[1]) last[1] = to
    else hunks.push([from, to])
  }
  return hunks
}

function toHunk(lines: readonly DiffLine[], from: number, to: number): readonly UnifiedLine[] {
  const hunk = lines.slice(from, to)
  const toRange = (other: DiffLine["kind"]) => {
    const count = hunk.filter(({ kind }) => kind !== other).length
    const before = lines.slice(0, from).filter(({ kind }) => kind !== other).length
    return `${count === 0 ? before : before + 1},${count}`
  }
  const header: UnifiedLine = {
    kind: "header",
    text: `@@ -${toRange("new")} +${toRange("old")} @@`,
  }
  return [header, ...hunk.map(({ kind, text }) => ({ kind, text: marks[kind] + text }))]
}
