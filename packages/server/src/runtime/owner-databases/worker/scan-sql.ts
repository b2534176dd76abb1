/**
 * The parameters of a statement, by their numbers less one: the name as it is written, prefix
 * included, or undefined for a bare `?`.
 */
export type Parameters = readonly (string | undefined)[]

/**
 * The same number that SQLite gives them: in order, a name that comes again has the number it had,
 * and `?3` has the number 3.
 */
export function findParameters(sql: string, countMax: number): Parameters {
  const names: (string | undefined)[] = []
  const numbers = new Map<string, number>()
  // Most statements that are large have none.
  if (!/[?:@$]/.test(sql)) return names
  for (const [, name] of sql.matchAll(tokenPattern)) {
    if (name === undefined) continue
    const number = /^\?\d/.test(name)
      ? Number(name.slice(1))
      : (numbers.get(name) ?? names.length + 1)
    // SQLite is going to refuse it; a list as long as it says is not made for that.
    if (number > countMax) return names
    while (names.length < number) names.push(undefined)
    if (name === "?") continue
    names[number - 1] ??= name
    numbers.set(name, number)
  }
  return names
}

/** Whether there is nothing in a text that SQLite would run. */
export function isBlank(sql: string): boolean {
  return sql.replaceAll(blankPattern, "") === ""
}

/**
 * A text from its first statement on: SQLite takes the semicolons before it for a statement that is
 * empty.
 */
export function skipBlanks(sql: string): string {
  return sql.replace(leadingPattern, "")
}

const comment = "--[^\\n]*|/\\*[^]*?(?:\\*/|$)"
const blankPattern = new RegExp(`${comment}|[\\s;]+`, "g")
const leadingPattern = new RegExp(`^(?:${comment}|[\\s;]+)+`)

/**
 * What may hide the sign of a parameter, and parameters. A quote that is doubled inside of quotes
 * ends one text and starts another, which comes to the same.
 */
const identifier = "[\\w$\\u0080-\\uffff]"
const tokenPattern = new RegExp(
  `${comment}|'[^']*'?|"[^"]*"?|\`[^\`]*\`?|\\[[^\\]]*\\]?|(?![$])${identifier}+|(\\?\\d*|[:@$](?:${identifier}|::)+(?:\\([^\\s)]{0,100}\\))?)`,
  "g",
)
