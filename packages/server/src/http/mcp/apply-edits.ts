import { parsePatch } from "diff"
import { ToolError } from "./tool.ts"

/** One exact replacement. */
export interface TextEdit {
  readonly oldText: string
  readonly newText: string
  /** Replace every occurrence; otherwise there must be exactly one. */
  readonly all?: boolean | undefined
}

/**
 * Applies replacements one after the other. None is applied if one of them does not fit, or if the
 * code would be longer than `charsMax` after one of them: each may double what the one before made.
 */
export function applyEdits(code: string, edits: readonly TextEdit[], charsMax: number): string {
  return edits.reduce((text, edit, index) => applyEdit(text, edit, index + 1, charsMax), code)
}

function applyEdit(
  text: string,
  { oldText, newText, all = false }: TextEdit,
  number: number,
  charsMax: number,
): string {
  const first = text.indexOf(oldText)
  if (first < 0)
    throw new ToolError(
      `Cannot apply edit ${number}: its oldText does not occur in the code. It must match exactly, spaces and line breaks included; call read_val to see the code`,
    )
  if (all) {
    const chars = text.length + countOccurrences(text, oldText) * (newText.length - oldText.length)
    assertChars(chars, charsMax, `edit ${number}`)
    return text.replaceAll(oldText, () => newText)
  }
  if (text.includes(oldText, first + 1))
    throw new ToolError(
      `Cannot apply edit ${number}: its oldText occurs more than once. Add lines around it until it is unique, or set all to true`,
    )
  assertChars(text.length + newText.length - oldText.length, charsMax, `edit ${number}`)
  return text.slice(0, first) + newText + text.slice(first + oldText.length)
}

/** Without overlaps, as `replaceAll` finds them. */
function countOccurrences(text: string, searched: string): number {
  let count = 0
  for (let at = text.indexOf(searched); at >= 0; at = text.indexOf(searched, at + searched.length))
    count += 1
  return count
}

/** Called before the text is made. */
function assertChars(chars: number, charsMax: number, step: string): void {
  if (chars > charsMax)
    throw new ToolError(
      `Cannot apply ${step}: the code would have ${chars} characters, and ${charsMax} are allowed`,
    )
}

/**
 * Applies a unified diff. Each hunk is an exact replacement of the lines that it removes and keeps,
 * wherever they are; if they occur several times, its line number decides. Searching by exact text
 * takes linear time, whatever the diff.
 */
export function applyDiff(
  code: string,
  diff: string,
  { hunksMax, charsMax }: { readonly hunksMax: number; readonly charsMax: number },
): string {
  const hunks = parseHunks(diff)
  if (hunks.length === 0)
    throw new ToolError(
      "Cannot apply the diff: it has no hunks. A unified diff has lines such as @@ -1,3 +1,4 @@, then lines that start with a space, - or +",
    )
  if (hunks.length > hunksMax)
    throw new ToolError(`Cannot apply the diff: it has more than ${hunksMax} hunks`)
  const lines = code.split("\n")
  let chars = code.length
  // How far the hunks before have moved the lines.
  let shift = 0
  for (const [index, hunk] of hunks.entries()) {
    const { oldLines, newLines } = toSides(hunk.lines)
    const wanted = Math.max(0, hunk.oldStart - 1 + shift)
    const at = findLines(lines, oldLines, wanted)
    if (at === undefined)
      throw new ToolError(
        `Cannot apply hunk ${index + 1} of the diff: the lines that it keeps and removes do not occur in the code. Call read_val to see the code`,
      )
    chars += countChars(newLines) - countChars(oldLines)
    assertChars(chars, charsMax, `hunk ${index + 1} of the diff`)
    replaceLines(lines, at, oldLines.length, newLines)
    shift += newLines.length - oldLines.length
  }
  return lines.join("\n")
}

/** With their line breaks. */
function countChars(lines: readonly string[]): number {
  return lines.reduce((chars, line) => chars + line.length + 1, 0)
}

/** In place and in parts: a call cannot have a hundred thousand arguments. */
function replaceLines(lines: string[], at: number, count: number, added: readonly string[]): void {
  const partMax = 10_000
  lines.splice(at, count)
  for (let from = 0; from < added.length; from += partMax)
    lines.splice(at + from, 0, ...added.slice(from, from + partMax))
}

type Hunk = ReturnType<typeof parsePatch>[number]["hunks"][number]

function parseHunks(diff: string): readonly Hunk[] {
  try {
    const files = parsePatch(diff.endsWith("\n") ? diff : `${diff}\n`)
    if (files.length > 1) throw new Error("it changes more than one file")
    return files[0]?.hunks ?? []
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ToolError(`Cannot read the diff: ${reason}`, { cause })
  }
}

function toSides(lines: readonly string[]): {
  readonly oldLines: readonly string[]
  readonly newLines: readonly string[]
} {
  const side = (marks: string) =>
    lines.filter((line) => marks.includes(line[0] ?? " ")).map((line) => line.slice(1))
  return { oldLines: side(" -"), newLines: side(" +") }
}

/** Where the lines are: at `wanted`, or else at the only other place. */
function findLines(
  lines: readonly string[],
  searched: readonly string[],
  wanted: number,
): number | undefined {
  const isAt = (start: number) => searched.every((line, index) => lines[start + index] === line)
  if (wanted <= lines.length && isAt(wanted)) return wanted
  if (searched.length === 0) return undefined
  // Line breaks around the text, so that only whole lines match.
  const text = `\n${lines.join("\n")}\n`
  const block = `\n${searched.join("\n")}\n`
  const first = text.indexOf(block)
  if (first < 0 || text.includes(block, first + 1)) return undefined
  return text.slice(0, first).split("\n").length - 1
}
