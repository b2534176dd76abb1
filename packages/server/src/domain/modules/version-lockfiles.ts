import type { PackageTypes } from "@hamlet/npm"
import type { Caller } from "../access/caller.ts"
import { assertMayChange } from "../access/rights.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import type { Sources } from "../vals/val-source.ts"
import type { Val } from "../vals/vals.ts"
import type { Versions } from "../vals/versions.ts"
import type {
  BundleStore,
  DependencyResolver,
  Lockfile,
  LockfileStore,
  LockfileWork,
} from "./lockfiles.ts"
import type { PendingLockfiles } from "./pending-lockfiles.ts"
import { hasRemoteImports, mayImportRemote } from "./remote-imports.ts"

/** The types of the packages of a version. */
export interface VersionTypes extends PackageTypes {
  /** Null when it imports no packages. */
  readonly lockfile: Lockfile | null
}

/** How the packages of versions are fetched. */
export interface PackageFetching {
  /** Null when the server does not fetch packages. */
  readonly resolver: DependencyResolver | null
  readonly lockfileWork: LockfileWork
  readonly pendingLockfiles: PendingLockfiles
  /** Versions saved before then may lack a lockfile that they need. */
  readonly lockfilesSince: number
  /** Reads the archive of a bundle's types. */
  readTypes(archive: Uint8Array): Promise<PackageTypes>
}

type VersionCode = Pick<Val, "id" | "version" | "code" | "ownerId" | "versionCreatedAt">

/** The lockfiles of versions. */
export type VersionLockfiles = ReturnType<typeof createVersionLockfiles>

/** Creates the rules of lockfiles. */
export function createVersionLockfiles(
  store: LockfileStore,
  bundles: BundleStore,
  versions: Versions,
  { parser, importHosts }: Sources,
  { resolver, lockfileWork, pendingLockfiles, lockfilesSince, readTypes }: PackageFetching,
  { now }: Clock,
) {
  /** Creates the lockfile if the version needs one and lacks it. Returns whether it did. */
  const ensure = async ({ id, version, code, ownerId, versionCreatedAt }: VersionCode) => {
    if (versionCreatedAt >= lockfilesSince || !mayImportRemote(code)) return false
    if (await store.findSummary(id, version)) return false
    if (!hasRemoteImports(code, await parser.scanImports(code, ownerId), importHosts)) return false
    await store.add(id, version, now())
    lockfileWork.wake()
    return true
  }
  /** The lockfile of a version; null when it imports no packages. */
  const get = async (caller: Caller | undefined, valId: string, version: number) => {
    await versions.get(caller, valId, version)
    return store.find(valId, version)
  }
  return {
    ensure,
    get,
    /** Versions that were saved later have the lockfile that they need. */
    completeSince: lockfilesSince,
    /** Call when there is a new pending lockfile. */
    wake: () => lockfileWork.wake(),
    /**
     * The types of the packages that a version imports, for those who may see its code. There are
     * none while the lockfile is pending, and for lockfiles that were made before types were stored.
     */
    async getTypes(caller: Caller | undefined, valId: string, version: number) {
      const lockfile = await get(caller, valId, version)
      const hash = lockfile?.state === "pending" ? null : (lockfile?.bundle ?? null)
      const archive = hash === null ? undefined : await bundles.findTypes(hash)
      const types = archive ? await readTypes(archive) : { files: [], links: [] }
      return { lockfile, ...types } satisfies VersionTypes
    },
    /** Retries failed imports. A lockfile that is ready never changes. */
    async resolveAgain(caller: Caller, valId: string, version: number): Promise<Lockfile | null> {
      const val = await versions.get(caller, valId, version)
      assertMayChange(val, caller)
      if (!(await ensure(val))) await store.reopen(valId, version, now())
      const lock = await store.find(valId, version)
      // After the lookup, so that the response shows the lockfile as pending.
      lockfileWork.wake()
      return lock
    },
    /** The lockfile of a version, for a copy of it. Waits a while for packages being fetched. */
    async waitFor(val: VersionCode, msMax: number): Promise<Lockfile | null> {
      await ensure(val)
      const summary = await store.findSummary(val.id, val.version)
      if (summary?.state === "pending" && resolver)
        await pendingLockfiles.wait(val.id, val.version, { msMax }).catch((error: unknown) => {
          if (!(error instanceof AppError) || error.code !== "packages_pending") throw error
        })
      return summary && store.find(val.id, val.version)
    },
  }
}
