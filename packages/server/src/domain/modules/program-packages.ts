import { resolveMapped } from "@hamlet/contract/import-map"
import { type ProgramModule, type StoredBundle, textType, toModuleType } from "@hamlet/sandbox"
import type { Sources } from "../vals/val-source.ts"
import { isModulePath, type VersionFileStore } from "./graph/version-files.ts"
import { listConfigEdits } from "./imports/config-edits.ts"
import { findImplicit } from "./imports/text-packages.ts"
import type { VersionConfig } from "./imports/version-configs.ts"
import type { BundleStore, LockfileStore, LockfileSummary } from "./lockfiles.ts"
import { type LockedModule, linkPackages } from "./package-modules.ts"
import type { PendingLockfiles } from "./pending-lockfiles.ts"
import { listRemoteImports } from "./remote-imports.ts"

/** Where the packages of programs are found. */
export interface PackageSource {
  readonly lockfiles: Pick<LockfileStore, "find">
  readonly bundles: Pick<BundleStore, "find">
  readonly pendingLockfiles: Pick<PendingLockfiles, "wait">
  readonly files: Pick<VersionFileStore, "find">
  readonly sources: Sources
  readonly links: { readonly baseUrl: string }
}

/** A module as it was saved. */
export interface SavedModule {
  readonly url: string
  readonly code: string
  readonly branchId: string
  readonly version: number
  readonly path: string
  readonly ownerId: string
  /** The lockfile of its version. */
  readonly lock: LockfileSummary | null
  readonly config: VersionConfig | null
  /** See `GraphModule`. */
  readonly isSpare?: boolean
}

/** Modules and the packages that they import. */
export interface CodeWithPackages {
  readonly modules: readonly ProgramModule[]
  readonly bundles: readonly StoredBundle[]
}

const limits = {
  /** The total size of a program's bundles and their code caches. Nearer modules come first. */
  bundleBytesMax: 64 * 1024 * 1024,
}

/** Links the modules to their packages. Waits for packages that are being fetched. */
export async function addPackages(
  source: PackageSource,
  saved: readonly SavedModule[],
): Promise<CodeWithPackages> {
  if (saved.every(({ lock, config }) => lock === null && config === null))
    return { modules: saved.map(toProgramModule), bundles: [] }
  await waitForPackages(source, saved)
  const found = await Promise.all(saved.map((module) => toLocked(source, module)))
  const locked = found.filter((module) => module !== undefined)
  const { bundles, missing } = await loadBundles(
    source,
    new Set(locked.flatMap(({ resolution }) => resolution.bundle ?? [])),
  )
  const linked = linkPackages(source.links.baseUrl, locked, missing)
  const codes = new Map(linked.modules.map(({ url, code }) => [url, code]))
  return {
    modules: [
      ...saved.map((module) =>
        toProgramModule({ ...module, code: codes.get(module.url) ?? module.code }),
      ),
      ...linked.stubs,
    ],
    bundles,
  }
}

function toProgramModule({ url, code, path, ownerId }: SavedModule): ProgramModule {
  return { url, code, type: isModulePath(path) ? toModuleType(path) : textType, ownerId }
}

type PendingSource = Pick<PackageSource, "pendingLockfiles" | "files" | "sources">
type PendingModule = Pick<
  SavedModule,
  "branchId" | "version" | "path" | "ownerId" | "lock" | "config" | "isSpare"
>

/**
 * Resolves when the packages that these modules import are fetched, whatever other files of their
 * versions import. Rejects with `packages_pending` after a time limit.
 */
export async function waitForPackages(
  source: PendingSource,
  modules: readonly PendingModule[],
): Promise<void> {
  const pending = modules.filter(({ lock, isSpare }) => lock?.state === "pending" && !isSpare)
  const areImporting = await Promise.all(pending.map((one) => hasPackages(source, one)))
  const importing = pending.filter((_, index) => areImporting[index])
  const versions = Map.groupBy(importing, (one) => `${one.branchId} ${one.version}`)
  await Promise.all(
    Array.from(versions.values(), async ([first, ...more]) => {
      if (!first) return
      const paths = new Set([first, ...more].map(({ path }) => path))
      await source.pendingLockfiles.wait(first.branchId, first.version, { paths })
    }),
  )
}

/** Whether a module imports packages. Asks a parser, since many texts only look like it. */
async function hasPackages(
  { files, sources }: PendingSource,
  { branchId, version, path, ownerId, config }: PendingModule,
): Promise<boolean> {
  const code = (await files.find(branchId, version, path))?.content
  // The file was just deleted, or the code is not saved.
  if (code === undefined) return true
  const specifiers = await sources.parser.scanImports(code, ownerId)
  const toMeaning = (specifier: string) =>
    (config && resolveMapped(config.map, specifier, path)) ?? specifier
  return (
    /\bcreateRequire\b/.test(code) ||
    findImplicit(config ?? undefined, code, path).length > 0 ||
    listRemoteImports(code, specifiers, sources.importHosts, undefined, toMeaning).length > 0
  )
}

/**
 * Undefined when nothing in the module changes: it imports no packages, or its version was just
 * deleted, and it has no configuration.
 */
async function toLocked(
  source: PackageSource,
  { lock, ownerId, ...module }: SavedModule,
): Promise<LockedModule | undefined> {
  // A text or JSON file stays as it is.
  if (!isModulePath(module.path) || toModuleType(module.path) === "json") return undefined
  const [found, written] = await Promise.all([
    lock && source.lockfiles.find(module.branchId, module.version),
    module.config ? source.sources.parser.scanPlaces(module.code, ownerId) : [],
  ])
  const { config } = module
  const edits = config ? listConfigEdits({ ...module, config }, written ?? []) : []
  const resolution = found?.resolution ?? { imports: [], bundle: null }
  return found?.resolution || config ? { ...module, resolution, edits } : undefined
}

async function loadBundles(source: PackageSource, hashes: ReadonlySet<string>) {
  const bundles: StoredBundle[] = []
  const missing = new Map<string, string>()
  let bytes = 0
  for (const hash of hashes) {
    const bundle = bytes <= limits.bundleBytesMax ? await source.bundles.find(hash) : undefined
    bytes += bundle?.bytes ?? 0
    if (bundle && bytes <= limits.bundleBytesMax) bundles.push(bundle)
    else
      missing.set(
        hash,
        bytes > limits.bundleBytesMax
          ? "the packages that the val imports are too large in total"
          : "the package is missing",
      )
  }
  return { bundles, missing }
}
