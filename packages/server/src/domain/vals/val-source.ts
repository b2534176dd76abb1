import type { Caller } from "../access.ts"
import {
  type ImportAddress,
  type ImportHosts,
  isTownAddress,
  mayImport,
  parseImportAddress,
  toBranchKey,
} from "../modules/import-address.ts"
import type { Resolution } from "../modules/lockfiles.ts"
import { entryPath } from "../modules/module-url.ts"
import { hasRemoteImports } from "../modules/remote-imports.ts"

/**
 * A branch of a val that code imports, with every specifier that the code uses for it. The version is
 * null if any of them names no version.
 */
export interface ValImport extends Omit<ImportAddress, "path"> {
  readonly specifiers: readonly string[]
  /** The val that it means whatever its name is now. Set when code is copied with its pins. */
  readonly pin?: ImportPin
}

/** The version that an import is pinned to. What it imports in turn is as of `at`. */
export interface ImportPin {
  readonly valId: string
  readonly version: number
  readonly at: number
}

/** Code and what it imports. */
export interface ValSource {
  readonly code: string
  readonly imports: readonly ValImport[]
  /** Whether it also imports packages, so that its version needs a lockfile. */
  readonly isRemote?: boolean
  /** The packages, if they are known: nothing is fetched then. */
  readonly lock?: SettledResolution
}

/** A lockfile that is copied. */
export interface SettledResolution {
  readonly state: "ready" | "failed"
  readonly resolution: Resolution
}

/** More than a program may contain. Further ones are ignored: reading 10,000 would take long. */
const specifiersMax = 1_000

/** Parses code of users without running it. It is shared fairly between owners. */
export interface CodeParser {
  scanImports(code: string, ownerId: string): Promise<readonly string[]>
  /** What each of many pieces of code imports. */
  scanManyImports(
    codes: readonly string[],
    ownerId: string,
  ): Promise<readonly (readonly string[])[]>
  /** Fails with `module_not_parsable` for code that does not parse. */
  toJavaScript(code: string, ownerId: string): Promise<string>
}

/** Reads code of users. */
export type Sources = ReturnType<typeof createSources>

/** Creates the reader of code. */
export function createSources(
  parser: CodeParser,
  importHosts: ImportHosts,
  vals: {
    findByName(username: string, name: string, viewerId: string | undefined): Promise<unknown>
  },
) {
  /**
   * The addresses on esm.town that mean no val on this server, and are fetched from there. An address
   * with the caller's own name always means a val on this server, which the caller may save later.
   */
  const findMissing = async (caller: Caller, specifiers: readonly string[]) => {
    const missing = new Set<string>()
    if (!importHosts.fetchesTown) return missing
    for (const specifier of new Set(specifiers)) {
      const address = isTownAddress(specifier) && parseImportAddress(specifier, importHosts)
      if (!address || address.username === caller.username.toLowerCase()) continue
      if (!(await vals.findByName(address.username, address.name, caller.userId)))
        missing.add(specifier)
    }
    return missing
  }
  return {
    parser,
    importHosts,
    /**
     * Parses code of the caller for the vals and packages that it imports. Only a file at the root of
     * a val can import other vals by a relative address.
     */
    async read(
      caller: Caller,
      code: string,
      name: string,
      path: string = entryPath,
    ): Promise<ValSource> {
      const specifiers = takeFirst(await parser.scanImports(code, caller.userId))
      const missing = await findMissing(caller, specifiers)
      const importer = path.includes("/") ? undefined : { username: caller.username, name }
      return toSource(importHosts, importer, code, specifiers, missing)
    },
    /** The same for many files of several vals of the caller. */
    async readMany(
      caller: Caller,
      vals: readonly {
        readonly name: string
        readonly codes: readonly string[]
        /** Whether the files are in folders. */
        readonly isNested?: boolean
      }[],
    ): Promise<readonly (readonly ValSource[])[]> {
      const importing = vals.flatMap(({ codes }) => codes.filter(mayImport))
      const found =
        importing.length === 0 ? [] : await parser.scanManyImports(importing, caller.userId)
      const specifiers = new Map(importing.map((code, index) => [code, found[index] ?? []]))
      const missing = await findMissing(caller, found.flat())
      const { username } = caller
      return vals.map(({ name, codes, isNested = false }) => {
        const importer = isNested ? undefined : { username, name }
        return codes.map((code) =>
          toSource(importHosts, importer, code, specifiers.get(code) ?? [], missing),
        )
      })
    },
  }
}

/**
 * Builds a source from the specifiers that the parser found. Relative imports are resolved against
 * the importing val. `missing` are addresses of vals that are not on this server.
 */
export function toSource(
  hosts: ImportHosts,
  importer: { readonly username: string; readonly name: string } | undefined,
  code: string,
  specifiers: readonly string[],
  missing: ReadonlySet<string>,
): ValSource {
  const found = new Map<string, ValImport>()
  const some = takeFirst(specifiers)
  for (const specifier of some) {
    const address = parseImportAddress(specifier, hosts, importer)
    if (!address || missing.has(specifier)) continue
    const { username, name, branch } = address
    const key = toBranchKey(address)
    const before = found.get(key)
    const version = before?.version === null ? null : address.version
    const specifiers = [...(before?.specifiers ?? []), specifier]
    found.set(key, { username, name, branch, version, specifiers })
  }
  const imports = [...found.values()]
  const local = new Set(imports.flatMap((one) => one.specifiers))
  return { code, imports, isRemote: hasRemoteImports(code, some, hosts, local) }
}

/** Packages come first, since a version whose packages are ignored would never get them. */
function takeFirst(specifiers: readonly string[]): readonly string[] {
  if (specifiers.length <= specifiersMax) return specifiers
  const { remote = [], other = [] } = Object.groupBy(specifiers, (specifier) =>
    /^\s*[a-z]+:/i.test(specifier) ? "remote" : "other",
  )
  return [...remote, ...other].slice(0, specifiersMax)
}
