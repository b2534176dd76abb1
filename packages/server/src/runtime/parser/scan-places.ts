import { findClauseEnd, skipTrivia } from "@hamlet/npm"
import type { WrittenImport } from "../../domain/modules/imports/written-imports.ts"
import { scanImports } from "./scan-imports.ts"

/**
 * The imports of code with their places; null if the place of one cannot be told, such as of a
 * specifier that is written with escapes. The scanner reports no places, and the same literal may be
 * in a string or a comment: each candidate gets a specifier of its own, and those that the scanner
 * reports then are imports.
 */
export function scanPlaces(code: string): readonly WrittenImport[] | null {
  const specifiers = new Set(scanImports(code))
  const candidates = Array.from(code.matchAll(literalPattern), ({ index, 2: specifier = "" }) => ({
    specifier,
    start: index,
    end: index + specifier.length + 2,
  })).filter(({ specifier }) => specifiers.has(specifier))
  const marker = chooseMarker(code)
  const isImport = new Set(scanImports(mark(code, candidates, marker)))
  const found = candidates.filter((_, index) => isImport.has(`${marker}${index}/`))
  const known = new Set(found.map(({ specifier }) => specifier))
  if (known.size < specifiers.size || found.length > placesMax) return null
  return [...found.map((one) => withClause(code, one)), ...findJsxSource(code)]
}

/** Places that are found: as many specifiers of a text are read when it is saved. */
const placesMax = 1_000

/** A literal, also where a quote before it, in a comment, has no partner. */
const literalPattern = /(["'`])(?=([^"'`\\\r\n]+)\1)/g

function mark(code: string, candidates: readonly WrittenImport[], marker: string): string {
  const parts: string[] = []
  let from = 0
  for (const [index, { start, end }] of candidates.entries()) {
    // A literal may begin with the quote at the end of another.
    if (start < from) continue
    parts.push(code.slice(from, start + 1), `${marker}${index}/`, code.charAt(end - 1))
    from = end
  }
  return parts.join("") + code.slice(from)
}

function chooseMarker(code: string): string {
  let marker = "hamlet-import-"
  while (code.includes(marker)) marker = `hamlet-import-${crypto.randomUUID()}-`
  return marker
}

function withClause(code: string, one: WrittenImport): WrittenImport {
  const clauseEnd = findClauseEnd(code, one.end)
  return clauseEnd === undefined ? one : { ...one, clauseEnd }
}

/** The source in a comment before the code, to which the runtime appends the ending. */
function findJsxSource(code: string): readonly WrittenImport[] {
  const comments = code.slice(0, skipTrivia(code, 0))
  const found = /@jsxImportSource\s+([^\s*]+)/.exec(comments)
  const source = found?.[1] ?? ""
  if (!found || source === "") return []
  const end = found.index + found[0].length
  return [{ specifier: `${source}/jsx-runtime`, start: end - source.length, end }]
}
