import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { dirname, isAbsolute, join, relative } from "node:path"

/** Our packages: name → folder from the root, and the exports of their package.json. */
export type Packages = ReadonlyMap<
  string,
  { readonly folder: string; readonly exports: Readonly<Record<string, string>> }
>

const suffixes = [
  "",
  ".ts",
  ".tsx",
  ".mts",
  ".mjs",
  ".js",
  ".jsx",
  "/index.ts",
  "/index.tsx",
  "/index.mjs",
  "/index.js",
]

/** Reads the packages of the workspace. */
export function readPackages(root: string): Packages {
  const parent = join(root, "packages")
  const folders = existsSync(parent) ? readdirSync(parent) : []
  const manifests = folders.map((name) => ({
    folder: `packages/${name}`,
    path: join(parent, name, "package.json"),
  }))
  return new Map(
    manifests
      .filter(({ path }) => existsSync(path))
      .map(({ folder, path }) => {
        const manifest = JSON.parse(readFileSync(path, "utf8")) as {
          name: string
          exports?: Record<string, string> | string
        }
        const exports =
          typeof manifest.exports === "string"
            ? { ".": manifest.exports }
            : (manifest.exports ?? {})
        return [manifest.name, { folder, exports }]
      }),
  )
}

/**
 * Resolves an import to a file of ours, as a path from the root; undefined if it is not ours or
 * does not exist.
 */
export function resolveImport(
  root: string,
  packages: Packages,
  importer: string,
  specifier: string,
): string | undefined {
  const target = findTarget(root, packages, importer, specifier)
  if (target === undefined || target.startsWith("..")) return undefined
  return findFile(root, target)
}

function findTarget(
  root: string,
  packages: Packages,
  importer: string,
  specifier: string,
): string | undefined {
  if (specifier.startsWith(".")) return join(dirname(importer), specifier)
  if (isAbsolute(specifier)) return relative(root, specifier)
  const name = specifier.split("/").slice(0, 2).join("/")
  const found = packages.get(name)
  if (!found) return undefined
  const subpath = `.${specifier.slice(name.length)}`
  // A path that "exports" does not list is used as it is: tsc checks whether it works, the rule
  // where it leads.
  return join(found.folder, found.exports[subpath] ?? (subpath === "." ? "src/index.ts" : subpath))
}

function findFile(root: string, target: string): string | undefined {
  // TypeScript allows the name of the compiled file.
  const names = [...suffixes.map((suffix) => target + suffix), target.replace(/\.js(x?)$/, ".ts$1")]
  return names.find((name) => statSync(join(root, name), { throwIfNoEntry: false })?.isFile())
}
