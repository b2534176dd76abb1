import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { prepareOnce } from "../../shared/caches/prepare-once.ts"

/** A page of the documentation. */
export interface DocPage {
  /** Such as `vals`; it is served at `/docs/vals.md`. */
  readonly name: string
  readonly title: string
  /** Markdown. */
  readonly text: string
}

/** The documentation of this version of the server. */
export interface DocPages {
  /** By name. */
  list(): Promise<readonly DocPage[]>
}

/** Reads the pages in a folder, once: they belong to the program. */
export function createDocPages(folder: string): DocPages {
  return { list: prepareOnce(() => readPages(folder)) }
}

async function readPages(folder: string): Promise<readonly DocPage[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".md")).sort()
  return Promise.all(
    names.map(async (file) => {
      const text = await Bun.file(join(folder, file)).text()
      const name = file.slice(0, -".md".length)
      return { name, title: /^# (.+)$/m.exec(text)?.[1] ?? name, text }
    }),
  )
}
