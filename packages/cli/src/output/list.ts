import type { Colour } from "../terminal/colour.ts"
import { toTable } from "../terminal/table.ts"
import { toOneLine } from "../terminal/visible.ts"

/** A column: what a program reads, and how a person would rather see it. */
export interface Column<Item> {
  readonly title: string
  readonly value: (item: Item) => string | number | null
  readonly human?: (item: Item) => string
  readonly paint?: (colour: Colour, item: Item) => (text: string) => string
  /** Never cut, because somebody will copy it. */
  readonly isWhole?: boolean
}

/** How a list is shown. */
export interface ListView<Item> {
  readonly columns: readonly Column<Item>[]
  /** What a person reads when there is nothing. */
  readonly empty: string
}

interface ListWriter {
  readonly mode: "human" | "plain" | "json"
  readonly colour: Colour
  readonly width: number
  json(value: unknown): void
  writeLine(line: string): void
}

/** Writes a list: a table for a person, which needs all of it first; line by line for a program. */
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
  const columns = view.columns.map(({ title, value, human, paint, isWhole = false }) => ({
    title: title.toUpperCase(),
    isWhole,
    cells: all.map((item) => ({
      text: toOneLine(human?.(item) ?? String(value(item) ?? "")),
      paint: paint?.(writer.colour, item),
    })),
  }))
  for (const line of toTable(columns, writer.width, writer.colour.dim)) writer.writeLine(line)
}
