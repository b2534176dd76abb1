import type { Output } from "@hamlet/contract/client"

/** The result of a statement. */
export type SqlResult = Output<"executeSql">

/** A name in SQL, whatever it contains. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Comma-separated values, as spreadsheets read them. */
export function toCsv({ columns, rows }: Pick<SqlResult, "columns" | "rows">): string {
  return [columns, ...rows].map((row) => `${row.map(toCell).join(",")}\r\n`).join("")
}

/** A list of objects. A name that occurs twice gets a number. */
export function toJson({ columns, rows }: Pick<SqlResult, "columns" | "rows">): string {
  const names = columns.map((name, index) => {
    const before = columns.slice(0, index).filter((other) => other === name).length
    return before === 0 ? name : `${name}_${before + 1}`
  })
  const objects = rows.map((row) =>
    Object.fromEntries(row.map((value, index) => [names[index] ?? String(index), value])),
  )
  return `${JSON.stringify(objects, null, 2)}\n`
}

function toCell(value: string | number | null): string {
  if (value === null) return ""
  const text = String(value)
  // A spreadsheet would take a text with one of these at its start for a formula.
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
