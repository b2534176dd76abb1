import { isRecord } from "@hamlet/contract/is-record"
/** A list of objects as a table. */
export interface TableValue {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
}

const limits = { columnsMax: 30, rowsMax: 500 }

/** A list of objects as a table; undefined for other values. */
export function asTable(value: unknown): TableValue | undefined {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isRecord)) return undefined
  const columns = [...new Set(value.flatMap((row) => Object.keys(row)))]
  if (columns.length === 0 || columns.length > limits.columnsMax) return undefined
  return {
    columns,
    rows: value.slice(0, limits.rowsMax).map((row) => columns.map((column) => row[column])),
  }
}

/** A returned data URL of an image type that cannot contain scripts. */
export function asPicture(value: unknown): string | undefined {
  return typeof value === "string" &&
    /^data:image\/(png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=]+$/.test(value)
    ? value
    : undefined
}
