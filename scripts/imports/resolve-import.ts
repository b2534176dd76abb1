import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { dirname, isAbsolute, join, relative } from "node:path"

/** Our packages: name → folder from the root, and what their package.json exports. */
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

/** Reads the names of the workspaces. */
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
 * The file of ours that an import means, as a path from the root, or undefined if it is none of
 * ours or does not exist.
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
  // A path that "exports" does not list is taken as it stands: whether it works is for tsc to say,
  // where it leads for the rule.
  return join(found.folder, found.exports[subpath] ?? (subpath === "." ? "src/index.ts" : subpath))
}

function findFile(root: string, target: string): string | undefined {
  // TypeScript lets a file be named as what it would be compiled to.
  const names = [...suffixes.map((suffix) => target + suffix), target.replace(/\.js(x?)$/, ".ts$1")]
  return names.find((name) => statSync(join(root, name), { throwIfNoEntry: false })?.isFile())
}
