import { availableParallelism } from "node:os"
import { AppError } from "../domain/app-error.ts"
import { findRetryDelay, lockfileBackoff } from "../domain/backoff.ts"
import {
  type DependencyResolver,
  type LockfileClaim,
  type LockfileClaims,
  type ResolvedCode,
  toResolution,
} from "../domain/modules/lockfiles.ts"
import type { ImportStore } from "../domain/modules/module-graph.ts"
import type { PendingLockfiles } from "../domain/modules/pending-lockfiles.ts"
import type { Val } from "../domain/vals/vals.ts"
import type { VersionStore } from "../domain/vals/versions.ts"
import { ClaimWorker } from "./claim-worker.ts"

export interface DependencyJobOptions {
  readonly lockfileClaims: LockfileClaims
  readonly versions: Pick<VersionStore, "find">
  readonly imports: ImportStore
  readonly resolver: DependencyResolver
  readonly pendingLockfiles: Pick<PendingLockfiles, "note">
  /** The time limit of one resolution. */
  readonly resolveMsMax: number
  readonly limits?: Partial<DependencyJobLimits>
  /** The remote imports of the code. `local` as for the resolver. */
  listRemoteImports(val: Val, local: readonly string[] | undefined): Promise<readonly string[]>
  now(): number
  onError(error: unknown): void
}

export interface DependencyJobLimits {
  /** Concurrent resolutions. More than the resolver runs at once would only wait there. */
  readonly atOnceMax: number
  /** How often the job looks for work that other nodes left and for retries that are due. */
  readonly pollMs: number
  readonly backoff: typeof lockfileBackoff
  /** How long the job waits for a resolution beyond its time limit before it gives up. */
  readonly overtimeMs: number
}

const defaults: DependencyJobLimits = {
  atOnceMax: availableParallelism(),
  pollMs: 5_000,
  backoff: lockfileBackoff,
  overtimeMs: 10_000,
}

/**
 * Resolves the packages of saved versions in the background. When the server stops, other nodes may
 * claim its lockfiles at once.
 */
export function createDependencyJob(deps: DependencyJobOptions): ClaimWorker<LockfileClaim> {
  const limits = { ...defaults, ...deps.limits }
  return new ClaimWorker({
    claims: deps.lockfileClaims,
    work: (claim, signal) => resolveLockfile(deps, limits, claim, signal),
    concurrencyMax: limits.atOnceMax,
    pollMs: limits.pollMs,
    stopMs: 0,
    onError: deps.onError,
  })
}

async function resolveLockfile(
  deps: DependencyJobOptions,
  limits: DependencyJobLimits,
  claim: LockfileClaim,
  signal: AbortSignal,
): Promise<void> {
  const { lockfileClaims, versions, pendingLockfiles, now } = deps
  const val = await versions.find(claim.valId, claim.version)
  // The version was deleted meanwhile, and its lockfile with it.
  if (!val) return
  const resolved = await resolve(deps, limits, val, claim, signal)
  const { imports, bundle, isTemporary } = resolved
  const resolution = toResolution(resolved)
  const retryMs = isTemporary ? findRetryDelay(limits.backoff, claim) : undefined
  const state = imports.some(({ error }) => error !== null) ? "failed" : "ready"
  if (retryMs !== undefined) await lockfileClaims.postpone(claim, retryMs, resolution)
  else if (!(await lockfileClaims.settle(claim, { state, resolution, bundle }, now()))) return
  pendingLockfiles.note(claim.valId, claim.version)
}

/** Rejects when the signal is aborted. */
async function resolve(
  deps: DependencyJobOptions,
  { backoff, overtimeMs }: DependencyJobLimits,
  val: Val,
  claim: LockfileClaim,
  signal: AbortSignal,
): Promise<ResolvedCode> {
  const { resolver, resolveMsMax, onError } = deps
  const local = await listLocal(deps, claim)
  const giveUp = (error: string, isTemporary = true) =>
    toFailed(deps, val, local, error, isTemporary)
  // Reached only when nodes died during earlier attempts.
  if (claim.attempts > backoff.attemptsMax) return giveUp("it was tried too often", false)
  const limit = AbortSignal.timeout(resolveMsMax + overtimeMs)
  const either = AbortSignal.any([signal, limit])
  try {
    either.throwIfAborted()
    const { code, ownerId } = val
    return await Promise.race([
      resolver.resolve({ code, ownerId, local, signal: either }),
      rejectOn(either),
    ])
  } catch (error) {
    signal.throwIfAborted()
    if (limit.aborted) return giveUp("fetching it took too long")
    if (error instanceof AppError && error.code === "overloaded")
      return giveUp("too much code of its owner is being run")
    onError(error)
    return giveUp("the server made a mistake")
  }
}

/** The specifiers of vals on this server. Undefined for versions for which they are not known. */
async function listLocal(
  deps: DependencyJobOptions,
  { valId, version }: LockfileClaim,
): Promise<readonly string[] | undefined> {
  const imports = await deps.imports.find(valId, version, null)
  const known = imports.flatMap(({ specifiers }) => specifiers ?? [])
  return imports.every(({ specifiers }) => specifiers !== null) ? known : undefined
}

/** Marks every remote import of the val as failed. */
async function toFailed(
  deps: DependencyJobOptions,
  val: Val,
  local: readonly string[] | undefined,
  error: string,
  isTemporary: boolean,
): Promise<ResolvedCode> {
  const specifiers = await deps.listRemoteImports(val, local)
  const nothing = { resolved: null, places: [], entry: 0, exports: [] }
  const imports = specifiers.map((specifier) => ({ specifier, error, ...nothing }))
  return { imports, bundle: null, isTemporary }
}

function rejectOn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
  )
}
