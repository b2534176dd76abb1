import { createTimeSlice, mapInSlices } from "@hamlet/kit"
import type { CodeOwner } from "../access/caller.ts"
import type { Viewer } from "../access/rights.ts"
import {
  type ImportAddress,
  type ImportHosts,
  isTownAddress,
  mayImport,
  parseImportAddress,
  toBranchKey,
} from "../modules/import-address.ts"
import { createListPackages, type ListPackages } from "../modules/imports/text-packages.ts"
import type { WrittenImport } from "../modules/imports/written-imports.ts"
import type { Resolution } from "../modules/lockfiles.ts"
import { entryPath } from "../modules/module-url.ts"
import { hasRemoteImports, mayImportRemote } from "../modules/remote-imports.ts"

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
  readonly listPackages?: ListPackages
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

/** Texts of one save whose places are searched. */
const placesScannedMax = 50

/** Parses code of users without running it. It is shared fairly between owners. */
export interface CodeParser {
  scanImports(code: string, ownerId: string): Promise<readonly string[]>
  /** What each of many pieces of code imports. */
  scanManyImports(
    codes: readonly string[],
    ownerId: string,
  ): Promise<readonly (readonly string[])[]>
  /** What code imports, and where it says so; null if that cannot be told. */
  scanPlaces(code: string, ownerId: string): Promise<readonly WrittenImport[] | null>
  /** Fails with `module_not_parsable` for code that does not parse. */
  toJavaScript(code: string, ownerId: string): Promise<string>
}

/** Reads code of users. */
export type Sources = ReturnType<typeof createSources>

/** Finds a val that the viewer sees. */
interface FindVal {
  findByName(username: string, name: string, viewer: Viewer | undefined): Promise<unknown>
}

/** Creates the reader of code. */
export function createSources(parser: CodeParser, importHosts: ImportHosts, finder: FindVal) {
  /** The places are needed where packages are imported, perhaps by a name of the configuration. */
  const findPlaces = async (owner: CodeOwner, code: string, specifiers: readonly string[]) => {
    const isNeeded = mayImportRemote(code) || specifiers.some(isBare)
    return isNeeded ? await parser.scanPlaces(code, owner.ownerId) : undefined
  }
  return {
    parser,
    importHosts,
    /** Code that imports nothing. */
    readPlain: (code: string): ValSource => toSource(importHosts, undefined, code, [], new Set()),
    /**
     * Parses code of the owner for the vals and packages that it imports. Only a file at the root of
     * a val can import other vals by a relative address.
     */
    async read(
      owner: CodeOwner,
      code: string,
      name: string,
      path: string = entryPath,
    ): Promise<ValSource> {
      const specifiers = limitSpecifiers(await parser.scanImports(code, owner.ownerId))
      const missing = await findMissing(importHosts, finder, owner, specifiers)
      const importer = path.includes("/") ? undefined : { username: owner.ownerName, name }
      const written = await findPlaces(owner, code, specifiers)
      return toSource(importHosts, importer, code, specifiers, missing, written)
    },
    /** What a configuration imports: a prefix of addresses means the val that they are of. */
    async readTargets(
      owner: CodeOwner,
      text: string,
      targets: readonly string[],
    ): Promise<ValSource> {
      const specifiers = targets.map((target) => target.replace(/\/$/, ""))
      const missing = await findMissing(importHosts, finder, owner, specifiers)
      return toSource(importHosts, undefined, text, specifiers, missing)
    },
    /** Reads many files of several vals of the owner. */
    async readMany(
      owner: CodeOwner,
      vals: readonly {
        readonly name: string
        readonly codes: readonly string[]
        /** Whether the files are in folders. */
        readonly isNested?: boolean
      }[],
    ): Promise<readonly (readonly ValSource[])[]> {
      const importing = vals.flatMap(({ codes }) => codes.filter(mayImport))
      const found =
        importing.length === 0 ? [] : await parser.scanManyImports(importing, owner.ownerId)
      const specifiers = new Map(importing.map((code, index) => [code, found[index] ?? []]))
      const missing = await findMissing(importHosts, finder, owner, found.flat())
      const { ownerName: username } = owner
      const places = new Map<string, readonly WrittenImport[] | null | undefined>()
      // Without places, a version cannot take over packages.
      for (const [code, some] of [...specifiers].slice(0, placesScannedMax))
        places.set(code, await findPlaces(owner, code, some))
      const read: (readonly ValSource[])[] = []
      for (const { name, codes, isNested = false } of vals) {
        const importer = isNested ? undefined : { username, name }
        read.push(
          await mapInSlices(codes, (code) => {
            const some = specifiers.get(code) ?? []
            return toSource(importHosts, importer, code, some, missing, places.get(code))
          }),
        )
      }
      return read
    },
  }
}

/**
 * The addresses on esm.town that mean no val on this server, and are fetched from there. An address
 * with the owner's name always means a val on this server, which may be saved later.
 */
async function findMissing(
  importHosts: ImportHosts,
  vals: FindVal,
  owner: CodeOwner,
  specifiers: readonly string[],
): Promise<ReadonlySet<string>> {
  const missing = new Set<string>()
  if (!importHosts.fetchesTown) return missing
  const pace = createTimeSlice()
  for (const specifier of new Set(specifiers)) {
    await pace()
    const address = isTownAddress(specifier) && parseImportAddress(specifier, importHosts)
    if (!address || address.username === owner.ownerName.toLowerCase()) continue
    if (!(await vals.findByName(address.username, address.name, owner))) missing.add(specifier)
  }
  return missing
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
  written?: readonly WrittenImport[] | null,
): ValSource {
  const found = new Map<string, ValImport>()
  const some = limitSpecifiers(specifiers)
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
  const isRemote = hasRemoteImports(code, some, hosts, local)
  const text = { code, specifiers: some, isRemote, local, written }
  return { code, imports, isRemote, listPackages: createListPackages(hosts, text) }
}

/** Whether a specifier means something by a configuration only. */
function isBare(specifier: string): boolean {
  return !/^(?:\.{0,2}\/|\s*[a-z][a-z0-9+.-]*:)/i.test(specifier)
}

/** Packages come first, since a version whose packages are ignored would never get them. */
function limitSpecifiers(specifiers: readonly string[]): readonly string[] {
  if (specifiers.length <= specifiersMax) return specifiers
  const { remote = [], other = [] } = Object.groupBy(specifiers, (specifier) =>
    /^\s*[a-z]+:/i.test(specifier) ? "remote" : "other",
  )
  return [...remote, ...other].slice(0, specifiersMax)
}
