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
  /** Versions saved before then may lack a lockfile that they need. */
  readonly lockfilesSince: number
  /** Resolves pending lockfiles. */
  readonly lockfileWork: LockfileWork
  scanImports(code: string, ownerId: string): Promise<readonly string[]>
}

/** Resolves pending lockfiles in the background. */
export interface LockfileWork {
  /** Call when there is a new pending lockfile. */
  wake(): void
}

/** Returns the lockfile of a version; null when it imports no packages. */
export async function getVersionLockfile(
  deps: VersionLockfileDeps,
  caller: Caller | undefined,
  valId: string,
  version: number,
): Promise<Lockfile | null> {
  await getVersion(deps, caller, valId, version)
  return deps.lockfiles.find(valId, version)
}

/** Retries failed imports. A lockfile that is ready never changes. */
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
  // After the lookup, so that the response shows the lockfile as pending.
  deps.lockfileWork.wake()
  return lock
}

/** Creates the lockfile if the version needs one and lacks it. Returns whether it did. */
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
