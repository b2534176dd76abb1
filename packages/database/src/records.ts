import { parseOwnJson } from "@hamlet/kit"

/** The field of a record that a column becomes. */
export interface Field {
  /** The names of the groups that it is in, and its own. */
  readonly path: readonly string[]
  /** Whether its group is there when it is null. */
  readonly canBeNull: boolean
  /** Makes the value of the field from what the column has, which is not null. */
  readonly decode?: ((found: unknown) => unknown) | undefined
  /** PostgreSQL sends it as text, because it could be too large for a number; ours never are. */
  readonly isNumberText?: boolean
}

/** Refuses the type of a record that has the names of columns, or numbers for booleans. */
export type RecordOf<Item> = {
  readonly [Key in keyof Item]: Key extends `${string}_${string}`
    ? never
    : Key extends `${"is" | "has"}${Uppercase<string>}${string}`
      ? boolean | null
      : Item[Key]
}

type Group = Record<string, unknown>

/** The values of a row, in the order of its columns. */
export type Row = readonly unknown[]

/**
 * The records of rows, as the code names their fields: the column `created_at` is `createdAt`, and
 * `list__owner_id` is the field `ownerId` of the group `list`. A group with a null is null: an outer
 * join has found nothing; only `list___owner_id` may be null in its group. The column `notes_json` is
 * the field `notes`, parsed; `tags_words` is a list and `hash_hex` a text of the bytes; columns like
 * `is_gone`, `has_files` and `read_flag` are booleans. We wrote the rows, so their values have the types
 * that the code says. A row is the list of its values: an object with the names of the columns would
 * be made only to be copied.
 */
export function toRecords<Item>(rows: readonly Row[], fields: readonly Field[]): readonly Item[] {
  return rows.map((row) => {
    const record: Group = {}
    for (let index = 0; index < fields.length; index++) {
      const field = fields[index] as Field
      const found = row[index]
      put(record, field, 0, found === null ? null : toValue(field, found))
    }
    return record as Item
  })
}

function toValue({ decode, isNumberText }: Field, found: unknown): unknown {
  return decode ? decode(found) : isNumberText ? Number(found) : found
}

function put(group: Group, field: Field, depth: number, value: unknown): void {
  const name = field.path[depth] as string
  if (depth === field.path.length - 1 || (value === null && !field.canBeNull)) group[name] = value
  else if (group[name] !== null) {
    group[name] ??= {}
    put(group[name] as Group, field, depth + 1, value)
  }
}

/** By column: all columns of our own statements. */
const known = new Map<string, Field>()

/** The field of a column. */
export function toField(column: string): Field {
  const earlier = known.get(column)
  if (earlier) return earlier
  const names = column.replace(/_(?:json|words|hex|flag)$/, "").split(/___?/)
  const decode = findDecode(column, names.at(-1) ?? "")
  const field = { path: names.map(toFieldName), canBeNull: column.includes("___"), decode }
  known.set(column, field)
  return field
}

function findDecode(column: string, name: string): Field["decode"] {
  if (column.endsWith("_json")) return parseText
  if (column.endsWith("_words")) return toWords
  if (column.endsWith("_hex")) return toHex
  if (column.endsWith("_flag")) return toBoolean
  return /^(?:is|has)_/.test(name) ? toBoolean : undefined
}

const parseText = (found: unknown): unknown => parseOwnJson(found as string)

const toWords = (found: unknown): readonly string[] =>
  found === "" ? [] : String(found).split(" ")

const toHex = (found: unknown): string => Buffer.from(found as Uint8Array).toString("hex")

/** SQLite returns a boolean as 1 or 0, and PostgreSQL one that it has computed as a boolean. */
const toBoolean = (found: unknown): boolean => Number(found) === 1

function toFieldName(column: string): string {
  return column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}
