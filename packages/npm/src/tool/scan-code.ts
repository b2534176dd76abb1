const pattern = /(?:\s|\/\*[\s\S]*?\*\/|\/\/[^\n\r\u2028\u2029]*)*/y

/** The position after white space and comments. */
export function skipTrivia(code: string, from: number): number {
  pattern.lastIndex = from
  return from + (pattern.exec(code)?.[0].length ?? 0)
}

/**
 * The end of the attributes after a specifier: after the brace of ` with { type: "json" }`, or
 * before the closing bracket of `import("…", { … })`. Undefined for any other syntax.
 */
export function findClauseEnd(text: string, from: number): number | undefined {
  const at = skipTrivia(text, from)
  if (text.charAt(at) === ",") {
    const end = findClosing(text, skipTrivia(text, at + 1))
    const after = end === undefined ? undefined : skipTrivia(text, end)
    const last =
      after !== undefined && text.charAt(after) === "," ? skipTrivia(text, after + 1) : after
    return last !== undefined && text.charAt(last) === ")" ? last : undefined
  }
  const keyword = /^(?:with|assert)\b/.exec(text.slice(at, at + 7))?.[0]
  return keyword === undefined
    ? undefined
    : findClosing(text, skipTrivia(text, at + keyword.length))
}

/** The end of the braces that open at `from`. They contain only names, strings and braces. */
function findClosing(text: string, from: number): number | undefined {
  if (text.charAt(from) !== "{") return undefined
  let depth = 0
  let at = from
  while (at < text.length) {
    at = skipTrivia(text, at)
    const token = /[{}]|["'](?:[^"'\\\n])*["']|[\w$,:]+/y
    token.lastIndex = at
    const found = token.exec(text)?.[0]
    if (found === undefined) return undefined
    at += found.length
    if (found === "{") depth += 1
    else if (found === "}") depth -= 1
    if (depth === 0) return at
  }
  return undefined
}
