import type { Caller } from "../access.ts"
import type { BundleStore, Lockfile } from "./lockfiles.ts"
import { getVersionLockfile, type VersionLockfileDeps } from "./version-lockfiles.ts"

/** What the rules of types need. */
export interface VersionTypeDeps extends VersionLockfileDeps {
  readonly bundles: Pick<BundleStore, "findTypes">
  /** Reads the archive of a bundle's types. */
  readTypes(archive: Uint8Array): Promise<PackageTypes>
}

/** The declarations of npm packages, with the links by which TypeScript finds packages. */
export interface PackageTypes {
  readonly files: readonly { readonly path: string; readonly text: string }[]
  /** Links to folders. A target is relative to the folder of the link. */
  readonly links: readonly { readonly path: string; readonly target: string }[]
}

/** The types of the packages of a version. */
export interface VersionTypes extends PackageTypes {
  /** Null when it imports no packages. */
  readonly lockfile: Lockfile | null
}

/**
 * The types of the packages that a version imports, for those who may see its code. There are none
 * while the lockfile is pending, and for lockfiles that were made before types were stored.
 */
export async function getVersionTypes(
  deps: VersionTypeDeps,
  caller: Caller | undefined,
  valId: string,
  version: number,
): Promise<VersionTypes> {
  const lockfile = await getVersionLockfile(deps, caller, valId, version)
  const hash = lockfile?.state === "pending" ? null : (lockfile?.bundle ?? null)
  const archive = hash === null ? undefined : await deps.bundles.findTypes(hash)
  return { lockfile, ...(archive ? await deps.readTypes(archive) : { files: [], links: [] }) }
}
