import type { Colour } from "../terminal/colour.ts"
import type { Output } from "./output.ts"
import { toUnifiedDiff, type UnifiedLine } from "./unified-diff.ts"

/** A file that differs; its texts are null where it does not exist. */
export interface FileChange {
  readonly path: string
  readonly newPath: string
  readonly before: string | null
  readonly after: string | null
}

/** Prints the difference of a file as a unified diff. */
export function printDiff(output: Output, change: FileChange): void {
  if (output.mode === "json") {
    output.json(toFileDiff(change))
    return
  }
  const names = toNames(change)
  const lines = toLines(change)
  // Without a line that differs: an empty file, or one that only moved.
  if (lines.length === 0) output.line(output.colour.cyan(`${names.before} ${names.after}`))
  printLines(output, lines)
}

/** A file that differs, with its unified diff: empty if no line differs. */
export function toFileDiff(change: FileChange): FileChange & { readonly diff: string } {
  const lines = toLines(change)
  return { ...change, diff: lines.map(({ text }) => `${text}\n`).join("") }
}

function toLines(change: FileChange): readonly UnifiedLine[] {
  return toUnifiedDiff(change.before ?? "", change.after ?? "", toNames(change))
}

/** The names of a file in its difference, as in Git. */
function toNames({ path, newPath, before, after }: FileChange) {
  return {
    before: before === null ? "/dev/null" : `a/${path}`,
    after: after === null ? "/dev/null" : `b/${newPath}`,
  }
}

/** Prints the lines of a unified diff. The text is made safe first: the colour codes are ours. */
function printLines(output: Output, lines: readonly UnifiedLine[]): void {
  for (const line of lines) output.line(toPaint(output.colour, line)(output.toVisible(line.text)))
}

function toPaint(colour: Colour, { kind }: UnifiedLine): (text: string) => string {
  if (kind === "old") return colour.red
  if (kind === "new") return colour.green
  return kind === "header" ? colour.cyan : (text) => text
}
