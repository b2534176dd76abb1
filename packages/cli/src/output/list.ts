import { toAgo } from "../terminal/ago.ts"
import type { Colour } from "../terminal/colour.ts"
import { toTable } from "../terminal/table.ts"
import { toOneLine } from "../terminal/visible.ts"

/** A column of a list: its value for programs, and how people see it. */
export interface Column<Item> {
  readonly title: string
  readonly value: (item: Item) => string | number | null | undefined
  readonly human?: (item: Item) => string
  /** Whether the value is a time, which people see relative to now. */
  readonly isTime?: boolean
  /** What people see instead of an absent value. */
  readonly absent?: string
  readonly paint?: (colour: Colour, item: Item) => (text: string) => string
  /** Never truncated, so that it can be copied. */
  readonly isWhole?: boolean
}

/** How a list is printed. */
export interface ListView<Item> {
  readonly columns: readonly Column<Item>[]
  /** Shown to people when the list is empty. */
  readonly empty: string
}

interface ListWriter {
  readonly mode: "human" | "plain" | "json"
  readonly colour: Colour
  readonly width: number
  json(value: unknown): void
  writeLine(line: string): void
}

/** Prints a list: for people as a table, which needs all items first; for programs line by line. */
export async function writeList<Item>(
  writer: ListWriter,
  items: AsyncIterable<Item>,
  view: ListView<Item>,
): Promise<void> {
  if (writer.mode !== "human") {
    for await (const item of items) {
      if (writer.mode === "json") writer.json(item)
      else
        writer.writeLine(
          view.columns.map(({ value }) => toOneLine(String(value(item) ?? ""))).join("\t"),
        )
    }
    return
  }
  const all = await Array.fromAsync(items)
  if (all.length === 0) return writer.writeLine(writer.colour.dim(view.empty))
  const columns = view.columns.map((column) => ({
    title: column.title.toUpperCase(),
    isWhole: column.isWhole ?? false,
    cells: all.map((item) => ({
      text: toOneLine(column.human?.(item) ?? toText(column, column.value(item))),
      paint: column.paint?.(writer.colour, item),
    })),
  }))
  for (const line of toTable(columns, writer.width, writer.colour.dim)) writer.writeLine(line)
}

function toText<Item>(
  { isTime, absent = "" }: Column<Item>,
  value: string | number | null | undefined,
): string {
  if (value === null || value === undefined) return absent
  return isTime ? toAgo(String(value), Date.now()) : String(value)
}
