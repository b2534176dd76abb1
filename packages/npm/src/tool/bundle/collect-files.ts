import { lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import type { FileList } from "@hamlet/sandbox"
import type { ToolResolveLimits } from "../tool-messages.ts"
import { installFolder } from "./bundle-plugin.ts"
import { findPackageRoot } from "./entry-failures.ts"
import { mayLoadByPath } from "./locate-modules.ts"

/** The files of packages, in the order of the list. */
export interface CollectedFiles {
  readonly list: FileList
  readonly contents: readonly Uint8Array[]
}

/** The files of packages, and the packages whose files are left out. */
interface Collected {
  readonly files: CollectedFiles | undefined
  /** The packages whose files are left out, as `name@version`. */
  readonly leftOut: readonly string[]
}

/**
 * Collects the files of every package that uses its location, and of the packages that it depends
 * on if it may load its own modules by their paths. Small packages come first; those that exceed
 * the limits are left out, since most packages work without their files. `located` are the paths of
 * the modules that use their location, `required` those of the entries that the code itself may
 * require.
 */
export function collectFiles(
  located: readonly string[],
  required: readonly string[],
  folder: string,
  limits: ToolResolveLimits,
): Collected {
  const root = join(folder, installFolder)
  const direct = new Set(required.flatMap((path) => findPackageRoot(path, folder) ?? []))
  const packages = [...listRoots(located, direct, folder)].map((path) => measure(path, root))
  const chosen = choose(
    packages.toSorted(
      (left, right) => left.bytes - right.bytes || (left.path < right.path ? -1 : 1),
    ),
    limits,
  )
  const files = chosen.flatMap((one) => one.files).toSorted(byPath)
  const roots = new Set(chosen.map(({ path }) => path))
  const leftOut = packages
    .filter(({ path }) => !roots.has(path))
    .map(({ path }) => toPackageId(path, root))
    .toSorted()
  if (files.length === 0) return { files: undefined, leftOut }
  const collected = {
    list: {
      files: files.map(({ path, bytes }) => [relative(root, path), bytes] as const),
      links: [
        ...chosen.flatMap(({ path }) => listLinks(path, root, roots)),
        ...listDirectLinks(
          [...direct].filter((path) => roots.has(path)),
          root,
        ),
      ].toSorted(),
    },
    contents: files.map(({ path }) => readFileSync(path)),
  }
  return { files: collected, leftOut }
}

/** `name@version` of the package in a folder; Deno writes a slash in the name as a plus. */
function toPackageId(path: string, root: string): string {
  return relative(root, path).split("/")[0]?.replace("+", "/") ?? ""
}

/** Links by which the code finds the packages. Of two versions, one is found. */
function listDirectLinks(paths: readonly string[], root: string): [string, string][] {
  const links = new Map<string, string>()
  for (const path of paths) {
    const link = path.slice(path.lastIndexOf("node_modules/"))
    links.set(link, relative(dirname(link), relative(root, path)))
  }
  return [...links]
}

/** The folders of the packages. */
function listRoots(
  located: readonly string[],
  direct: ReadonlySet<string>,
  folder: string,
): Set<string> {
  const roots = new Set(direct)
  const loading = new Set(direct)
  for (const path of located) {
    const root = findPackageRoot(path, folder)
    if (root === undefined) continue
    roots.add(root)
    if (mayLoadByPath(readFileSync(path, "utf8"))) loading.add(root)
  }
  for (const root of loading)
    for (const { target } of listDependencies(root)) {
      const needed = findPackageRoot(join(target, "package.json"), folder)
      if (needed === undefined) continue
      loading.add(needed)
      roots.add(needed)
    }
  return roots
}

interface Dependency {
  readonly link: string
  readonly target: string
}

/** The links beside the folder of a package. */
function listDependencies(root: string): Dependency[] {
  const folder = root.slice(0, root.lastIndexOf("/node_modules/") + "/node_modules".length)
  const names = readdirSync(folder).flatMap((name) =>
    name.startsWith("@") && !lstatSync(join(folder, name)).isSymbolicLink()
      ? readdirSync(join(folder, name)).map((part) => join(name, part))
      : [name],
  )
  return names.flatMap((name) => {
    const link = join(folder, name)
    if (!lstatSync(link).isSymbolicLink()) return []
    try {
      return [{ link, target: realpathSync(link) }]
    } catch {
      // The package was removed, because it loads native addons.
      return []
    }
  })
}

function listLinks(path: string, root: string, roots: ReadonlySet<string>) {
  return listDependencies(path)
    .filter(({ target }) => roots.has(target))
    .map(({ link, target }) => [relative(root, link), relative(dirname(link), target)] as const)
}

interface MeasuredPackage {
  readonly path: string
  readonly files: readonly { readonly path: string; readonly bytes: number }[]
  readonly bytes: number
  readonly pathBytes: number
}

/** Files that no program reads: source maps, declarations except those of TypeScript, documents. */
const skipped =
  /\.map$|^(?!lib\.).*\.d\.[cm]?ts$|\.(?:md|markdown|flow|tsbuildinfo)$|^(?:license|licence|changelog)\b/i

function measure(path: string, root: string): MeasuredPackage {
  const files = listFiles(path)
  const sum = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size, 0)
  return {
    path,
    files,
    bytes: sum(files.map((file) => file.bytes)),
    pathBytes: sum(files.map((file) => Buffer.byteLength(relative(root, file.path)) + entryBytes)),
  }
}

/** What an entry of the list takes beside its path: quotes, brackets and a size. */
const entryBytes = 16

function listFiles(folder: string): { path: string; bytes: number }[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name.includes("\ufffd") ? [] : listFiles(path)
    // A name that is not UTF-8 cannot be used by a program in JavaScript.
    if (!entry.isFile() || skipped.test(entry.name) || entry.name.includes("\ufffd")) return []
    return [{ path, bytes: lstatSync(path).size }]
  })
}

function choose(
  packages: readonly MeasuredPackage[],
  { filesMax, fileBytesTotalMax, filePathBytesMax }: ToolResolveLimits,
): MeasuredPackage[] {
  let [count, bytes, pathBytes] = [0, 0, 0]
  return packages.filter((one) => {
    if (count + one.files.length > filesMax || bytes + one.bytes > fileBytesTotalMax) return false
    if (pathBytes + one.pathBytes > filePathBytesMax) return false
    count += one.files.length
    bytes += one.bytes
    pathBytes += one.pathBytes
    return true
  })
}

function byPath(left: { readonly path: string }, right: { readonly path: string }): number {
  return left.path < right.path ? -1 : 1
}
