/** The field of a record that a column becomes. */
export interface Field {
  /** The names of the groups that it is in, and its own. */
  readonly path: readonly string[]
  /** PostgreSQL sends it as text, because it could be too large for a number; ours never are. */
  readonly isNumberText?: boolean
}

/** Refuses the type of a record that has the names of columns. */
export type RecordOf<Item> = {
  readonly [Key in keyof Item]: Key extends `${string}_${string}` ? never : Item[Key]
}

type Group = Record<string, unknown>

/** The values of a row, in the order of its columns. */
export type Row = readonly unknown[]

/**
 * The records of rows, as the code names their fields: the column `created_at` is `createdAt`, and
 * `val__owner_id` is the field `ownerId` of the group `val`. A group with a null is null: an outer
 * join has found nothing. We wrote the rows, so their values have the types that the code says;
 * booleans are 0 and 1. A row is the list of its values: an object with the names of the columns
 * would be made only to be copied.
 */
export function toRecords<Item>(rows: readonly Row[], fields: readonly Field[]): readonly Item[] {
  return rows.map((row) => {
    const record: Group = {}
    for (let index = 0; index < fields.length; index++) {
      const { path, isNumberText } = fields[index] as Field
      const found = row[index]
      put(record, path, 0, isNumberText && found !== null ? Number(found) : found)
    }
    return record as Item
  })
}

function put(group: Group, path: readonly string[], depth: number, value: unknown): void {
  const name = path[depth] as string
  if (depth === path.length - 1 || value === null) group[name] = value
  else if (group[name] !== null) {
    group[name] ??= {}
    put(group[name] as Group, path, depth + 1, value)
  }
}

/** By column: all columns of our own statements. */
const known = new Map<string, Field>()

/** The field of a column. */
export function toField(column: string): Field {
  const field = known.get(column) ?? { path: column.split("__").map(toFieldName) }
  known.set(column, field)
  return field
}

function toFieldName(column: string): string {
  return column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}
