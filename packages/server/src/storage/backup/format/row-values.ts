import { BackupDamaged } from "@hamlet/contract/backup"
import type { SqlValue } from "@hamlet/database"
import type { TableColumn } from "../databases/backup-database.ts"
import { RestoreRefused } from "../restore/loader.ts"
import type { Frame } from "./frame-reader.ts"

/** The form of an id in both databases. SQLite would store any text. */
export const idPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Whether a column contains ids. A test compares this with the types of PostgreSQL. */
export function isId(column: string): boolean {
  return /(^|_)id$/.test(column) && column !== "key_id"
}

/** The rows of a frame. Rejects values that a database could store as something else. */
export function toRows(
  { json, bytes, items }: Frame,
  table: string,
  columns: readonly TableColumn[],
): readonly (readonly SqlValue[])[] {
  if (!Array.isArray(json) || json.length !== items)
    throw new BackupDamaged("it contains a frame with a wrong number of rows")
  let at = 0
  const take = (length: number) => {
    at += length
    if (at > bytes.length) throw new BackupDamaged("it contains a frame that is too short")
    return bytes.subarray(at - length, at)
  }
  return json.map((row: unknown) => {
    if (!Array.isArray(row) || row.length !== columns.length)
      throw new BackupDamaged(`it contains an invalid row of ${table}`)
    return columns.map(({ name, type }, index) => {
      const value: unknown = row[index]
      if (value === null) return null
      if (
        type === "text" &&
        typeof value === "string" &&
        isStorable(value) &&
        (!isId(name) || idPattern.test(value))
      )
        return value
      if (type === "integer" && Number.isSafeInteger(value)) return value as number
      if (type === "bytes" && Number.isSafeInteger(value) && (value as number) >= 0)
        return take(value as number)
      throw new RestoreRefused(`a row of ${table} has a ${name} that cannot be stored`)
    })
  })
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0")
}
