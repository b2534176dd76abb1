import { sessionHeader } from "@hamlet/contract/client"
import ts from "typescript-js"

/** A saved version of a val, whose lockfile has the types of its packages. */
export interface LockedVersion {
  readonly valId: string
  readonly version: number
}

export interface PackageTypesOptions {
  readonly baseUrl: string
  readonly readPageKey: () => string
  readonly compilerOptions: ts.CompilerOptions
  /** Types were loaded. */
  readonly onChange: () => void
}

/** The types of the npm packages of open documents, in a folder that TypeScript can search. */
export interface PackageTypes {
  /** Loads the packages of a document's saved version as soon as its lockfile is settled. */
  load(fileName: string, locked: LockedVersion): void
  /** Forgets a document. Its packages stay, because others may use them. */
  close(fileName: string): void
  resolve(specifier: string, importer: string): ts.ResolvedModuleFull | undefined
  read(fileName: string): string | undefined
  has(fileName: string): boolean
  hasFolder(path: string): boolean
  toRealPath(path: string): string
  /** The specifiers that have types. */
  listSpecifiers(): readonly string[]
  /** Counts changes of the files. */
  readonly changes: number
}

/** The response of the server, as far as it is used. */
interface VersionTypes {
  readonly state: "none" | "pending" | "ready" | "failed"
  readonly imports: readonly { readonly specifier: string; readonly resolved: string | null }[]
  readonly files: readonly { readonly path: string; readonly text: string }[]
  readonly links: readonly { readonly path: string; readonly target: string }[]
}

const folder = "/npm/"

const limits = {
  fetchMsMax: 30_000,
  /** A lockfile is usually settled within seconds; a registry that does not respond takes minutes. */
  pollMs: 300,
  pollsMax: 400,
  /** The files of all packages of all documents. Further ones are any. */
  charsMax: 40_000_000,
  linkHopsMax: 20,
}

export function createPackageTypes(options: PackageTypesOptions): PackageTypes {
  const { compilerOptions, onChange } = options
  const files = new PackageFiles()
  const documents = new Map<string, LoadedVersion>()
  /** The resolutions of all documents, for the vals that they import. */
  const resolutions = new Map<string, string>()
  const host: ts.ModuleResolutionHost = {
    fileExists: (path) => files.has(path),
    readFile: (path) => files.read(path),
    directoryExists: (path) => files.hasFolder(path),
    realpath: (path) => files.toRealPath(path),
  }

  async function follow(fileName: string, loading: LoadedVersion): Promise<void> {
    for (let polls = 0; polls < limits.pollsMax; polls++) {
      const types = await fetchTypes(options, loading)
      if (documents.get(fileName) !== loading) return
      if (types?.state === "pending") {
        await new Promise((resolve) => setTimeout(resolve, limits.pollMs))
        continue
      }
      if (types) add(loading, types)
      return
    }
  }

  function add(loaded: LoadedVersion, { imports, files: texts, links }: VersionTypes): void {
    let isNew = files.add(texts, links)
    for (const { specifier, resolved } of imports) {
      if (resolved === null || loaded.resolutions.get(specifier) === resolved) continue
      loaded.resolutions.set(specifier, resolved)
      resolutions.set(specifier, resolved)
      isNew = true
    }
    if (isNew) onChange()
  }

  function find(name: string, importer: string): ts.ResolvedModuleFull | undefined {
    return ts.resolveModuleName(name, importer, compilerOptions, host).resolvedModule
  }

  return {
    load(fileName, locked) {
      const known = documents.get(fileName)
      if (known?.valId === locked.valId && known.version === locked.version) return
      // Until the new types are there, those of the version before are the best guess.
      const loading = { ...locked, resolutions: new Map(known?.resolutions) }
      documents.set(fileName, loading)
      void follow(fileName, loading)
    },
    close: (fileName) => void documents.delete(fileName),
    resolve(specifier, importer) {
      if (importer.startsWith(folder)) return find(specifier, importer)
      const resolved =
        documents.get(importer)?.resolutions.get(specifier) ?? resolutions.get(specifier)
      const parsed = parseResolved(resolved ?? "")
      return parsed && find(parsed.path, `${folder}imports/${parsed.id}/index.ts`)
    },
    read: (fileName) => (fileName.startsWith(folder) ? files.read(fileName) : undefined),
    has: (fileName) => fileName.startsWith(folder) && files.has(fileName),
    hasFolder: (path) => files.hasFolder(path),
    toRealPath: (path) => files.toRealPath(path),
    listSpecifiers: () => [...resolutions.keys()],
    get changes() {
      return files.changes
    },
  }
}

interface LoadedVersion extends LockedVersion {
  /** What the lockfile has for each specifier. */
  readonly resolutions: Map<string, string>
}

/** `npm:@scope/name@1.2.3/path` is the package `@scope/name@1.2.3` and the path `@scope/name/path`. */
function parseResolved(
  resolved: string,
): { readonly id: string; readonly path: string } | undefined {
  const [, name, version, subpath = ""] =
    /^npm:((?:@[^/@]+\/)?[^/@]+)@([^/]+)(\/.*)?$/.exec(resolved) ?? []
  return name === undefined ? undefined : { id: `${name}@${version}`, path: name + subpath }
}

/**
 * The files of all packages. A package in one version is the same in every lockfile, so they share
 * a folder, and a new version of a val adds only what is new.
 */
class PackageFiles {
  readonly #texts = new Map<string, string>()
  readonly #links = new Map<string, string>()
  readonly #folders = new Set<string>()
  #chars = 0
  changes = 0

  /** Whether anything is new. */
  add(texts: VersionTypes["files"], links: VersionTypes["links"]): boolean {
    const before = this.changes
    for (const { path, text } of texts) {
      const name = folder + path
      if (this.#texts.get(name) === text || this.#chars + text.length > limits.charsMax) continue
      this.#texts.set(name, text)
      this.#chars += text.length
      this.#addFolders(name)
      this.changes += 1
    }
    for (const { path, target } of links) {
      const name = folder + path
      const real = joinPath(name, target)
      if (this.#links.get(name) === real) continue
      this.#links.set(name, real)
      this.#addFolders(name)
      this.changes += 1
    }
    return this.changes > before
  }

  has(path: string): boolean {
    return this.#texts.has(this.toRealPath(path))
  }

  read(path: string): string | undefined {
    return this.#texts.get(this.toRealPath(path))
  }

  hasFolder(path: string): boolean {
    const real = this.toRealPath(path.replace(/\/$/, ""))
    return this.#folders.has(real)
  }

  toRealPath(path: string): string {
    let real = path
    for (let hop = 0; hop < limits.linkHopsMax; hop++) {
      const link = this.#findLink(real)
      if (link === undefined) return real
      real = `${this.#links.get(link)}${real.slice(link.length)}`
    }
    return path
  }

  #findLink(path: string): string | undefined {
    for (const { 0: found, index } of path.matchAll(/\/node_modules\/(?:@[^/]+\/)?[^/@][^/]*/g)) {
      const prefix = path.slice(0, index + found.length)
      if (this.#links.has(prefix)) return prefix
    }
    return undefined
  }

  #addFolders(path: string): void {
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
      const parent = path.slice(0, at)
      if (this.#folders.has(parent)) return
      this.#folders.add(parent)
    }
  }
}

/** The target of a link, which is relative to the folder of the link. */
function joinPath(link: string, target: string): string {
  const parts = link.split("/").slice(0, -1)
  for (const part of target.split("/")) {
    if (part === "..") parts.pop()
    else parts.push(part)
  }
  return parts.join("/")
}

/** Undefined after a failure: the packages stay without types, and no error is shown. */
async function fetchTypes(
  { baseUrl, readPageKey }: PackageTypesOptions,
  { valId, version }: LockedVersion,
): Promise<VersionTypes | undefined> {
  const path = `/v1/vals/${encodeURIComponent(valId)}/versions/${version}/types`
  try {
    const response = await fetch(`${baseUrl.replace(/\/$/, "")}${path}`, {
      headers: { [sessionHeader]: readPageKey() },
      credentials: "same-origin",
      signal: AbortSignal.timeout(limits.fetchMsMax),
    })
    return response.ok ? ((await response.json()) as VersionTypes) : undefined
  } catch {
    return undefined
  }
}
