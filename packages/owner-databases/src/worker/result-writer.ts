import type { SQLOutputValue, StatementColumnMetadata } from "node:sqlite"
import { StatementError } from "./sql-errors.ts"

/** A column, with its declared type if it is one of a table. */
type Column = Pick<StatementColumnMetadata, "name" | "type">

/** What a statement changed. */
export interface Changes {
  readonly changes: number | bigint
  readonly lastInsertRowid: number | bigint | null
}

export type ResultWriter = ReturnType<typeof createResultWriter>

/** Writes the results of a request as JSON. Throws when they become too large together. */
export function createResultWriter(bytesMax: number) {
  let total = 0
  // A character takes at least one byte.
  const count = (json: string) => {
    total += json.length
    if (total > bytesMax) throw tooLarge(bytesMax)
    return json
  }
  return {
    toRow: (values: readonly SQLOutputValue[]) => count(`[${values.map(toJson).join(",")}]`),
    toResult(columns: readonly Column[], rows: readonly string[], changes?: Changes): string {
      const names = count(JSON.stringify(columns.map(({ name }) => name)))
      const types = count(JSON.stringify(columns.map(({ type }) => type ?? "")))
      const ends = count(
        `"rowsAffected":${changes?.changes ?? 0},"lastInsertRowid":${toJson(changes?.lastInsertRowid ?? null)}`,
      )
      return `{"columns":${names},"columnTypes":${types},"rows":[${rows.join(",")}],${ends}}`
    },
    /** The whole JSON as UTF-8. */
    toBytes(json: string): Buffer {
      const bytes = Buffer.from(json)
      if (bytes.length > bytesMax) throw tooLarge(bytesMax)
      return bytes
    },
  }
}

function tooLarge(bytesMax: number): StatementError {
  return new StatementError(`the result is larger than ${bytesMax} bytes`)
}

/** Infinity becomes null, as with JSON.stringify. */
function toJson(value: SQLOutputValue): string {
  if (typeof value === "string") return JSON.stringify(value)
  if (typeof value === "bigint") return isSafe(value) ? String(value) : `"${value}"`
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "null"
  return value === null
    ? "null"
    : `"${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64")}"`
}

function isSafe(value: bigint): boolean {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER
}
