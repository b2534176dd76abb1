import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Tree } from "../tree.ts"
import { isOwnCode } from "./own-code.ts"

/**
 * The start of a spread literal, which may be in parentheses for `as const`. An empty object has no
 * fields, and an array in braces holds the children of an element of JSX.
 */
const start = /\.\.\.(\(?)(?=\{\s*[^\s}]|(?<!\{\.\.\.)\[)/g
/** Strings, whose brackets do not count, and brackets. */
const token = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|[[\]{}()]/g
/** What follows a literal that is spread as it is. Other code calls a method of it, or is a type. */
const end = { "": /^\s*[,\]})]/, "(": /^\s*as const\s*\)\s*[,\]})]/ }

/** The fields of a literal are written where they belong: spreading it only saves lines. */
export function checkLiteralSpreads({ root, files }: Tree): string[] {
  return files.filter(isOwnCode).flatMap((path) => {
    const code = readFileSync(join(root, path), "utf8")
    return Array.from(code.matchAll(start)).flatMap(({ 0: spread, 1: open, index }) => {
      const from = index + spread.length
      const rest = code.slice(from + findLength(code.slice(from)))
      if (!end[open === "(" ? "(" : ""].test(rest)) return []
      const line = code.slice(0, index).split("\n").length
      const what = code[from] === "{" ? "fields of an object" : "elements of an array"
      return [`${path}:${line}: spreads the ${what} literal; write them without the spread`]
    })
  })
}

/** The length of the literal at the start of the code. */
function findLength(code: string): number {
  let depth = 0
  for (const { 0: text, index } of code.matchAll(token)) {
    if ("[{(".includes(text)) depth += 1
    else if ("]})".includes(text)) depth -= 1
    if (depth === 0) return index + text.length
  }
  return code.length
}
