/** A part of a text, by lines. */
export interface TextPage {
  readonly text: string
  /** The number of its first line, from 1. */
  readonly fromLine: number
  readonly toLine: number
  readonly totalLines: number
  /** Where the next part starts; null if this is the last. */
  readonly nextLine: number | null
  /** Whether its only line was too long and lacks its end. */
  readonly isLineTruncated: boolean
}

/**
 * A page has as many whole lines as fit, from a line on. A line that is too long alone is
 * truncated.
 */
export function toTextPage(
  text: string,
  fromLine: number,
  linesMax: number,
  charsMax: number,
): TextPage {
  const lines = text.split("\n")
  const start = Math.min(fromLine, lines.length) - 1
  const first = lines[start] ?? ""
  const taken = [truncate(first, charsMax)]
  let chars = first.length
  for (let index = start + 1; index < lines.length && taken.length < linesMax; index++) {
    const line = lines[index] ?? ""
    chars += line.length + 1
    if (chars > charsMax) break
    taken.push(line)
  }
  const toLine = start + taken.length
  return {
    text: taken.join("\n"),
    fromLine: start + 1,
    toLine,
    totalLines: lines.length,
    nextLine: toLine < lines.length ? toLine + 1 : null,
    isLineTruncated: first.length > charsMax,
  }
}

/** The beginning of a text. A character outside the basic plane is not cut in half. */
export function truncate(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text
  const isSplit = (text.charCodeAt(charsMax - 1) & 0xfc00) === 0xd800
  return text.slice(0, isSplit ? charsMax - 1 : charsMax)
}
