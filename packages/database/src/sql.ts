/**
 * The values that both databases can bind. Booleans are stored as 0 and 1, times as milliseconds,
 * ids as UUID strings.
 */
export type SqlValue = string | number | null | Uint8Array

export interface Statement {
  readonly text: string
  readonly values: readonly SqlValue[]
  /** Whether a script reads the rows, see `rows`. */
  readonly isRead?: true
  /** The channel whose listeners are told after the commit, as `Database.notify` tells them. */
  readonly notice?: string
}

/** A part of a transaction: it yields statements and receives the rows of those that it reads. */
export type Statements<T> = Generator<Statement, T, unknown>

/**
 * The arguments of a function that runs a statement. It is called with one, or written before a template
 * in place of `sql`.
 */
export type Sql = [strings: TemplateStringsArray | Statement, ...parts: Part[]]

/**
 * Values become $1, $2, …, in order. Each occurrence gets its own number, so that SQLite, which
 * treats `$1` as a name, can bind by position. A nested statement is inserted with its numbers
 * shifted. A statement is returned as it is.
 */
export function sql(strings: TemplateStringsArray | Statement, ...parts: Part[]): Statement {
  if ("text" in strings) return strings
  const known = lastTexts.get(strings)
  const values: SqlValue[] = []
  let isKnown = known !== undefined
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] as Part
    if (isStatement(part)) {
      isKnown &&= known?.nested[index] === part.text
      for (const value of part.values) values.push(value)
    } else {
      isKnown &&= known?.nested[index] === undefined
      values.push(part)
    }
  }
  if (known && isKnown) return { text: known.text, values }
  const text = toText(strings, parts)
  const nested = parts.map((part) => (isStatement(part) ? part.text : undefined))
  lastTexts.set(strings, { text, nested })
  return { text, values }
}

type Part = SqlValue | Statement

/**
 * The last text of each template, and the texts of the statements nested in it. Most templates have
 * the same text in each call; as the same string it is also found faster among prepared statements.
 */
const lastTexts = new Map<
  TemplateStringsArray,
  { readonly text: string; readonly nested: readonly (string | undefined)[] }
>()

function toText(strings: TemplateStringsArray, parts: readonly Part[]): string {
  let text = strings[0] ?? ""
  let count = 0
  for (const [index, part] of parts.entries()) {
    if (isStatement(part)) {
      text += shifted(part, count)
      count += part.values.length
    } else {
      count += 1
      text += `$${count}`
    }
    text += strings[index + 1]
  }
  return text
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

/**
 * SQL text from our own code: column lists, DDL. Never text that a caller sent, and no `$` followed
 * by a digit.
 */
export function raw(text: string): Statement {
  return { text, values: [] }
}

/** The statement, and a notice after the commit of its transaction. */
export function withNotice(statement: Statement, channel: string): Statement {
  return { ...statement, notice: channel }
}

function shifted(statement: Statement, by: number): string {
  if (by === 0 || statement.values.length === 0) return statement.text
  return statement.text.replace(/\$(\d+)/g, (_, number: string) => `$${Number(number) + by}`)
}

function isStatement(part: Part): part is Statement {
  return typeof part === "object" && part !== null && !(part instanceof Uint8Array)
}
