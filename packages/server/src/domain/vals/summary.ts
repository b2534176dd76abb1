import type { Val } from "./vals.ts"

const limits = { charsMax: 200, linesMax: 60 }

/** How much of the code and of the readme a summary is made from. */
export const summarizedCharsMax = 2_000

/** One line that says what a val is: the first text of its readme, else its first line of code. */
export function summarizeVal({ readme, code }: Pick<Val, "readme" | "code">): string {
  return summarizeReadme(readme) ?? firstLine(code, isCode) ?? ""
}

/** The first line of text of a readme, without Markdown; not a heading if there is another line. */
export function summarizeReadme(readme: string | null): string | undefined {
  if (readme === null) return undefined
  const line = firstLine(readme, isProse) ?? firstLine(readme, isText)
  const text = line === undefined ? "" : toPlain(line)
  return text === "" ? undefined : text
}

function firstLine(text: string, isWanted: (line: string) => boolean): string | undefined {
  for (const part of text.slice(0, summarizedCharsMax).split("\n", limits.linesMax)) {
    const line = part.trim()
    // A cut must not split a character.
    if (isWanted(line)) return line.slice(0, limits.charsMax).toWellFormed()
  }
  return undefined
}

function isText(line: string): boolean {
  return line !== "" && !/^(?:!\[|```|<|\|)/.test(line)
}

function isProse(line: string): boolean {
  return isText(line) && !line.startsWith("#")
}

function isCode(line: string): boolean {
  return line !== "" && !/^(?:import\b|\/\/ hamlet:)/.test(line)
}

/** Removes the most common Markdown syntax. */
function toPlain(line: string): string {
  return line
    .replace(/^#+\s*/, "")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/\*\*|__|`/g, "")
    .trim()
}
