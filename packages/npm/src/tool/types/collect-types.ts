import { readFileSync, realpathSync, statSync } from "node:fs"
import { dirname, join, relative, sep } from "node:path"
import type { CollectedFiles } from "../bundle/collect-files.ts"
import type { PackageJson } from "../package-json.ts"
import type { ToolResolveLimits } from "../tool-messages.ts"
import { findDeclaration, findEntries, isFile, readTypesPackage } from "./find-declaration.ts"

/** An npm package that the code imports. */
export interface ImportedPackage {
  readonly name: string
  readonly version: string
  /** Its folder. */
  readonly path: string
  /** The subpaths that the code imports, such as `.` and `./jsx-runtime`. */
  readonly subpaths: readonly string[]
  /** The folder of the package `@types/…` with its types, if it has none itself. */
  readonly typesPath?: string | undefined
}

/**
 * Collects the declarations that an editor needs for the imports of code: those of the imported
 * packages, and all that they import in turn, nearest first, until a limit is reached. The layout is
 * that of Deno's folder, so that TypeScript resolves them as usual, and
 *
 *   imports/{name}@{version}/node_modules/{name}          links to an imported package
 *   imports/{name}@{version}/node_modules/@types/{name}   links to its types, if they are elsewhere
 *   node_modules/@types/{name}                            the same, for packages that import it too
 */
export function collectTypes(
  packages: readonly ImportedPackage[],
  roots: readonly string[],
  limits: ToolResolveLimits,
): CollectedFiles | undefined {
  const walk = new TypeWalk(roots, limits)
  for (const one of packages) walk.addImported(one)
  return walk.finish()
}

/** The name of the package with the types of another one. */
export function toTypesName(name: string): string {
  return `@types/${name.replace(/^@(.*)\//, (_, scope: string) => `${scope}__`)}`
}

class TypeWalk {
  readonly #roots: readonly string[]
  readonly #limits: ToolResolveLimits
  readonly #contents = new Map<string, Uint8Array>()
  readonly #links = new Map<string, string>()
  readonly #packages = new Map<string, PackageJson | undefined>()
  readonly #queue = new Set<string>()
  #bytes = 0
  #pathBytes = 0

  /** `roots` are the folders in which Deno has installed packages. */
  constructor(roots: readonly string[], limits: ToolResolveLimits) {
    this.#roots = roots
    this.#limits = limits
  }

  addImported({ name, version, path, subpaths, typesPath }: ImportedPackage): void {
    const folder = `imports/${name}@${version}/node_modules`
    if (this.#addLink(`${folder}/${name}`, path)) this.#addEntries(path, subpaths)
    if (typesPath === undefined) return
    const typesName = toTypesName(name)
    if (this.#addLink(`${folder}/${typesName}`, typesPath)) this.#addEntries(typesPath, subpaths)
    this.#addLink(`node_modules/${typesName}`, typesPath)
  }

  finish(): CollectedFiles | undefined {
    for (const path of this.#queue) if (!this.#addFile(path)) break
    const files = [...this.#contents].toSorted(([one], [other]) => (one < other ? -1 : 1))
    if (!files.some(([path]) => !path.endsWith("/package.json"))) return undefined
    return {
      list: {
        files: files.map(([path, { length }]) => [path, length] as const),
        links: [...this.#links].toSorted(),
      },
      contents: files.map(([, content]) => content),
    }
  }

  /** False when a limit is reached. A file that is too large is left out. */
  #addFile(path: string): boolean {
    const { size } = statSync(path)
    if (size > this.#limits.typeFileBytesMax) return true
    const text = readFileSync(path, "utf8")
    if (!this.#store(path, Buffer.from(text))) return false
    for (const { name, isPath } of listReferences(text)) {
      if (isPath || /^\.{1,2}(?:\/|$)/.test(name))
        for (const found of findDeclaration(join(dirname(path), name))) this.#enqueue(found)
      else this.#addPackage(name, path)
    }
    return true
  }

  #store(path: string, content: Uint8Array): boolean {
    const { typeFilesMax, typeBytesTotalMax, typePathBytesMax } = this.#limits
    const at = this.#toPath(path)
    if (at === undefined) return true
    this.#bytes += content.length
    this.#pathBytes += Buffer.byteLength(at) + entryBytes
    const isFull =
      this.#contents.size >= typeFilesMax ||
      this.#bytes > typeBytesTotalMax ||
      this.#pathBytes > typePathBytesMax
    if (!isFull) this.#contents.set(at, content)
    return !isFull
  }

  /** A package that a declaration imports: it is in a `node_modules` above the file. */
  #addPackage(specifier: string, from: string): void {
    const [, name, rest = ""] = /^((?:@[^/]+\/)?[^/@:#][^/:]*)(\/.+)?$/.exec(specifier) ?? []
    // The editor has types of Node itself.
    if (name === undefined || name === "node" || name === "@types/node") return
    for (const candidate of [name, toTypesName(name)]) {
      const link = this.#findLink(candidate, dirname(from))
      const root = link && this.#resolve(link)
      if (link === undefined || root === undefined) continue
      const at = this.#toPath(link)
      if (link === root || (at !== undefined && this.#addLink(at, root)))
        this.#addEntries(root, [`.${rest}`])
    }
  }

  #findLink(name: string, from: string): string | undefined {
    for (let folder = from; this.#toPath(folder) !== undefined; folder = dirname(folder)) {
      const path = folder.endsWith(`${sep}node_modules`)
        ? join(folder, name)
        : join(folder, "node_modules", name)
      if (isFile(join(path, "package.json"))) return path
    }
    return undefined
  }

  #addEntries(root: string, subpaths: readonly string[]): void {
    const packageJson = this.#readPackage(root)
    if (!packageJson) return
    for (const subpath of subpaths)
      for (const path of findEntries(root, packageJson, subpath)) this.#enqueue(path)
  }

  #readPackage(root: string): PackageJson | undefined {
    if (this.#packages.has(root)) return this.#packages.get(root)
    const packageJson = readTypesPackage(root)
    this.#packages.set(root, packageJson)
    if (packageJson)
      this.#store(join(root, "package.json"), Buffer.from(JSON.stringify(packageJson)))
    return packageJson
  }

  #addLink(at: string, root: string): boolean {
    const target = this.#toPath(root)
    if (target === undefined) return false
    if (this.#links.has(at)) return true
    this.#pathBytes += Buffer.byteLength(at) + Buffer.byteLength(target) + entryBytes
    if (this.#pathBytes > this.#limits.typePathBytesMax) return false
    this.#links.set(at, relative(dirname(at), target))
    return true
  }

  #enqueue(path: string): void {
    const real = this.#resolve(path)
    if (real !== undefined) this.#queue.add(real)
  }

  /** The path without links, if it is in one of the roots: a package may contain any links. */
  #resolve(path: string): string | undefined {
    const real = realpathSync(path)
    return this.#toPath(real) === undefined ? undefined : real
  }

  /** The path in the archive. */
  #toPath(path: string): string | undefined {
    const root = this.#roots.find((one) => path.startsWith(`${one}${sep}`))
    return root === undefined ? undefined : relative(root, path)
  }
}

/** What an entry of the list takes beside its paths. */
const entryBytes = 16

interface Reference {
  readonly name: string
  /** Relative to the file, even without a dot. */
  readonly isPath: boolean
}

const referencePattern =
  /\b(?:from|import|require)\s*(?:\(\s*)?["']([^"'\n]+)["']|<reference\s+(path|types)\s*=\s*["']([^"'\n]+)["']/g

/** Everything that looks like an import: more than there is does no harm. */
function listReferences(text: string): Reference[] {
  return Array.from(text.matchAll(referencePattern), ([, imported, kind, referenced = ""]) => ({
    name: imported ?? referenced,
    isPath: kind === "path",
  }))
}
