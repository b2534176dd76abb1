import { skipTrivia } from "../scan-code.ts"
import { locationNames } from "./build-options.ts"

/** A call of `require` or `import` whose argument is computed, as esbuild reports it. */
export interface ComputedCall {
  /** Counted from 1. */
  readonly line: number
  /** In bytes, counted from 0. */
  readonly column: number
  readonly keyword: "require" | "import"
}

const locationPattern = /\b__(?:dir|file)name\b|\bimport\.meta\b|\brequire\.resolve\b/
const moduleSyntax = /\bimport\.meta\b|^\s*(?:import|export)\b/m
const strictPattern = /^(["'])use strict\1/

/**
 * The text of a module that knows its location; undefined when it needs none. `place` is what the
 * guest makes a location from: a path in the folder of the packages' files, or a URL. The first
 * line is new, so that the positions of esbuild are one line further down.
 */
export function locateModule(
  text: string,
  place: string,
  calls: readonly ComputedCall[],
  isModule: boolean,
): string | undefined {
  if (calls.length === 0 && !locationPattern.test(text)) return undefined
  const plain = text.replace(/^\uFEFF/, "").replace(/^#!/, "//")
  const isStrict = strictPattern.test(plain.slice(skipTrivia(plain, 0)))
  const { file, at } = locationNames
  const first = `${isStrict ? '"use strict";' : ""}var ${file}=${at}(${JSON.stringify(place)}${isModule ? ",true" : ""});`
  return `${first}\n${replaceCalls(plain, calls)}`
}

/** Whether a text is probably an ES module. Only a parser knows. */
export function looksLikeModule(text: string, path: string): boolean {
  return /\.m[jt]s$/.test(path) || (!/\.c[jt]s$/.test(path) && moduleSyntax.test(text))
}

/** Whether a module may load other modules of its package by their paths. */
export function mayLoadByPath(text: string): boolean {
  return /\bcreateRequire\b|[wW]orker\b|\brequire\.resolve\b/.test(text)
}

function replaceCalls(text: string, calls: readonly ComputedCall[]): string {
  if (calls.length === 0) return text
  const lines = text.split("\n")
  const { file } = locationNames
  // From the last one backwards, so that the others keep their columns.
  for (const { line, column, keyword } of calls.toSorted(
    (left, right) => right.column - left.column,
  )) {
    const bytes = Buffer.from(lines[line - 1] ?? "")
    const end = column + keyword.length
    if (bytes.toString("utf8", column, end) !== keyword) continue
    lines[line - 1] =
      `${bytes.toString("utf8", 0, column)}${file}.${keyword}${bytes.toString("utf8", end)}`
  }
  return lines.join("\n")
}
