import type { Caller } from "../access.ts"
import { assertOwner, type Val } from "../vals/vals.ts"
import { getVersion, type VersionDeps } from "../vals/versions.ts"
import type { ImportHosts } from "./import-address.ts"
import type { Lockfile, LockfileStore } from "./lockfiles.ts"
import { hasRemoteImports, mayImportRemote } from "./remote-imports.ts"

/** What the rules of lockfiles need. */
export interface VersionLockfileDeps extends VersionDeps {
  readonly lockfiles: LockfileStore
  readonly importHosts: ImportHosts
  /** Versions that were saved before then may have no lock although they need one. */
  readonly lockfilesSince: number
  /** Does the work on lockfiles that are pending. */
  readonly lockfileWork: LockfileWork
  scanImports(code: string, ownerId: string): Promise<readonly string[]>
}

/** Whoever resolves what is pending. */
export interface LockfileWork {
  /** There is something new to do. */
  wake(): void
}

/** What a version imports from elsewhere; null when that is nothing. */
export async function getVersionLockfile(
  deps: VersionLockfileDeps,
  caller: Caller | undefined,
  valId: string,
  version: number,
): Promise<Lockfile | null> {
  await getVersion(deps, caller, valId, version)
  return deps.lockfiles.find(valId, version)
}

/**
 * Tries again what failed. What has been resolved stays as it is: a version runs the same code
 * forever.
 */
export async function resolveAgain(
  deps: VersionLockfileDeps,
  caller: Caller,
  valId: string,
  version: number,
): Promise<Lockfile | null> {
  const val = await getVersion(deps, caller, valId, version)
  assertOwner(val, caller)
  if (!(await ensureLockfile(deps, val))) await deps.lockfiles.reopen(valId, version, deps.now())
  const lock = await deps.lockfiles.find(valId, version)
  // Not before: whoever asked for it is to hear that it has begun, and not already how it ended.
  deps.lockfileWork.wake()
  return lock
}

/** Makes the lock that a version needs and lacks. True when it did. */
export async function ensureLockfile(
  deps: Pick<
    VersionLockfileDeps,
    "lockfiles" | "importHosts" | "lockfilesSince" | "lockfileWork" | "scanImports" | "now"
  >,
  val: Pick<Val, "id" | "version" | "code" | "ownerId" | "versionCreatedAt">,
): Promise<boolean> {
  if (val.versionCreatedAt >= deps.lockfilesSince || !mayImportRemote(val.code)) return false
  if (await deps.lockfiles.findSummary(val.id, val.version)) return false
  if (!hasRemoteImports(val.code, await deps.scanImports(val.code, val.ownerId), deps.importHosts))
    return false
  await deps.lockfiles.add(val.id, val.version, deps.now())
  deps.lockfileWork.wake()
  return true
}
