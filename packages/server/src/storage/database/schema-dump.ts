import type { Database } from "./database.ts"

/**
 * The whole schema as text. Equal schemas give equal texts, however they came about, so that a
 * review shows each change of the schema.
 */
export async function dumpSchema(db: Database): Promise<string> {
  const statements: string[] = []
  for (const query of db.dialect.catalog) {
    for (const { line } of await db.read<{ line: string }>(query))
      statements.push(`${format(line)};\n`)
  }
  return statements.join("\n")
}

/** One line for each column and constraint of a table, one line for anything else. */
function format(statement: string): string {
  const text = collapseSpaces(statement)
  const open = text.indexOf("(")
  if (!/^create table /i.test(text) || open === -1) return text
  const { parts, end } = splitParentheses(text, open)
  return `${text.slice(0, open).trim()} (\n  ${parts.join(",\n  ")}\n)${text.slice(end)}`
}

/** Spaces inside quotes are significant and stay. */
function collapseSpaces(text: string): string {
  return text
    .replace(/'(?:[^']|'')*'|"[^"]*"|\s+/g, (found) => (found.trim() === "" ? " " : found))
    .trim()
}

/**
 * The texts between the commas of the parentheses that begin at `open`, and the index after the
 * closing one.
 */
function splitParentheses(text: string, open: number): { parts: readonly string[]; end: number } {
  const parts: string[] = []
  let depth = 0
  let start = open + 1
  for (const token of text.slice(open).matchAll(/'(?:[^']|'')*'|"[^"]*"|[(),]/g)) {
    const at = open + token.index
    if (token[0] === "(") depth += 1
    if (token[0] === ")") depth -= 1
    if (depth === 0 || (depth === 1 && token[0] === ",")) {
      parts.push(text.slice(start, at).trim())
      start = at + 1
    }
    if (depth === 0) return { parts, end: at + 1 }
  }
  return { parts, end: text.length }
}
