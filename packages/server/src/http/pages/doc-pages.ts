import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { prepareOnce, toOwnJson } from "@hamlet/kit"

/** A page of the documentation. */
export interface DocPage {
  /** The name of the page, such as `vals`, which is served at `/docs/vals.md`. */
  readonly name: string
  readonly title: string
  /** The heading under which the page is listed. */
  readonly group: DocGroup
  /** Markdown. */
  readonly text: string
}

/** The documentation of this version of the server. */
export interface DocPages {
  /** In the order in which to read them. */
  list(): Promise<readonly DocPage[]>
  /** All pages as JSON, for the web app. */
  toJson(): Promise<Uint8Array>
  /** A picture of a page, if there is one. The name has no extension. */
  findPicture(name: string): Promise<Uint8Array | undefined>
}

export type DocGroup = keyof typeof groups

/** The pages of each group, in the order in which to read them. */
const groups = {
  "Write vals": [
    "vals",
    "std",
    "sqlite",
    "blobs",
    "schedules",
    "mail",
    "webhooks",
    "runs",
    "organisations",
    "egress",
    "compatibility",
    "errors",
  ],
  Tools: ["web-app", "cli", "assistants"],
  "Run a server": [
    "self-hosting",
    "configuration",
    "administration",
    "operations",
    "backup",
    "scale",
    "security-model",
  ],
  "About Hamlet": ["tour", "screenshots", "benchmarks"],
} as const satisfies Record<string, readonly string[]>

/** The names of all pages. */
export const docPageNames: ReadonlySet<string> = new Set(Object.values(groups).flat())

/** Reads the pages in a folder, once: they belong to the program. */
export function createDocPages(folder: string): DocPages {
  const list = prepareOnce(() => readPages(folder))
  const listPictures = prepareOnce(async () => new Set(await readPictureNames(folder)))
  return {
    list,
    toJson: prepareOnce(async () => new TextEncoder().encode(toOwnJson({ pages: await list() }))),
    async findPicture(name) {
      const file = `${name}.webp`
      if (!(await listPictures()).has(file)) return undefined
      return Bun.file(join(folder, "images", file)).bytes()
    },
  }
}

async function readPages(folder: string): Promise<readonly DocPage[]> {
  const listed = Object.entries(groups).flatMap(([group, names]) =>
    names.map((name) => ({ name, group: group as DocGroup })),
  )
  return Promise.all(
    listed.map(async ({ name, group }) => {
      const text = await Bun.file(join(folder, `${name}.md`)).text()
      return { name, title: /^# (.+)$/m.exec(text)?.[1] ?? name, group, text }
    }),
  )
}

/** A release may come without pictures. */
async function readPictureNames(folder: string): Promise<readonly string[]> {
  return readdir(join(folder, "images")).catch(() => [])
}
