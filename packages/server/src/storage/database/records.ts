/** The field of a record that a column becomes. */
export interface Field {
  readonly column: string
  readonly name: string
  /** PostgreSQL sends it as text, because it could be too large for a number; ours never are. */
  readonly isNumberText?: boolean
}

/** Refuses the type of a record that has the names of columns. */
export type RecordOf<Item> = {
  readonly [Key in keyof Item]: Key extends `${string}_${string}` ? never : Item[Key]
}

/**
 * The records of rows, as the code names their fields: the column `created_at` is `createdAt`. We
 * wrote the rows, so their values have the types that the code says; booleans are 0 and 1.
 */
export function toRecords<Item>(
  rows: readonly unknown[],
  fields: readonly Field[] = Object.keys(rows[0] ?? {}).map(toField),
): readonly Item[] {
  return rows.map((row) => {
    const values = row as Readonly<Record<string, unknown>>
    const item: Record<string, unknown> = {}
    for (const { column, name, isNumberText } of fields) {
      const value = values[column]
      item[name] = isNumberText && value !== null ? Number(value) : value
    }
    return item as Item
  })
}

/** By column: all columns of our own statements. */
const known = new Map<string, Field>()

/** The field of a column. */
export function toField(column: string): Field {
  const field = known.get(column) ?? {
    column,
    name: column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
  }
  known.set(column, field)
  return field
}
