import { availableParallelism } from "node:os"
import { mayHaveJsx } from "@hamlet/contract/compiler-settings"
import { configPaths, isConfigPath, readConfig, type ValConfig } from "@hamlet/contract/deno-json"
import { type Backoff, findRetryDelay } from "@hamlet/kit"
import type { SourceFile } from "@hamlet/npm"
import { toModuleType } from "@hamlet/sandbox"
import { AppError } from "../domain/app-error.ts"
import type { VersionFileStore, VersionModule } from "../domain/modules/graph/version-files.ts"
import { mayImport } from "../domain/modules/import-address.ts"
import { toTextKey } from "../domain/modules/imports/config-keys.ts"
import { findReachedFiles } from "../domain/modules/imports/reached-files.ts"
import {
  createRecentPackages,
  type RecentPackages,
} from "../domain/modules/imports/recent-packages.ts"
import type { WrittenPackage } from "../domain/modules/imports/text-packages.ts"
import {
  addResolved,
  type DependencyResolver,
  type LockfileClaim,
  type LockfileClaims,
  type ResolvedCode,
  toResolution,
} from "../domain/modules/lockfiles.ts"
import type { PendingLockfiles } from "../domain/modules/pending-lockfiles.ts"
import { ClaimWorker } from "./claim-worker.ts"

/** Retries of packages that could not be fetched: after 5 s, 25 s, 2 min and 10 min. */
export const lockfileBackoff: Backoff & { readonly attemptsMax: number } = {
  firstMs: 5_000,
  factor: 5,
  delayMsMax: 600_000,
  attemptsMax: 5,
}

export interface DependencyJobOptions {
  readonly lockfileClaims: LockfileClaims
  readonly files: Pick<VersionFileStore, "findVersion" | "listModules" | "list">
  readonly resolver: DependencyResolver
  readonly pendingLockfiles: Pick<PendingLockfiles, "note">
  /** The time limit of one resolution. */
  readonly resolveMsMax: number
  readonly limits?: Partial<DependencyJobLimits>
  /** The remote imports of a file. `local` as for the resolver. */
  listRemoteImports(
    file: SourceFile,
    ownerId: string,
    config: ValConfig | undefined,
    local: readonly string[] | undefined,
  ): Promise<readonly string[]>
  /** The packages of a file and their places; undefined if only the resolver can tell. */
  listPackages?(
    file: SourceFile,
    ownerId: string,
    config: ValConfig | undefined,
    local: readonly string[] | undefined,
  ): Promise<readonly WrittenPackage[] | undefined>
  now(): number
  onError(error: unknown, step?: string): void
}

const defaults = {
  /** Concurrent resolutions. More than the resolver runs at once would only wait there. */
  atOnceMax: availableParallelism(),
  /** How often the job looks for work that other nodes left and for retries that are due. */
  pollMs: 5_000,
  backoff: lockfileBackoff,
  /**
   * After this time the files that the val can start with are resolved alone, beside all of them: what
   * only a page imports may come from a server that does not respond.
   */
  wholeMs: 5_000,
  /** How long the job waits for a resolution beyond its time limit before it gives up. */
  overtimeMs: 10_000,
}

export type DependencyJobLimits = Readonly<typeof defaults>

/**
 * Resolves the packages of saved versions in the background. When the server stops, other nodes may
 * claim its lockfiles at once.
 */
export function createDependencyJob(deps: DependencyJobOptions): ClaimWorker<LockfileClaim> {
  const limits = { ...defaults, ...deps.limits }
  const recent = createRecentPackages(deps)
  return new ClaimWorker({
    claims: deps.lockfileClaims,
    work: (claim, signal) => resolveLockfile(deps, limits, recent, claim, signal),
    concurrencyMax: limits.atOnceMax,
    pollMs: limits.pollMs,
    stopMs: 0,
    onError: deps.onError,
  })
}

async function resolveLockfile(
  deps: DependencyJobOptions,
  limits: DependencyJobLimits,
  recent: RecentPackages,
  claim: LockfileClaim,
  signal: AbortSignal,
): Promise<void> {
  const { lockfileClaims, files, now } = deps
  // The version was deleted meanwhile, and its lockfile with it.
  if (!(await files.findVersion(claim.branchId, claim.version))) return
  const all = await files.listModules(claim.branchId, claim.version)
  const config = findConfig(all)
  const modules = all.filter((module) => mayHavePackages(module, config))
  // The vals that the configuration names are not packages either.
  const local = listLocal([...modules, ...all.filter(({ path }) => isConfigPath(path))])
  const code = { files: modules.map(({ path, code }) => ({ path, code })), config, local }
  if (await takeOver(deps, recent, code, claim)) return
  const resolving = resolve(deps, limits, code, claim, signal)
  const part = await resolvePart(deps, limits, code, claim, resolving, signal)
  const resolved = part ? addResolved(await resolving, part) : await resolving
  const { imports, bundle, isTemporary } = resolved
  const result = { resolution: toResolution(resolved, code.files, config), bundle }
  const retryMs = isTemporary ? findRetryDelay(limits.backoff, claim) : undefined
  const state = imports.some(({ error }) => error !== null) ? "failed" : "ready"
  if (retryMs !== undefined) await lockfileClaims.postpone(claim, retryMs, result, now())
  else if (!(await lockfileClaims.settle(claim, { state, ...result }, now()))) return
  if (state === "ready") recent.note(claim.ownerId, result.resolution)
  deps.pendingLockfiles.note(claim.branchId, claim.version)
}

/** Settles the lockfile with the packages of another version of the owner, if it has the same ones. */
async function takeOver(
  { lockfileClaims, listPackages, pendingLockfiles, now }: DependencyJobOptions,
  recent: RecentPackages,
  { files, config, local }: VersionCode,
  claim: LockfileClaim,
): Promise<boolean> {
  const { ownerId } = claim
  if (!listPackages || !recent.has(ownerId)) return false
  const listed = await Promise.all(
    files.map(async (file) => ({
      ...file,
      packages: await listPackages(file, ownerId, config, local),
    })),
  )
  const resolution = recent.find(ownerId, listed, config)
  // Its bundle may have been deleted.
  const isSettled =
    resolution !== undefined &&
    (await lockfileClaims.settle(claim, { state: "ready", resolution, bundle: null }, now()))
  if (isSettled) pendingLockfiles.note(claim.branchId, claim.version)
  return isSettled
}

/**
 * Resolves the files that runs begin with, and what these import, if all files take long. Undefined
 * if they do not, or if there are no others.
 */
async function resolvePart(
  deps: DependencyJobOptions,
  limits: DependencyJobLimits,
  code: VersionCode,
  claim: LockfileClaim,
  whole: Promise<unknown>,
  signal: AbortSignal,
): Promise<ResolvedCode | undefined> {
  const { lockfileClaims, pendingLockfiles, now } = deps
  if (!(await isLongerThan(limits.wholeMs, whole))) return undefined
  const roots = await listRoots(deps, claim)
  const reached = await findReachedFiles(code.files, code.config, roots)
  const files = code.files.filter(({ path }) => reached.has(path))
  if (files.length === 0 || files.length === code.files.length) return undefined
  const part = await resolve(deps, limits, { ...code, files }, claim, signal)
  const { bundle } = part
  const resolution = { ...toResolution(part, files, code.config), isPartial: true as const }
  await lockfileClaims.note(claim, { resolution, bundle }, now())
  pendingLockfiles.note(claim.branchId, claim.version)
  return part
}

/** Rejects when the promise does. */
async function isLongerThan(ms: number, work: Promise<unknown>): Promise<boolean> {
  const timer = Promise.withResolvers<boolean>()
  const timeout = setTimeout(() => timer.resolve(true), ms)
  try {
    return await Promise.race([timer.promise, work.then(() => false)])
  } finally {
    clearTimeout(timeout)
  }
}

/** The files that a request, a schedule or a mail starts. */
async function listRoots(
  { files }: DependencyJobOptions,
  { branchId, version }: LockfileClaim,
): Promise<readonly string[]> {
  const [all, saved] = await Promise.all([
    files.list(branchId, version),
    files.findVersion(branchId, version),
  ])
  const started = all.filter(({ type }) => ["http", "interval", "email"].includes(type))
  return [saved?.entryPath ?? "", ...started.map(({ path }) => path)]
}

/** A file that is not code has nothing to resolve: a deno.jsonc is none by its name. */
function mayHavePackages({ path, code }: VersionModule, config: ValConfig | undefined): boolean {
  if (toModuleType(path) === "json" || isConfigPath(path)) return false
  return mayImport(code) || (config?.compiler !== undefined && mayHaveJsx(code))
}

/** The code of a version. */
interface VersionCode {
  readonly files: readonly SourceFile[]
  readonly config: ValConfig | undefined
  /** The specifiers of vals on this server, as the resolver gets them. */
  readonly local: readonly string[] | undefined
}

function findConfig(files: readonly VersionModule[]): ValConfig | undefined {
  for (const path of configPaths) {
    const file = files.find((one) => one.path === path)
    if (file) return readConfig(path, file.code).config
  }
  return undefined
}

/** Rejects when the signal is aborted. */
async function resolve(
  deps: DependencyJobOptions,
  { backoff, overtimeMs }: DependencyJobLimits,
  code: VersionCode,
  claim: LockfileClaim,
  signal: AbortSignal,
): Promise<ResolvedCode> {
  const { resolver, resolveMsMax, onError } = deps
  const { ownerId } = claim
  const giveUp = (error: string, isTemporary = true) =>
    toFailed(deps, code, ownerId, error, isTemporary)
  // Reached only when nodes died during earlier attempts.
  if (claim.attempts > backoff.attemptsMax) return giveUp("it was tried too often", false)
  const limit = AbortSignal.timeout(resolveMsMax + overtimeMs)
  const either = AbortSignal.any([signal, limit])
  try {
    either.throwIfAborted()
    return await Promise.race([
      resolver.resolve({ ...code, ownerId, signal: either }),
      rejectOn(either),
    ])
  } catch (error) {
    signal.throwIfAborted()
    if (limit.aborted) return giveUp("fetching it took too long")
    if (error instanceof AppError && error.code === "overloaded")
      return giveUp("too much code of its owner is being run")
    onError(error, "resolve a version")
    return giveUp("the server made a mistake")
  }
}

/** The specifiers of vals on this server. Undefined for versions for which they are not known. */
function listLocal(files: readonly VersionModule[]): readonly string[] | undefined {
  const known = files.flatMap(({ specifiers }) => specifiers ?? [])
  return files.every(({ specifiers }) => specifiers !== null) ? known : undefined
}

/** Marks every remote import of the files as failed. */
async function toFailed(
  { listRemoteImports }: DependencyJobOptions,
  { files, config, local }: VersionCode,
  ownerId: string,
  error: string,
  isTemporary: boolean,
): Promise<ResolvedCode> {
  const found = await Promise.all(
    files.map(async (file) => {
      const specifiers = await listRemoteImports(file, ownerId, config, local)
      // Only the file counts.
      const place = { text: toTextKey(file.code, file.path, config), start: 0, end: 0 }
      return [...new Set(specifiers)].map((specifier) => ({ specifier, place }))
    }),
  )
  const nothing = { resolved: null, entry: 0, exports: [] }
  const imports = Array.from(
    Map.groupBy(found.flat(), ({ specifier }) => specifier),
    ([specifier, all]) => ({ specifier, error, ...nothing, places: all.map(({ place }) => place) }),
  )
  return { imports, bundle: null, isTemporary }
}

function rejectOn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
  )
}
