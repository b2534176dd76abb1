import { join } from "node:path"

const docs = join(import.meta.dir, "..", "..", "docs")

/** A part of a document of docs/ that a program writes, between two comments. */
export interface Section {
  readonly file: string
  readonly begin: string
  readonly end: string
}

/** Throws unless each of them is there: before the program takes its time. */
export async function assertSections(sections: readonly Section[]): Promise<void> {
  for (const section of sections) await splitAround(section)
}

/** Writes a section anew. */
export async function writeSection(section: Section, text: string): Promise<void> {
  const [before, after] = await splitAround(section)
  await Bun.write(join(docs, section.file), `${before}\n\n${text}\n\n${after}`)
}

async function splitAround({ file, begin, end }: Section): Promise<readonly [string, string]> {
  const document = await Bun.file(join(docs, file)).text()
  const [from, to] = [document.indexOf(begin), document.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`Cannot write docs/${file}: it has no ${begin}`)
  return [document.slice(0, from + begin.length), document.slice(to)]
}
