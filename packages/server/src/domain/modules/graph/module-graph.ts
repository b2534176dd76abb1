import { RecentMap } from "@hamlet/kit"
import type { Sources } from "../../vals/val-source.ts"
import type { Val } from "../../vals/vals.ts"
import type { Versions } from "../../vals/versions.ts"
import { type ImportAddress, parseImportAddress, toBranchKey } from "../import-address.ts"
import {
  createVersionConfigs,
  type VersionConfig,
  type VersionConfigs,
} from "../imports/version-configs.ts"
import type { LockfileStore, LockfileSummary } from "../lockfiles.ts"
import { toModuleUrl } from "../module-url.ts"
import type { VersionLockfiles } from "../version-lockfiles.ts"
import { createFound } from "./found-modules.ts"
import type { ImportStore, ImportTarget, ResolvedImport } from "./import-store.ts"
import {
  type FileSearch,
  findImportedFiles,
  resolveUrl,
  startFileSearch,
  toFileKey,
} from "./imported-files.ts"
import { createModuleTexts, type ModuleText, type ModuleTexts } from "./module-texts.ts"
import { createSpareModules } from "./spare-modules.ts"
import type { VersionFileStore } from "./version-files.ts"

/** Where the graph finds versions, their imports and their packages. */
export interface GraphParts {
  readonly imports: ImportStore
  readonly files: VersionFileStore
  readonly versions: Pick<Versions, "find">
  readonly sources: Sources
  readonly lockfiles: Pick<LockfileStore, "findSummary">
  readonly versionLockfiles: Pick<VersionLockfiles, "ensure" | "completeSince">
  readonly links: { module(username: string, name: string): string }
}

/** A file in a version, as a module of a program. */
export interface GraphModule extends ImportTarget {
  /** Its address, with the version. */
  readonly url: string
  readonly version: number
  readonly path: string
  readonly text: ModuleText
  /** The configuration of its version. */
  readonly config: VersionConfig | null
  /** Whether it is there only because a module may import any file of its version. */
  readonly isSpare?: boolean
}

/** A module with the packages that it imports. */
export interface LockedGraphModule extends GraphModule {
  /** The lockfile of its version. Null when the version, or the module itself, imports no packages. */
  readonly lock: LockfileSummary | null
}

/** A module whose imports are being resolved. */
interface ImportingModule extends GraphModule {
  readonly savedAt: number
  /** See ImportStore. */
  readonly asOf: number | null
}

/** A module and the URL by which it is imported. */
interface Imported {
  readonly url: string
  readonly module: ImportingModule
}

/** The limits of the graph and its caches. */
export interface GraphLimits {
  /** Modules besides the entry. */
  readonly modulesMax: number
  /** Entries in each cache. */
  readonly cachedMax: number
}

/** The modules of a val. */
export interface Walk {
  /** The file that is started. */
  readonly entry: LockedGraphModule
  /** Every module that the entry imports, directly or not, nearest first, up to the limit. */
  readonly modules: readonly LockedGraphModule[]
  /** The other URLs by which modules are imported, and the modules. */
  readonly redirects: ReadonlyMap<string, GraphModule>
}

/**
 * Walks the import graph breadth first. An import is resolved with the rights of the owner of the
 * importing module, who may import their own private vals and no others. A user's own vals are
 * imported in their current version, vals of others as they were when the importing file was saved.
 * Everything that such a val imports in turn is as of that time, too. A relative import of a file
 * stays in the version of the importing one.
 *
 * In a process, one URL is one module. If two modules pin the same URL to different versions, the
 * module nearer to the entry wins, so the entry gets what its author has tested it with.
 */
export function createModuleGraph(parts: GraphParts, limits: GraphLimits) {
  const { modulesMax, cachedMax } = limits
  const alone: Facts["alone"] = new RecentMap(cachedMax)
  const facts: Facts = {
    modulesMax,
    alone,
    lockfiles: new RecentMap(cachedMax),
    scanned: new RecentMap(cachedMax),
    parsed: new RecentMap(cachedMax),
    texts: createModuleTexts(parts.files, cachedMax),
    configs: createVersionConfigs(parts.files),
  }
  const findSpares = createSpareModules(parts.files, facts.texts, limits)
  return {
    /** The module of a val that is known to import neither vals nor files; undefined if it may. */
    findLeaf(val: Val): Walk | undefined {
      const leaf = alone.get(toFileKey(val.file.branchId, val.version, val.file.path))
      if (leaf === undefined) return undefined
      const entry = { ...toEntry(parts, facts, val, leaf.config), lock: leaf.lock }
      return { entry, modules: [], redirects: noRedirects }
    },
    /** Caches that the file imports nothing, which never changes. */
    noteLeaf: (val: Val) =>
      void alone.set(toFileKey(val.file.branchId, val.version, val.file.path), noLeaf),
    /** `unsaved` are the imports of a val that is not saved. */
    async walk(val: Val, unsaved?: readonly ResolvedImport[]): Promise<Walk> {
      const { branchId } = val.file
      const config = unsaved ? null : await facts.configs.find(branchId, val.version)
      const entry = toEntry(parts, facts, val, config)
      const found = createFound(entry, modulesMax)
      const search = startFileSearch()
      const lockfiles = new Map<string, LockfileSummary | null>()
      let level = [entry]
      let hasSpares = false
      while (level.length > 0) {
        const looks = await Promise.all(
          level.map((module) =>
            look(parts, facts, module, search, module === entry ? unsaved : undefined),
          ),
        )
        for (const { url, lock } of looks) lockfiles.set(url, lock)
        level = looks.flatMap(({ imported }) => imported.flatMap((one) => found.add(one) ?? []))
        if (level.length > 0 || hasSpares || unsaved) continue
        hasSpares = true
        const spares = await findSpares([...found.modules.values()])
        level = spares.flatMap((one) => found.add(one) ?? [])
      }
      const toLocked = (module: GraphModule): LockedGraphModule => ({
        ...module,
        lock: lockfiles.get(module.url) ?? null,
      })
      const [first = entry, ...modules] = found.modules.values()
      return {
        entry: toLocked(first),
        modules: modules.map(toLocked),
        redirects: found.redirects,
      }
    },
  }
}

/** A file that imports nothing, whatever its version has. */
const noLeaf: Leaf = { lock: null, config: null }
const noRedirects: Walk["redirects"] = new Map()

function toEntry(
  parts: GraphParts,
  { texts }: Facts,
  val: Val,
  config: VersionConfig | null,
): ImportingModule {
  const { id: valId, ownerId, ownerName, name: valName, version, code, file } = val
  const { branchId, branchName, path, since } = file
  return {
    valId,
    ownerId,
    ownerName,
    valName,
    branchId,
    branchName,
    version,
    path,
    url: toModuleUrl(parts.links.module(ownerName, valName), { version, branchName, path }),
    text: texts.note(toFileKey(branchId, version, path), path, { since, content: code }, config),
    config,
    savedAt: val.versionCreatedAt,
    asOf: null,
  }
}

/** Caches of facts that never change. */
interface Facts extends Pick<GraphLimits, "modulesMax"> {
  /** Files that import no vals and no files, by `{branch id}@{version}/{path}`. */
  readonly alone: RecentMap<string, Leaf>
  /** The lockfiles of all versions, by `{branch id}@{version}`, if they are final. */
  readonly lockfiles: RecentMap<string, LockfileSummary | null>
  readonly scanned: RecentMap<string, readonly string[]>
  readonly texts: ModuleTexts
  readonly configs: VersionConfigs
  /** By the URL of the importing module and the specifier. Parsing is the slowest part here. */
  readonly parsed: RecentMap<string, Written | undefined>
}

/** What is known of a file that imports packages only. */
type Leaf = Pick<LockedGraphModule, "lock" | "config">

/** A parsed specifier. */
interface Written {
  /** The URL that the runtime will request. */
  readonly url: string
  readonly address: ImportAddress
}

interface Look {
  readonly url: string
  readonly lock: LockfileSummary | null
  readonly imported: readonly Imported[]
}

async function look(
  parts: GraphParts,
  facts: Facts,
  module: ImportingModule,
  search: FileSearch,
  unsaved: readonly ResolvedImport[] | undefined,
): Promise<Look> {
  const { url, branchId, path, text, config } = module
  if (unsaved)
    return { url, lock: null, imported: await listImported(parts, facts, module, unsaved, unsaved) }
  const key = toFileKey(branchId, module.version, path)
  const known = facts.alone.get(key)
  if (known !== undefined) return { url, lock: known.lock, imported: [] }
  const [lock, files, own, mapped] = await Promise.all([
    text.mayHavePackages ? findLock(parts, facts, module) : null,
    findImportedFiles(facts.texts, module, search),
    text.mayImport ? parts.imports.find({ branchId, path, since: text.since }, module.asOf) : [],
    config && text.mapped.length > 0
      ? parts.imports.find({ ...config, branchId }, module.asOf)
      : [],
  ])
  const imports = [...mapped, ...own]
  const vals = imports.length > 0 ? await listImported(parts, facts, module, imports, own) : []
  const isAlone =
    !text.importsComputed && files.isComplete && files.found.length === 0 && imports.length === 0
  if (isAlone && isFinal(lock)) facts.alone.set(key, { lock, config })
  const inside = files.found.map((file) => ({
    url: file.url,
    module: { ...module, ...file.module },
  }))
  // A file comes before a val with the same URL.
  return { url, lock, imported: [...inside, ...vals] }
}

async function findLock(
  parts: GraphParts,
  facts: Facts,
  { branchId, version, savedAt }: ImportingModule,
): Promise<LockfileSummary | null> {
  const key = `${branchId}@${version}`
  const known = facts.lockfiles.get(key)
  if (known !== undefined) return known
  let lock = await parts.lockfiles.findSummary(branchId, version)
  if (lock === null && savedAt < parts.versionLockfiles.completeSince) {
    // There were no other branches then: the id is that of the val.
    const val = await parts.versions.find(branchId, version)
    if (val && (await parts.versionLockfiles.ensure(val)))
      lock = await parts.lockfiles.findSummary(branchId, version)
  }
  if (isFinal(lock)) facts.lockfiles.set(key, lock)
  return lock
}

/** A version without a lockfile never gets one, and a lockfile that is ready never changes. */
function isFinal(lock: LockfileSummary | null): boolean {
  return lock === null || lock.state === "ready"
}

/** `imports` are those of the file and of the configuration, `own` those of the file. */
async function listImported(
  parts: GraphParts,
  facts: Facts,
  module: ImportingModule,
  imports: readonly ResolvedImport[],
  own: readonly ResolvedImport[],
): Promise<readonly Imported[]> {
  const byAddress = new Map(imports.map((one) => [one.address, one]))
  const isNoted = own.every(({ specifiers }) => specifiers !== null)
  const specifiers = isNoted
    ? own.flatMap((one) => one.specifiers ?? [])
    : await scan(parts, facts, module)
  const found = await Promise.all(
    [...specifiers, ...module.text.mapped]
      .slice(0, facts.modulesMax)
      .map((specifier) =>
        resolve(parts, facts, module, parse(parts, facts, module, specifier), byAddress),
      ),
  )
  return found.filter((one) => one !== undefined)
}

/** Parses versions that were saved before specifiers were stored. */
async function scan(
  parts: GraphParts,
  { scanned }: Facts,
  { branchId, version, path, ownerId }: ImportingModule,
): Promise<readonly string[]> {
  const key = toFileKey(branchId, version, path)
  const known = scanned.get(key)
  if (known) return known
  const file = await parts.files.find(branchId, version, path)
  const specifiers = file ? await parts.sources.parser.scanImports(file.content, ownerId) : []
  scanned.set(key, specifiers)
  return specifiers
}

function parse(
  parts: GraphParts,
  { parsed }: Facts,
  { url: from, ownerName: username, valName: name, path }: ImportingModule,
  specifier: string,
): Written | undefined {
  const key = `${from} ${specifier}`
  if (parsed.has(key)) return parsed.get(key)
  const importer = path.includes("/") ? undefined : { username, name }
  const address = parseImportAddress(specifier, parts.sources.importHosts, importer)
  const url = address && resolveUrl(specifier, from)
  const written = url === undefined || address === undefined ? undefined : { url, address }
  if (key.length <= cachedCharsMax) parsed.set(key, written)
  return written
}

/** Longer keys are not cached: only an attacker writes such specifiers. */
const cachedCharsMax = 1_000

async function resolve(
  parts: GraphParts,
  { texts, configs }: Facts,
  module: ImportingModule,
  written: Written | undefined,
  imports: ReadonlyMap<string, ResolvedImport>,
): Promise<Imported | undefined> {
  const found = written && imports.get(toBranchKey(written.address))
  if (!written || !found?.target) return undefined
  const { url, address } = written
  const { target } = found
  const isNamed = address.version !== null
  const isAtHand = !isNamed || address.version === found.version?.number
  const version = isAtHand
    ? found.version
    : await parts.files.findVersion(target.branchId, address.version)
  const path = address.path ?? version?.entryPath ?? undefined
  if (!version || path === undefined) return undefined
  const { number, savedAt } = version
  const key = toFileKey(target.branchId, number, path)
  const config = await configs.find(target.branchId, number)
  const text = await texts.find(key, target.branchId, number, path, config)
  if (!text) return undefined
  const isPinned = target.ownerId !== module.ownerId && (found.isPinned || isNamed)
  // A version pinned by its number may have been saved after the version that names it.
  const asOf = isPinned ? Math.max(found.pinnedAt, savedAt) : module.asOf
  const home = parts.links.module(target.ownerName, target.valName)
  const own = toModuleUrl(home, { version: number, branchName: target.branchName, path })
  return {
    url,
    module: {
      ...target,
      url: own,
      version: number,
      path,
      text,
      config,
      savedAt,
      asOf,
      ...(module.isSpare ? { isSpare: true } : {}),
    },
  }
}
