import type { Sources } from "../vals/val-source.ts"
import type { Versions } from "../vals/versions.ts"
import { type ImportAddress, parseImportAddress } from "./import-address.ts"
import type { LockfileStore, LockfileSummary } from "./lockfiles.ts"
import type { VersionLockfiles } from "./version-lockfiles.ts"

/** A val that a version imports, resolved to its current state. */
export interface ResolvedImport {
  /** `{user}/{val}` in lower case. */
  readonly address: string
  /** All specifiers that the code uses for it; null for versions saved before these were stored. */
  readonly specifiers: readonly string[] | null
  readonly isPinned: boolean
  /** The time as of which a pinned val imports in turn. */
  readonly pinnedAt: number
  /** Undefined when it does not exist, or the owner of the importing val may not see it. */
  readonly val: { readonly id: string; readonly ownerId: string } | undefined
  /** The version to use where the code names none; undefined when it was deleted. */
  readonly version: SavedVersion | undefined
}

interface SavedVersion {
  readonly number: number
  readonly savedAt: number
}

/** Stores what versions import. */
export interface ImportStore {
  /** Unpinned imports resolve to the versions that were current at `asOf`; null means now. */
  find(valId: string, version: number, asOf: number | null): Promise<readonly ResolvedImport[]>
}

/** Where the graph finds versions, their imports and their packages. */
export interface GraphParts {
  readonly imports: ImportStore
  readonly versions: Pick<Versions, "find">
  readonly sources: Sources
  readonly lockfiles: Pick<LockfileStore, "findSummary">
  readonly versionLockfiles: Pick<VersionLockfiles, "ensure" | "completeSince">
}

/** A module under one of the URLs that it is imported by. */
export interface GraphModule {
  readonly url: string
  readonly valId: string
  readonly version: number
}

/** A module with the packages that it imports. */
export interface LockedGraphModule extends GraphModule {
  /** Null when it imports no packages. */
  readonly lock: LockfileSummary | null
}

/** A module whose imports are being resolved. */
export interface ImportingModule extends GraphModule {
  readonly ownerId: string
  readonly savedAt: number
  /** See ImportStore. */
  readonly asOf: number | null
}

/** The limits of the graph and its caches. */
export interface GraphLimits {
  /** Modules besides the entry. */
  readonly modulesMax: number
  /** Entries in each cache. */
  readonly cachedMax: number
}

/** Resolves the modules that a val imports. */
export interface ModuleGraph {
  /**
   * The lockfile (or null) of a version that is known to import no vals; undefined if that is not
   * known.
   */
  findLeaf(valId: string, version: number): LockfileSummary | null | undefined
  /** Caches that the version imports nothing, which never changes. */
  noteLeaf(valId: string, version: number): void
  /** `unsaved` are the imports of an entry that is not saved. */
  walk(entry: ImportingModule, unsaved?: readonly ResolvedImport[]): Promise<Walk>
}

/** The modules of a val. */
export interface Walk {
  /** The lockfile of the entry. */
  readonly lock: LockfileSummary | null
  /** Every module that the entry imports, directly or not, nearest first, up to the limit. */
  readonly modules: readonly LockedGraphModule[]
}

/**
 * Walks the import graph breadth first. An import is resolved with the rights of the owner of the
 * importing module, who may import their own private vals and no others. A user's own vals are
 * imported in their current version, vals of others as they were when the importing version was
 * saved. Everything that such a val imports in turn is as of that time, too.
 *
 * In a process, one URL is one module. If two modules pin the same URL to different versions, the
 * module nearer to the entry wins, so the entry gets what its author has tested it with.
 */
export function createModuleGraph(parts: GraphParts, limits: GraphLimits): ModuleGraph {
  const alone = new Map<string, LockfileSummary | null>()
  const facts: Facts = {
    ...limits,
    alone,
    lockfiles: new Map(),
    scanned: new Map(),
    parsed: new Map(),
  }
  return {
    findLeaf: (valId, version) => alone.get(`${valId}@${version}`),
    noteLeaf: (valId, version) => note(facts, alone, `${valId}@${version}`, null),
    async walk(entry, unsaved) {
      const known = new Map<string, ImportingModule>([[entry.url, entry]])
      const lockfiles = new Map<string, LockfileSummary | null>()
      for (let level = [entry]; level.length > 0; ) {
        const found = await Promise.all(
          level.map((module) => look(parts, facts, module, module === entry ? unsaved : undefined)),
        )
        for (const { url, lock } of found) lockfiles.set(url, lock)
        level = found
          .flatMap(({ imported }) => imported)
          .filter((module) => {
            if (known.has(module.url) || known.size > limits.modulesMax) return false
            known.set(module.url, module)
            return true
          })
      }
      known.delete(entry.url)
      const modules = Array.from(known.values(), (module) => ({
        ...module,
        lock: lockfiles.get(module.url) ?? null,
      }))
      return { lock: lockfiles.get(entry.url) ?? null, modules }
    },
  }
}

/** Caches of facts that never change. */
interface Facts extends GraphLimits {
  /** The lockfiles of versions that import no vals, by `{val id}@{version}`. */
  readonly alone: Map<string, LockfileSummary | null>
  /** The lockfiles of all versions, by `{val id}@{version}`, if they are final. */
  readonly lockfiles: Map<string, LockfileSummary | null>
  readonly scanned: Map<string, readonly string[]>
  /** By the URL of the importing module and the specifier. Parsing is the slowest part here. */
  readonly parsed: Map<string, Written | undefined>
}

/** A parsed specifier. */
interface Written {
  /** The URL that the runtime will request. */
  readonly url: string
  readonly address: ImportAddress
}

function note(
  { cachedMax }: GraphLimits,
  known: Map<string, LockfileSummary | null>,
  key: string,
  lock: LockfileSummary | null,
): void {
  if (known.size >= cachedMax) known.clear()
  known.set(key, lock)
}

interface Look {
  readonly url: string
  readonly lock: LockfileSummary | null
  readonly imported: readonly ImportingModule[]
}

async function look(
  parts: GraphParts,
  facts: Facts,
  module: ImportingModule,
  unsaved: readonly ResolvedImport[] | undefined,
): Promise<Look> {
  const { url } = module
  if (unsaved)
    return { url, lock: null, imported: await listImported(parts, facts, module, unsaved) }
  const key = `${module.valId}@${module.version}`
  const known = facts.alone.get(key)
  if (known !== undefined) return { url, lock: known, imported: [] }
  const [lock, imports] = await Promise.all([
    findLock(parts, facts, module),
    parts.imports.find(module.valId, module.version, module.asOf),
  ])
  if (imports.length > 0)
    return { url, lock, imported: await listImported(parts, facts, module, imports) }
  if (isFinal(lock)) note(facts, facts.alone, key, lock)
  return { url, lock, imported: [] }
}

async function findLock(
  parts: GraphParts,
  facts: Facts,
  { valId, version, savedAt }: ImportingModule,
): Promise<LockfileSummary | null> {
  const key = `${valId}@${version}`
  const known = facts.lockfiles.get(key)
  if (known !== undefined) return known
  let lock = await parts.lockfiles.findSummary(valId, version)
  if (lock === null && savedAt < parts.versionLockfiles.completeSince) {
    const val = await parts.versions.find(valId, version)
    if (val && (await parts.versionLockfiles.ensure(val)))
      lock = await parts.lockfiles.findSummary(valId, version)
  }
  if (isFinal(lock)) note(facts, facts.lockfiles, key, lock)
  return lock
}

/** A version without a lockfile never gets one, and a lockfile that is ready never changes. */
function isFinal(lock: LockfileSummary | null): boolean {
  return lock === null || lock.state === "ready"
}

async function listImported(
  parts: GraphParts,
  facts: Facts,
  module: ImportingModule,
  imports: readonly ResolvedImport[],
): Promise<readonly ImportingModule[]> {
  const byAddress = new Map(imports.map((one) => [one.address, one]))
  const isNoted = imports.every(({ specifiers }) => specifiers !== null)
  const specifiers = isNoted
    ? imports.flatMap((one) => one.specifiers ?? [])
    : await scan(parts, facts, module)
  const found = await Promise.all(
    specifiers
      .slice(0, facts.modulesMax)
      .map((specifier) =>
        resolve(parts, module, parse(parts, facts, module.url, specifier), byAddress),
      ),
  )
  return found.filter((one) => one !== undefined)
}

/** Parses versions that were saved before specifiers were stored. */
async function scan(
  parts: GraphParts,
  { scanned, cachedMax }: Facts,
  module: ImportingModule,
): Promise<readonly string[]> {
  const key = `${module.valId}@${module.version}`
  const known = scanned.get(key)
  if (known) return known
  const val = await parts.versions.find(module.valId, module.version)
  const specifiers = val ? await parts.sources.parser.scanImports(val.code, val.ownerId) : []
  if (scanned.size >= cachedMax) scanned.clear()
  scanned.set(key, specifiers)
  return specifiers
}

function parse(
  parts: GraphParts,
  { parsed, cachedMax }: Facts,
  from: string,
  specifier: string,
): Written | undefined {
  const key = `${from} ${specifier}`
  if (parsed.has(key)) return parsed.get(key)
  const url = toModuleUrl(specifier, from)
  const address = url === undefined ? undefined : parseImportAddress(url, parts.sources.importHosts)
  const written = url === undefined || address === undefined ? undefined : { url, address }
  if (parsed.size >= cachedMax) parsed.clear()
  if (key.length <= cachedCharsMax) parsed.set(key, written)
  return written
}

/** Longer keys are not cached: only an attacker writes such specifiers. */
const cachedCharsMax = 500

async function resolve(
  parts: GraphParts,
  module: ImportingModule,
  written: Written | undefined,
  imports: ReadonlyMap<string, ResolvedImport>,
): Promise<ImportingModule | undefined> {
  const found = written && imports.get(`${written.address.username}/${written.address.name}`)
  if (!written || !found?.val) return undefined
  const { url, address } = written
  const { id: valId, ownerId } = found.val
  const isNamed = address.version !== null
  const isAtHand = !isNamed || address.version === found.version?.number
  const version = isAtHand ? found.version : await findVersion(parts, valId, address.version)
  if (!version) return undefined
  const isPinned = ownerId !== module.ownerId && (found.isPinned || isNamed)
  // A version pinned by its number may have been saved after the version that names it.
  const asOf = isPinned ? Math.max(found.pinnedAt, version.savedAt) : module.asOf
  return { url, valId, ownerId, version: version.number, savedAt: version.savedAt, asOf }
}

async function findVersion(
  parts: GraphParts,
  valId: string,
  version: number,
): Promise<SavedVersion | undefined> {
  const val = await parts.versions.find(valId, version)
  return val && { number: val.version, savedAt: val.versionCreatedAt }
}

const addressPattern = /^(?:\s*https?:|\/|\.\/|\.\.\/)/i

/** Without the fragment, which runtimes ignore when they resolve a module. */
function toModuleUrl(specifier: string, from: string): string | undefined {
  const url = addressPattern.test(specifier) ? URL.parse(specifier, from) : null
  if (!url) return undefined
  url.hash = ""
  return url.href
}
