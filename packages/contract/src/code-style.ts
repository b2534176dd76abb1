/** The style of code, where `POST /v1/format` has a choice. */
export interface CodeStyle {
  readonly semicolons: boolean
  readonly quotes: "double" | "single"
}

const charsMax = 100_000

/** The style that most of the code has: formatting must not change every line of a val. */
export function readStyle(code: string): CodeStyle {
  const text = code.slice(0, charsMax)
  // Lines after which a statement can end: others have no choice.
  const ends = text.match(/[\w)\]"'`][ \t]*(?:;[ \t]*)?$/gm) ?? []
  const withSemicolon = ends.filter((end) => end.includes(";")).length
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0
  return {
    semicolons: withSemicolon * 2 >= ends.length,
    quotes: count(/'/g) > count(/"/g) ? "single" : "double",
  }
}
