/** The names of parameters 1, 2, …, with their prefix; undefined for a bare `?`. */
export type Parameters = readonly (string | undefined)[]

/**
 * Numbers the parameters as SQLite does: in order of appearance. A repeated name keeps its number,
 * and `?3` has the number 3.
 */
export function findParameters(sql: string, countMax: number): Parameters {
  const names: (string | undefined)[] = []
  const numbers = new Map<string, number>()
  // Most large statements have none.
  if (!/[?:@$]/.test(sql)) return names
  for (const [, name] of sql.matchAll(tokenPattern)) {
    if (name === undefined) continue
    const number = /^\?\d/.test(name)
      ? Number(name.slice(1))
      : (numbers.get(name) ?? names.length + 1)
    // SQLite will refuse the statement. Do not allocate a list of that length.
    if (number > countMax) return names
    while (names.length < number) names.push(undefined)
    if (name === "?") continue
    names[number - 1] ??= name
    numbers.set(name, number)
  }
  return names
}

/** The statement with numbers instead of names: `:name` becomes `?2` if it is the second parameter. */
export function numberParameters(sql: string, parameters: Parameters): string {
  let next = 0
  return sql.replaceAll(tokenPattern, (token, name: string | undefined) => {
    if (name === undefined || /^\?\d/.test(name)) return token
    const number = name === "?" ? parameters.indexOf(undefined, next) : parameters.indexOf(name)
    next = Math.max(next, number + 1)
    return `?${number + 1}`
  })
}

/** The statement with a text in single quotes wherever it is in double quotes, as a name. */
export function quoteText(sql: string, text: string): string {
  const name = `"${text.replaceAll('"', '""')}"`
  const quoted = `'${text.replaceAll("'", "''")}'`
  return sql.replaceAll(tokenPattern, (token) => (token === name ? quoted : token))
}

/** Whether the SQL contains no statement. */
export function isBlank(sql: string): boolean {
  return sql.replaceAll(blankPattern, "") === ""
}

/** The SQL from its first statement on: SQLite takes semicolons before it for an empty statement. */
export function skipBlanks(sql: string): string {
  return sql.replace(leadingPattern, "")
}

const comment = "--[^\\n]*|/\\*[^]*?(?:\\*/|$)"
const blankPattern = new RegExp(`${comment}|[\\s;]+`, "g")
const leadingPattern = new RegExp(`^(?:${comment}|[\\s;]+)+`)

/**
 * Comments, strings and names, which may contain the prefix of a parameter, and parameters. A
 * doubled quote inside of a string counts as the end of one string and the start of another, which
 * has the same effect.
 */
const identifier = "[\\w$\\u0080-\\uffff]"
const tokenPattern = new RegExp(
  `${comment}|'[^']*'?|"[^"]*"?|\`[^\`]*\`?|\\[[^\\]]*\\]?|(?![$])${identifier}+|(\\?\\d*|[:@$](?:${identifier}|::)+(?:\\([^\\s)]{0,100}\\))?)`,
  "g",
)
