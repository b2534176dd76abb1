import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import type { BunPlugin } from "bun"

/** The font files of a style sheet. Their names contain a hash, so they may be cached forever. */
export interface Typeface {
  /** Names the copied files in the style sheet; without it the bundler would inline all fonts. */
  readonly plugin: BunPlugin
  /** Filled by the plugin. */
  readonly files: Map<string, Uint8Array>
}

/** What the bundler must leave as it is. */
export const fontFiles = "*.woff2"

/** Collects the fonts that a build uses. */
export function createTypeface(): Typeface {
  const files = new Map<string, Uint8Array>()
  return {
    files,
    plugin: {
      name: "typeface",
      setup(build) {
        build.onLoad({ filter: /\/ui\/styles\/typeface\.css$/ }, async ({ path }) => {
          let contents = await readFile(path, "utf8")
          for (const [, specifier = ""] of contents.matchAll(/url\("([^"]+\.woff2)"\)/g)) {
            const bytes = await readFile(fileURLToPath(import.meta.resolve(specifier)))
            const name = toName(specifier, bytes)
            files.set(name, bytes)
            contents = contents.replace(specifier, `./${name}`)
          }
          return { contents, loader: "css" }
        })
      },
    },
  }
}

/** The fonts that nearly every page uses: they are fetched together with the style sheet. */
export function findPreloaded(names: Iterable<string>): readonly string[] {
  return [...names].filter((name) => name.includes("-latin-wght-")).toSorted()
}

/** The tags that fetch fonts early. */
export function toPreloadTags(paths: readonly string[]): string {
  return paths
    .map((path) => `<link rel="preload" href="${path}" as="font" type="font/woff2" crossorigin>\n`)
    .join("")
}

function toName(specifier: string, bytes: Uint8Array): string {
  const base = specifier.slice(specifier.lastIndexOf("/") + 1, -".woff2".length)
  return `${base}-${createHash("sha256").update(bytes).digest("hex").slice(0, 8)}.woff2`
}
