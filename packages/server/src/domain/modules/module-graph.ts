import type { VersionStore } from "../vals/versions.ts"
import { type ImportAddress, type ImportHosts, parseImportAddress } from "./import-address.ts"
import type { LockfileStore, LockfileSummary } from "./lockfiles.ts"
import { ensureLockfile, type LockfileWork } from "./version-lockfiles.ts"

/** A val that a version imports, as things stand. */
export interface ResolvedImport {
  /** `{user}/{val}` in lower case. */
  readonly address: string
  /**
   * Everything that the code writes to import it; null where that was not noted when the version
   * was saved.
   */
  readonly specifiers: readonly string[] | null
  readonly isPinned: boolean
  /** Undefined when there is none, or none that the owner of the importing val may see. */
  readonly val: { readonly id: string; readonly ownerId: string } | undefined
  /** The one that is meant where the code names none; undefined when it is gone. */
  readonly version: SavedVersion | undefined
}

interface SavedVersion {
  readonly number: number
  readonly savedAt: number
}

/** Where it is kept what versions import. */
export interface ImportStore {
  /** `asOf` is the moment whose versions count where nothing is pinned; null is now. */
  find(valId: string, version: number, asOf: number | null): Promise<readonly ResolvedImport[]>
}

/** What walking the imports needs. */
export interface GraphDeps {
  readonly imports: ImportStore
  readonly versions: VersionStore
  readonly importHosts: ImportHosts
  readonly lockfiles: LockfileStore
  /** Versions that were saved before then may have no lock although they need one. */
  readonly lockfilesSince: number
  readonly lockfileWork: LockfileWork
  scanImports(code: string, ownerId: string): Promise<readonly string[]>
  now(): number
}

/** A module under one of the addresses that it is imported by. */
export interface GraphModule {
  readonly url: string
  readonly valId: string
  readonly version: number
}

/** A module with what it imports from elsewhere. */
export interface LockedGraphModule extends GraphModule {
  /** Null when that is nothing. */
  readonly lock: LockfileSummary | null
}

/** A module whose own imports are looked at. */
export interface ImportingModule extends GraphModule {
  readonly ownerId: string
  readonly savedAt: number
  /** See ImportStore. */
  readonly asOf: number | null
}

/** How far it goes, and how much is remembered. */
export interface GraphLimits {
  /** Modules beside the entry. */
  readonly modulesMax: number
  /** Versions of which it is known what they import. */
  readonly cachedMax: number
}

/** Finds out what a val is made of. */
export interface ModuleGraph {
  /**
   * The lock, or null, of a version that is known to import no vals, where that is the end of it;
   * undefined where it is not known.
   */
  findLeaf(valId: string, version: number): LockfileSummary | null | undefined
  /** That version imports nothing at all; what it imports never changes. */
  noteLeaf(valId: string, version: number): void
  /** `unsaved` is what an entry imports that is not saved. */
  walk(entry: ImportingModule, unsaved?: readonly ResolvedImport[]): Promise<Walk>
}

/** What a val is made of. */
export interface Walk {
  /** The entry's own. */
  readonly lock: LockfileSummary | null
  /**
   * Every module that the entry may import, directly or not, nearest first; at most as many as the
   * limit says.
   */
  readonly modules: readonly LockedGraphModule[]
}

/**
 * Walks from module to module. What an address means is decided with the rights of the owner of the
 * module that names it, who may import private vals of their own and nobody else's. Their own vals
 * they import as they are now, other people's as they were when the importing version was saved;
 * and so that this is true of what those import in turn, everything beyond such a step is as it was
 * at that moment.
 *
 * In a process, one address is one module. If two modules have pinned the same address to different
 * versions, the one nearer to the entry is heard, and so the entry itself first of all: what its
 * author has seen it with is what it gets.
 */
export function createModuleGraph(deps: GraphDeps, limits: GraphLimits): ModuleGraph {
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
          level.map((module) => look(deps, facts, module, module === entry ? unsaved : undefined)),
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

/** What never changes, and is therefore remembered. */
interface Facts extends GraphLimits {
  /** The lockfiles of versions that import no vals, by `{val id}@{version}`. */
  readonly alone: Map<string, LockfileSummary | null>
  /** Of all versions, the same way: those that are ready, and that there is none. */
  readonly lockfiles: Map<string, LockfileSummary | null>
  readonly scanned: Map<string, readonly string[]>
  /**
   * By the address of the importing module and the specifier: to read an address takes longer than
   * everything else here.
   */
  readonly parsed: Map<string, Written | undefined>
}

/** What a specifier says. */
interface Written {
  /** As the runtime is going to ask for it. */
  readonly url: string
  readonly address: ImportAddress
}

function note(
  { cachedMax: rememberedMax }: GraphLimits,
  known: Map<string, LockfileSummary | null>,
  key: string,
  lock: LockfileSummary | null,
): void {
  if (known.size >= rememberedMax) known.clear()
  known.set(key, lock)
}

interface Look {
  readonly url: string
  readonly lock: LockfileSummary | null
  readonly imported: readonly ImportingModule[]
}

async function look(
  deps: GraphDeps,
  facts: Facts,
  module: ImportingModule,
  unsaved: readonly ResolvedImport[] | undefined,
): Promise<Look> {
  const { url } = module
  if (unsaved)
    return { url, lock: null, imported: await listImported(deps, facts, module, unsaved) }
  const key = `${module.valId}@${module.version}`
  const known = facts.alone.get(key)
  if (known !== undefined) return { url, lock: known, imported: [] }
  const [lock, imports] = await Promise.all([
    findLock(deps, facts, module),
    deps.imports.find(module.valId, module.version, module.asOf),
  ])
  if (imports.length > 0)
    return { url, lock, imported: await listImported(deps, facts, module, imports) }
  if (isFinal(lock)) note(facts, facts.alone, key, lock)
  return { url, lock, imported: [] }
}

async function findLock(
  deps: GraphDeps,
  facts: Facts,
  { valId, version, savedAt }: ImportingModule,
): Promise<LockfileSummary | null> {
  const key = `${valId}@${version}`
  const known = facts.lockfiles.get(key)
  if (known !== undefined) return known
  let lock = await deps.lockfiles.findSummary(valId, version)
  if (lock === null && savedAt < deps.lockfilesSince) {
    const val = await deps.versions.find(valId, version)
    if (val && (await ensureLockfile(deps, val)))
      lock = await deps.lockfiles.findSummary(valId, version)
  }
  if (isFinal(lock)) note(facts, facts.lockfiles, key, lock)
  return lock
}

/** A version that has no lock never gets one, and what is ready stays as it is. */
function isFinal(lock: LockfileSummary | null): boolean {
  return lock === null || lock.state === "ready"
}

async function listImported(
  deps: GraphDeps,
  facts: Facts,
  module: ImportingModule,
  imports: readonly ResolvedImport[],
): Promise<readonly ImportingModule[]> {
  const byAddress = new Map(imports.map((one) => [one.address, one]))
  const isNoted = imports.every(({ specifiers }) => specifiers !== null)
  const specifiers = isNoted
    ? imports.flatMap((one) => one.specifiers ?? [])
    : await scan(deps, facts, module)
  const found = await Promise.all(
    specifiers
      .slice(0, facts.modulesMax)
      .map((specifier) =>
        resolve(deps, module, parse(deps, facts, module.url, specifier), byAddress),
      ),
  )
  return found.filter((one) => one !== undefined)
}

/** Versions from before it was noted how they write their imports are read again. */
async function scan(
  deps: GraphDeps,
  { scanned, cachedMax: rememberedMax }: Facts,
  module: ImportingModule,
): Promise<readonly string[]> {
  const key = `${module.valId}@${module.version}`
  const known = scanned.get(key)
  if (known) return known
  const val = await deps.versions.find(module.valId, module.version)
  const specifiers = val ? await deps.scanImports(val.code, val.ownerId) : []
  if (scanned.size >= rememberedMax) scanned.clear()
  scanned.set(key, specifiers)
  return specifiers
}

function parse(
  deps: GraphDeps,
  { parsed, cachedMax: rememberedMax }: Facts,
  from: string,
  specifier: string,
): Written | undefined {
  const key = `${from} ${specifier}`
  if (parsed.has(key)) return parsed.get(key)
  const url = toModuleUrl(specifier, from)
  const address = url === undefined ? undefined : parseImportAddress(url, deps.importHosts)
  const written = url === undefined || address === undefined ? undefined : { url, address }
  if (parsed.size >= rememberedMax) parsed.clear()
  if (key.length <= rememberedCharsMax) parsed.set(key, written)
  return written
}

/** Nobody writes longer ones but to fill our memory. */
const rememberedCharsMax = 500

async function resolve(
  deps: GraphDeps,
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
  const version = isAtHand ? found.version : await findVersion(deps, valId, address.version)
  if (!version) return undefined
  const isPinned = ownerId !== module.ownerId && (found.isPinned || isNamed)
  // What is pinned by its number may have been saved after the version that names it.
  const asOf = isPinned ? Math.max(module.savedAt, version.savedAt) : module.asOf
  return { url, valId, ownerId, version: version.number, savedAt: version.savedAt, asOf }
}

async function findVersion(
  deps: GraphDeps,
  valId: string,
  version: number,
): Promise<SavedVersion | undefined> {
  const val = await deps.versions.find(valId, version)
  return val && { number: val.version, savedAt: val.versionCreatedAt }
}

const addressPattern = /^(?:\s*https?:|\/|\.\/|\.\.\/)/i

/** Without the part after `#`, which runtimes leave out when they look for a module. */
function toModuleUrl(specifier: string, from: string): string | undefined {
  const url = addressPattern.test(specifier) ? URL.parse(specifier, from) : null
  if (!url) return undefined
  url.hash = ""
  return url.href
}
