// Bundles the program of the server into a folder, for suites that start it often: loading a thousand
// files is half of what a start costs. Whatever the program finds beside its sources, as threads and
// the code of sandboxes, it finds there.
import { basename, dirname } from "node:path"
import { pathToFileURL } from "node:url"

const [entry = "", folder = ""] = process.argv.slice(2)

const { success, logs } = await Bun.build({
  entrypoints: [entry],
  outdir: folder,
  target: "bun",
  splitting: true,
  // Sources have texts that look like the address of a source map. Bun takes the last one of a file, and
  // says on standard error that it cannot read it.
  sourcemap: "linked",
  throw: false,
  plugins: [
    {
      name: "places of sources",
      setup(build) {
        build.onLoad({ filter: /\.(?:tsx?|m?js)$/ }, async ({ path }) => {
          const text = await Bun.file(path).text()
          const contents = text.replaceAll(/\bimport\.meta\.(url|dir|resolve\b)/g, (_, name) =>
            toPlace(path, name),
          )
          return contents === text ? undefined : { contents, loader: toLoader(path) }
        })
      },
    },
  ],
})
if (!success) throw new Error(`Cannot bundle ${basename(entry)}: ${logs.join("\n")}`)

/** What `import.meta` has in the source. */
function toPlace(path: string, name: string): string {
  if (name === "url") return JSON.stringify(pathToFileURL(path).href)
  if (name === "dir") return JSON.stringify(dirname(path))
  return `((name) => Bun.pathToFileURL(Bun.resolveSync(name, ${JSON.stringify(dirname(path))})).href)`
}

function toLoader(path: string): "tsx" | "ts" | "js" {
  if (path.endsWith(".tsx")) return "tsx"
  return path.endsWith(".ts") ? "ts" : "js"
}
