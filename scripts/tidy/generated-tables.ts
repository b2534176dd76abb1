import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** A table in the documents that is made from the code, so that it cannot be out of date. */
export type GeneratedTable = {
  readonly name: string
  /** The document it stands in. */
  readonly document: string
  /** The module it is made from. */
  readonly source: string
  /** Makes the lines of the table, or throws a sentence if the module is not as expected. */
  readonly toLines: (exports: Record<string, unknown>) => string[]
}

/** Compares the table in the document with the code; with `isFixing` writes it instead. */
export async function checkGeneratedTable(
  root: string,
  table: GeneratedTable,
  isFixing: boolean,
): Promise<string[]> {
  const path = join(root, table.document)
  if (!existsSync(join(root, table.source)))
    return [`${table.document}: cannot be compared: ${table.source} does not exist`]
  if (!existsSync(path)) return [`${table.document}: does not exist`]
  const text = readFileSync(path, "utf8")
  const bounds = findBounds(text, table.name)
  if (!bounds)
    return [`${table.document}: has no lines "${startOf(table.name)}" and "${endOf(table.name)}"`]
  const lines = await makeLines(root, table)
  if ("problem" in lines) return [lines.problem]
  const expected = `${text.slice(0, bounds.from)}\n${lines.lines.join("\n")}\n${text.slice(bounds.to)}`
  if (text === expected) return []
  if (!isFixing)
    return [`${table.document}: is not what ${table.source} says; npm run check -- --fix writes it`]
  writeFileSync(path, expected)
  return []
}

async function makeLines(
  root: string,
  table: GeneratedTable,
): Promise<{ lines: string[] } | { problem: string }> {
  try {
    return { lines: table.toLines(await import(join(root, table.source))) }
  } catch (error) {
    return {
      problem: `${table.source}: cannot be made into ${table.document}: ${error instanceof Error ? error.message : error}`,
    }
  }
}

function findBounds(text: string, name: string): { from: number; to: number } | undefined {
  const from = text.indexOf(startOf(name))
  const to = text.indexOf(endOf(name))
  return from === -1 || to < from ? undefined : { from: from + startOf(name).length, to }
}

function startOf(name: string): string {
  return `<!-- ${name}: made from the code, do not edit -->`
}

function endOf(name: string): string {
  return `<!-- end of ${name} -->`
}

/** A Markdown table. What would end a cell is escaped. */
export function toTable(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  const toRow = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`
  return ["", toRow(columns), `|${columns.map(() => "---").join("|")}|`, ...rows.map(toRow), ""]
}
