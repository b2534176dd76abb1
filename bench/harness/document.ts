import { join } from "node:path"
import { type Table, toMarkdown } from "./report.ts"

const path = join(import.meta.dir, "..", "..", "docs", "benchmarks.md")

/** Throws unless each benchmark has a section in the document: before any of them takes its time. */
export async function assertSections(names: readonly string[]): Promise<void> {
  const document = await Bun.file(path).text()
  for (const name of names) findSection(document, name)
}

/** Writes the results of one benchmark into its section of the document. */
export async function writeResults(
  name: string,
  machine: string,
  tables: readonly Table[],
): Promise<void> {
  const document = await Bun.file(path).text()
  const { from, to } = findSection(document, name)
  const results = `\n\nMeasured on ${new Date().toISOString().slice(0, 10)}: ${machine}.\n\n${toMarkdown(tables)}\n\n`
  await Bun.write(path, document.slice(0, from) + results + document.slice(to))
}

function findSection(
  document: string,
  name: string,
): { readonly from: number; readonly to: number } {
  const begin = `<!-- results of ${name}: written by the program -->`
  const [at, to] = [document.indexOf(begin), document.indexOf(`<!-- end of ${name} -->`)]
  if (at < 0 || to < at)
    throw new Error(
      `Cannot write the results of ${name}: docs/benchmarks.md has no section for them`,
    )
  return { from: at + begin.length, to }
}
