/** What both databases can bind. Booleans are stored as 0 and 1, times as milliseconds, ids as UUID strings. */
export type SqlValue = string | number | null | Uint8Array

export interface Statement {
  readonly text: string
  readonly values: readonly SqlValue[]
}

/**
 * Values become $1, $2, …, in order. Each occurrence gets a number of its own, so that SQLite, to which `$1` is a name, can bind by
 * position. A nested statement is spliced in, with its numbers shifted.
 */
export function sql(strings: TemplateStringsArray, ...parts: (SqlValue | Statement)[]): Statement {
  return parts.some(isStatement) ? spliced(strings, parts) : { text: flatText(strings), values: parts as SqlValue[] }
}

/** The fragment that adds nothing, for the branch of a condition that needs no SQL. */
export const nothing: Statement = { text: "", values: [] }

export function join(parts: readonly Statement[], separator: string): Statement {
  let text = ""
  const values: SqlValue[] = []
  for (const [index, part] of parts.entries()) {
    text += (index === 0 ? "" : separator) + shifted(part, values.length)
    values.push(...part.values)
  }
  return { text, values }
}

/** Text that we wrote ourselves: column lists, DDL. Never anything that a caller sent, and no `$` followed by a digit. */
export function raw(text: string): Statement {
  return { text, values: [] }
}

/**
 * The right side of `in`. The last value is repeated until there are 1, 2, 4, 8, … of them: otherwise each length would be a statement of
 * its own, and few lengths would find theirs prepared. An empty list matches nothing.
 */
export function inList(values: readonly SqlValue[]): Statement {
  const length = values.length < 2 ? 1 : 2 ** Math.ceil(Math.log2(values.length))
  const padded = Array.from({ length }, (_, index) => values[Math.min(index, values.length - 1)] ?? null)
  return { text: `(${padded.map((_, index) => `$${index + 1}`).join(", ")})`, values: padded }
}

// The tag is on the path of every request. A template without nested statements always gives the same text, and the same string
// object also makes the lookup of its prepared statement cheap.
const flatTexts = new WeakMap<TemplateStringsArray, string>()

function flatText(strings: TemplateStringsArray): string {
  const known = flatTexts.get(strings)
  if (known !== undefined) return known
  const text = strings.reduce((before, after, index) => `${before}$${index}${after}`)
  flatTexts.set(strings, text)
  return text
}

function spliced(strings: TemplateStringsArray, parts: readonly (SqlValue | Statement)[]): Statement {
  let text = strings[0] ?? ""
  const values: SqlValue[] = []
  for (const [index, part] of parts.entries()) {
    if (isStatement(part)) {
      text += shifted(part, values.length)
      values.push(...part.values)
    } else {
      values.push(part)
      text += `$${values.length}`
    }
    text += strings[index + 1]
  }
  return { text, values }
}

function shifted(statement: Statement, by: number): string {
  if (by === 0 || statement.values.length === 0) return statement.text
  return statement.text.replace(/\$(\d+)/g, (_, number: string) => `$${Number(number) + by}`)
}

function isStatement(part: SqlValue | Statement): part is Statement {
  return typeof part === "object" && part !== null && !(part instanceof Uint8Array)
}
