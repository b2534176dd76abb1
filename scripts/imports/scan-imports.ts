import { extname } from "node:path"

const loaders: Record<string, Bun.JavaScriptLoader> = {
  ".ts": "ts",
  ".mts": "ts",
  ".tsx": "tsx",
  ".js": "js",
  ".mjs": "js",
  ".jsx": "jsx",
}

/**
 * The specifiers that a source file imports. Bun's parser is exact but drops type imports, which
 * couple layers too; the pattern below finds those. Both results count.
 */
export function scanImports(path: string, source: string): string[] {
  return [...new Set([...scanByParser(path, source), ...scanByPattern(source)])]
}

function scanByParser(path: string, source: string): string[] {
  const loader = loaders[extname(path)]
  try {
    return loader
      ? new Bun.Transpiler({ loader }).scanImports(source).map((found) => found.path)
      : []
  } catch {
    // The source does not parse, which tsc and the linter report; the pattern must do.
    return []
  }
}

/**
 * Skips comments and strings. The look-behinds keep `packages/*` and `https://` in a template from
 * opening a comment. Templates are searched like code, because their `${}` is code; a specifier in
 * one that leads nowhere is harmless, because only existing files count.
 */
const comment = /(?<![^\s([{},;=:])\/\*[\s\S]*?\*\/|(?<![:\\])\/\/[^\n]*/
const importing =
  /(?<![\w$.])(?:from|import|(?:import|require)\s*\()\s*(?:"([^"\n]+)"|'([^'\n]+)'|`([^`$\n]+)`)/
const string = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/
const scanner = new RegExp([comment, importing, string].map((part) => part.source).join("|"), "g")

function scanByPattern(source: string): string[] {
  return [...source.matchAll(scanner)].flatMap((match) => match[1] ?? match[2] ?? match[3] ?? [])
}
