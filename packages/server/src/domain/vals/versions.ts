import { limits } from "@hamlet/contract"
import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"
import type { Page, PageRequest } from "../paging.ts"
import type { Retirer } from "../runs/retirement.ts"
import {
  type AssertVal,
  assertOwner,
  assertUnchanged,
  canSee,
  getVal,
  type Val,
  type ValStore,
  valNotFound,
} from "./vals.ts"

/** A version in the list of a val's versions. */
export interface Version {
  readonly valId: string
  readonly version: number
  readonly code: string
  readonly createdAt: number
  readonly runStartedAt: number | null
  readonly runEndedAt: number | null
}

/** How the attempt to delete a version ended. */
export type VersionDeletion = "deleted" | "no_val" | "no_version" | "last_version"

/** Where versions are kept. */
export interface VersionStore {
  find(valId: string, version: number): Promise<Val | undefined>
  list(valId: string, page: PageRequest): Promise<Page<Version>>
  /** Deletes it; when it was the current one, the highest that remains becomes current. */
  delete(valId: string, version: number, assert: AssertVal, at: number): Promise<VersionDeletion>
}

/** What the rules of versions need. */
export interface VersionDeps {
  readonly vals: ValStore
  readonly versions: VersionStore
  now(): number
}

/** A val at one version. */
export async function getVersion(
  deps: VersionDeps,
  caller: Caller | undefined,
  valId: string,
  version: number,
): Promise<Val> {
  const val = version <= limits.versionMax ? await deps.versions.find(valId, version) : undefined
  if (val && canSee(val, caller)) return val
  // Which of the two is missing must not tell anybody that a private val exists.
  await getVal(deps, caller, valId)
  throw versionNotFound(version)
}

/** A val's versions, newest first. */
export async function listVersions(
  deps: VersionDeps,
  caller: Caller | undefined,
  valId: string,
  page: PageRequest,
): Promise<Page<Version>> {
  await getVal(deps, caller, valId)
  return deps.versions.list(valId, page)
}

/** Deletes a version. Its number is never used again, and the only version of a val stays. */
export async function deleteVersion(
  deps: VersionDeps & { readonly runner: Retirer },
  caller: Caller,
  valId: string,
  version: number,
  ifMatch: number | undefined,
): Promise<void> {
  const assert = (val: Val) => {
    assertOwner(val, caller)
    assertUnchanged(val, ifMatch)
  }
  const result = await deps.versions.delete(
    valId,
    Math.min(version, limits.versionMax),
    assert,
    deps.now(),
  )
  if (result === "no_val") throw valNotFound(valId)
  if (result === "no_version") throw versionNotFound(version)
  if (result === "last_version")
    throw new AppError(
      "last_version",
      `Cannot delete version ${version}: it is the only one; delete the val instead`,
    )
  deps.runner.retire({ valId, version })
}

/** The error for a version that is not there. */
export function versionNotFound(version: number | string): AppError {
  return new AppError(
    "version_not_found",
    `Cannot find version ${version}: the val has none with that number`,
  )
}
