import { skipTrivia } from "../scan-code.ts"

/**
 * The keys of the objects that code assigns to `module.exports`, and the specifiers of the modules
 * that it spreads into them. Node's lexer stops at the first value that is more than a name; Deno
 * does not. Computed keys are skipped, and syntax that cannot be followed ends the list.
 */
export function readObjectKeys(code: string): {
  readonly keys: readonly string[]
  readonly spreads: readonly string[]
} {
  const keys = new Set<string>()
  const spreads = new Set<string>()
  for (const { 0: start, index } of code.matchAll(/\bmodule\.exports\s*=\s*\{/g))
    readObject(code, index + start.length, keys, spreads)
  return { keys: [...keys], spreads: [...spreads] }
}

const keyPattern =
  /(?:(?:async|get|static)\s+(?=[\w$"']))?\*?\s*(?:([\p{ID_Start}$_][\p{ID_Continue}$]*)|"([^"\\\n]*)"|'([^'\\\n]*)')\s*(?=[:,}(])/uy
const spreadPattern = /\.\.\.\s*require\(\s*["']([^"'\\\n]+)["']\s*\)/y

/** `from` is the position after the opening brace. */
function readObject(code: string, from: number, keys: Set<string>, spreads: Set<string>): void {
  let at = skipTrivia(code, from)
  while (at < code.length && code.charAt(at) !== "}") {
    keyPattern.lastIndex = at
    spreadPattern.lastIndex = at
    const [, plain, double, single] = keyPattern.exec(code) ?? []
    const key = plain ?? double ?? single
    const spread = spreadPattern.exec(code)?.[1]
    if (key !== undefined) keys.add(key)
    if (spread !== undefined) spreads.add(spread)
    const end = skipValue(code, at)
    if (end === undefined) return
    at = skipTrivia(code, code.charAt(end) === "," ? end + 1 : end)
  }
}

/** The position of the comma or the brace that ends the value. */
function skipValue(code: string, from: number): number | undefined {
  let depth = 0
  let before = ","
  for (let at = skipTrivia(code, from); at < code.length; at = skipTrivia(code, at)) {
    const char = code.charAt(at)
    if (depth === 0 && (char === "," || char === "}")) return at
    if ("([{".includes(char)) depth += 1
    if (")]}".includes(char)) depth -= 1
    if (depth < 0) return undefined
    const literal = matchLiteral(code, at, before)
    at += literal?.length ?? 1
    before = literal === undefined ? char : '"'
  }
  return undefined
}

const textPattern =
  /"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'|`(?:[^`\\$]|\\[\s\S]|\$(?!\{))*`/y
const regexPattern = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y

/** A string, or a regular expression where a value may start. */
function matchLiteral(code: string, at: number, before: string): string | undefined {
  textPattern.lastIndex = at
  regexPattern.lastIndex = at
  return (
    textPattern.exec(code)?.[0] ??
    ("(,=:[!&|?{};>".includes(before) ? regexPattern.exec(code)?.[0] : undefined)
  )
}
