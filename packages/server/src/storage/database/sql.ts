/**
 * What both databases can bind. Booleans are stored as 0 and 1, times as milliseconds, ids as UUID
 * strings.
 */
export type SqlValue = string | number | null | Uint8Array

export interface Statement {
  readonly text: string
  readonly values: readonly SqlValue[]
}

/** A part of a transaction: it yields statements and is sent their rows. */
export type Statements<T> = Generator<Statement, T, readonly unknown[]>

/**
 * Values become $1, $2, …, in order. Each occurrence gets a number of its own, so that SQLite, to
 * which `$1` is a name, can bind by position. A nested statement is spliced in, with its numbers
 * shifted.
 */
export function sql(strings: TemplateStringsArray, ...parts: (SqlValue | Statement)[]): Statement {
  const known = knownTexts.get(strings)
  if (known !== undefined && isStillValid(known, parts))
    return { text: known.text, values: valuesOf(parts, known) }
  const statement = spliced(strings, parts)
  // Only the fragments: the values may be large, or secret, and must not be kept alive until the
  // next call.
  const fragments = parts.map((part) => (isStatement(part) ? part : null))
  knownTexts.set(strings, {
    text: statement.text,
    parts: fragments,
    hasFragments: parts.some(isStatement),
  })
  return statement
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
 * Text that we wrote ourselves: column lists, DDL. Never anything that a caller sent, and no `$`
 * followed by a digit.
 */
export function raw(text: string): Statement {
  return { text, values: [] }
}

// The tag is on the path of every request. A template whose fragments are the same constants as
// last time has the same text, and the same string object also makes the lookup of its prepared
// statement cheap.
interface KnownText {
  readonly text: string
  readonly parts: readonly (SqlValue | Statement)[]
  readonly hasFragments: boolean
}

const knownTexts = new WeakMap<TemplateStringsArray, KnownText>()

function isStillValid(known: KnownText, parts: readonly (SqlValue | Statement)[]): boolean {
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] ?? null
    const before = known.parts[index] ?? null
    if (isStatement(part) || isStatement(before)) {
      if (part !== before || (isStatement(part) && part.values.length > 0)) return false
    }
  }
  return true
}

function valuesOf(parts: readonly (SqlValue | Statement)[], known: KnownText): readonly SqlValue[] {
  return (
    known.hasFragments ? parts.filter((part) => !isStatement(part)) : parts
  ) as readonly SqlValue[]
}

function spliced(
  strings: TemplateStringsArray,
  parts: readonly (SqlValue | Statement)[],
): Statement {
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
