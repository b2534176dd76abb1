import { type StructuredPatchHunk, structuredPatch } from "diff"

/** A line of a unified diff, and what it is. */
export interface UnifiedLine {
  readonly kind: "same" | "old" | "new" | "header"
  readonly text: string
}

const contextLines = 3

/**
 * Beyond this many changed lines the texts are shown as replaced: the time and memory of a
 * comparison grow with the square of it.
 */
const editsMax = 2_000

/** The lines of a unified diff; none when the texts are the same. */
export function toUnifiedDiff(
  before: string,
  after: string,
  names: { readonly before: string; readonly after: string },
): readonly UnifiedLine[] {
  const options = { context: contextLines, maxEditLength: editsMax }
  const patch = structuredPatch("", "", before, after, undefined, undefined, options)
  const hunks = patch?.hunks ?? [replaceAll(before, after)]
  if (hunks.length === 0) return []
  return [
    { kind: "header", text: `--- ${names.before}` },
    { kind: "header", text: `+++ ${names.after}` },
    ...hunks.flatMap(toLines),
  ]
}

function toLines(hunk: StructuredPatchHunk): readonly UnifiedLine[] {
  const old = toRange(hunk.oldStart, hunk.oldLines)
  const lines: UnifiedLine[] = [
    { kind: "header", text: `@@ -${old} +${toRange(hunk.newStart, hunk.newLines)} @@` },
  ]
  for (const text of hunk.lines) {
    const last = lines.at(-1)
    // "\ No newline at end of file" belongs to the line before it, and has its colour.
    if (text.startsWith("\\") && last)
      lines.splice(-1, 1, { ...last, text: `${last.text}\n${text}` })
    else lines.push({ kind: kinds[text[0] as keyof typeof kinds], text })
  }
  return lines
}

const kinds = { " ": "same", "-": "old", "+": "new" } as const

/** An empty range starts at the line before it. */
function toRange(start: number, count: number): string {
  return `${count === 0 ? start - 1 : start},${count}`
}

/** One hunk that replaces what is between the common beginning and the common end. */
function replaceAll(before: string, after: string): StructuredPatchHunk {
  const [old, now] = [splitLines(before), splitLines(after)]
  let head = 0
  while (head < old.length && old[head] === now[head]) head++
  let tail = 0
  while (
    tail < old.length - head &&
    tail < now.length - head &&
    old.at(-1 - tail) === now.at(-1 - tail)
  )
    tail++
  const from = Math.max(0, head - contextLines)
  const [oldEnd, newEnd] = [old.length - tail, now.length - tail]
  const context = old.slice(oldEnd, oldEnd + contextLines)
  const mark = (sign: string, lines: readonly string[]) => lines.map((line) => sign + line)
  return {
    oldStart: from + 1,
    oldLines: oldEnd - from + context.length,
    newStart: from + 1,
    newLines: newEnd - from + context.length,
    lines: [
      ...mark(" ", old.slice(from, head)),
      ...mark("-", old.slice(head, oldEnd)),
      ...mark("+", now.slice(head, newEnd)),
      ...mark(" ", context),
    ],
  }
}

/** Lines without their newline; a last line that has none says so, as in every unified diff. */
function splitLines(text: string): readonly string[] {
  const lines = text.split("\n")
  const last = lines.pop()
  return last === "" || last === undefined
    ? lines
    : [...lines, `${last}\n\\ No newline at end of file`]
}
