import { join } from "node:path"
import { type Table, toMarkdown } from "./report.ts"

const path = join(import.meta.dir, "..", "..", "docs", "benchmarks.md")

/** Writes the results of one benchmark into its section of the document. */
export async function writeResults(
  name: string,
  machine: string,
  tables: readonly Table[],
): Promise<void> {
  const [begin, end] = [
    `<!-- results of ${name}: written by the program -->`,
    `<!-- end of ${name} -->`,
  ]
  const document = await Bun.file(path).text()
  const [from, to] = [document.indexOf(begin), document.indexOf(end)]
  if (from < 0 || to < from)
    throw new Error(
      `Cannot write the results of ${name}: docs/benchmarks.md has no section for them`,
    )
  const results = `${begin}\n\nMeasured on ${new Date().toISOString().slice(0, 10)}: ${machine}.\n\n${toMarkdown(tables)}\n\n`
  await Bun.write(path, document.slice(0, from) + results + document.slice(to))
}
