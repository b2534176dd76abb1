/**
 * Turns JSON with comments and trailing commas into JSON. Reads each character once: patterns for
 * comments and strings that do not end would take quadratic time.
 */
export function toPlainJson(text: string): string {
  const parts: string[] = []
  let from = 0
  /** The part with the last comma, if only white space and comments follow it. */
  let comma = -1
  const take = (to: number) => {
    if (to > from) parts.push(text.slice(from, to))
    from = to
  }
  for (let at = 0; at < text.length; ) {
    const end = findCommentEnd(text, at)
    if (end !== undefined) {
      take(at)
      // Otherwise `1/**/2` would be one number.
      parts.push(" ")
      from = at = end
      continue
    }
    const char = text.charAt(at)
    if (char === ",") {
      take(at)
      comma = parts.push(",") - 1
      from = at += 1
      continue
    }
    if ((char === "}" || char === "]") && comma !== -1) parts[comma] = ""
    if (!isSpace(char)) comma = -1
    at = char === '"' ? findStringEnd(text, at) : at + 1
  }
  take(text.length)
  return parts.join("")
}

/** Undefined if no comment begins there. One that does not end lasts until the end of the text. */
function findCommentEnd(text: string, at: number): number | undefined {
  const ending = text.startsWith("//", at) ? "\n" : text.startsWith("/*", at) ? "*/" : undefined
  if (ending === undefined) return undefined
  const end = text.indexOf(ending, at + 2)
  if (end === -1) return text.length
  return ending === "\n" ? end : end + ending.length
}

function findStringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === "\\") at += 1
    else if (char === '"' || char === "\n") return at + 1
  }
  return text.length
}

function isSpace(char: string): boolean {
  return char === " " || char === "\t" || char === "\n" || char === "\r"
}
