import { readdir } from "node:fs/promises"
import { join } from "node:path"

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
  let pages: Promise<readonly DocPage[]> | undefined
  return {
    list() {
      pages ??= readPages(folder).catch((error: unknown) => {
        // The next request tries again.
        pages = undefined
        throw error
      })
      return pages
    },
  }
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
