import { parseOwnJson } from "../../shared/hostile-input/bounded.ts"

/** Makes a field of its column. A field that several columns make reads them from the row. */
type Read<Value> = (value: never, row: never) => Value

/**
 * Creates the function that makes a record of a row. The column of a field has its name in snake
 * case. We wrote the rows, so their values have the types that the fields say.
 */
export function createReader<Item>(
  fields: {
    readonly [Key in keyof Item]-?: Read<Item[Key]>
  },
): (row: object) => Item {
  const readers = Object.entries(fields).map(([key, read]) => ({
    key,
    column: key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    read: read as (value: unknown, row: object) => unknown,
  }))
  return (row) => {
    const values = row as Readonly<Record<string, unknown>>
    const item: Record<string, unknown> = {}
    for (const { key, column, read } of readers) item[key] = read(values[column], row)
    return item as Item
  }
}

/** The value as it is. */
export const asIs = (value: never): never => value

/** PostgreSQL returns 64-bit integers as text. */
export const asNumber = (value: number | string): number => Number(value)

/** The same for a column that may be null. */
export const asNumberOrNull = (value: number | string | null): number | null =>
  value === null ? null : Number(value)

/** Booleans are stored as 0 and 1. */
export const asBoolean = (value: number): boolean => value === 1

/** The value of a JSON text. */
export const asJson = (value: string): never => parseOwnJson(value) as never
