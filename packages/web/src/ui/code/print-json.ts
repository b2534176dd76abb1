import { isJsonType, parseJson } from "./json.ts"

// Indenting costs depth × lines: without a limit, a response of nothing but brackets would fill the
// memory.
const indentDepthMax = 40
const tokenPattern = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/** A response body as users read it: JSON with line breaks, other text unchanged. */
export function formatBody(text: string, contentType: string) {
  const json = isJsonType(contentType) ? printJson(text) : undefined
  return json === undefined
    ? ({ kind: "text", text } as const)
    : ({ kind: "json", text: json } as const)
}

/**
 * JSON text with line breaks and indents; undefined when it is not JSON. It works on the text and
 * not on the parsed value: numbers beyond 2^53, `1.0` and repeated keys stay as the server wrote
 * them.
 */
export function printJson(text: string): string | undefined {
  if (parseJson(text) === undefined) return undefined
  const tokens = text.match(tokenPattern) ?? []
  const parts: string[] = []
  let depth = 0
  tokens.forEach((token, index) => {
    const isEmpty = closes(tokens[index + 1]) && opens(token)
    if (closes(token)) {
      depth--
      if (!opens(tokens[index - 1])) parts.push(lineBreak(depth))
      parts.push(token)
      return
    }
    parts.push(token === ":" ? ": " : token)
    if (opens(token)) depth++
    if ((opens(token) && !isEmpty) || token === ",") parts.push(lineBreak(depth))
  })
  return parts.join("")
}

function opens(token: string | undefined): boolean {
  return token === "{" || token === "["
}

function closes(token: string | undefined): boolean {
  return token === "}" || token === "]"
}

function lineBreak(depth: number): string {
  return depth > indentDepthMax ? " " : `\n${"  ".repeat(depth)}`
}
