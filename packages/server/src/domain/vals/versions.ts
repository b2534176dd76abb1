import { limits } from "@hamlet/contract"
import type { Page, PageRequest } from "@hamlet/database/page"
import { type Caller, forOwnerOf } from "../access/caller.ts"
import { assertMayChange, canSee, valNotFound } from "../access/rights.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import { mayImport } from "../modules/import-address.ts"
import type { Retirer } from "../runs/retirement.ts"
import type { Sources } from "./val-source.ts"
import {
  type AssertVal,
  assertChangeable,
  type SavedVal,
  type Val,
  type ValInput,
  type Vals,
} from "./vals.ts"

/** A version in the list of a val's versions. */
export interface Version {
  readonly valId: string
  readonly version: number
  readonly code: string
  readonly createdAt: number
  /** What its author has said about it. */
  readonly note: string | null
  /** The person who saved it, if that is known. */
  readonly author: { readonly id: string; readonly username: string } | null
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

/** The rules of versions. */
export type Versions = ReturnType<typeof createVersions>

/** Creates the rules of versions. */
export function createVersions(
  store: VersionStore,
  vals: Vals,
  sources: Sources,
  runner: Retirer,
  { now }: Clock,
) {
  return {
    /** Does not ask who may see it: for rules that decide that themselves. */
    find: store.find,
    /** A val at one version. */
    async get(caller: Caller | undefined, valId: string, version: number): Promise<Val> {
      const val = version <= limits.versionMax ? await store.find(valId, version) : undefined
      if (val && canSee(val, caller)) return val
      // Which of the two is missing must not tell anybody that a private val exists.
      await vals.get(caller, valId)
      throw versionNotFound(version)
    },
    /** A val's versions, newest first. */
    async list(
      caller: Caller | undefined,
      valId: string,
      page: PageRequest,
    ): Promise<Page<Version>> {
      await vals.get(caller, valId)
      return store.list(valId, page)
    },
    /** Saves `code` as the next version. Code that equals the current version's creates none. */
    async save(
      caller: Caller,
      valId: string,
      input: ValInput & { readonly code: string },
      ifMatch: number | undefined,
    ): Promise<SavedVal> {
      const { code, ...rest } = input
      if (!mayImport(code))
        return vals.change(caller, valId, { ...rest, source: sources.readPlain(code) }, ifMatch)
      // Relative imports depend on the name of the val. Checking the owner first keeps others from
      // using the parser.
      const val = await vals.get(caller, valId)
      assertMayChange(val, caller)
      const source = await sources.read(forOwnerOf(val, caller), code, val.name)
      return vals.change(caller, valId, { ...rest, source }, ifMatch)
    },
    /** Deletes a version. Its number is never used again, and the only version of a val stays. */
    async delete(
      caller: Caller,
      valId: string,
      version: number,
      ifMatch: number | undefined,
    ): Promise<void> {
      const assert = (val: Val) => assertChangeable(val, caller, ifMatch)
      const result = await store.delete(valId, Math.min(version, limits.versionMax), assert, now())
      if (result === "no_val") throw valNotFound(valId)
      if (result === "no_version") throw versionNotFound(version)
      if (result === "last_version")
        throw new AppError(
          "last_version",
          `Cannot delete version ${version}: it is the only one; delete the val instead`,
        )
      runner.retire({ valId, version })
    },
  }
}

/** The error for a version that is not there. */
export function versionNotFound(version: number | string): AppError {
  return new AppError(
    "version_not_found",
    `Cannot find version ${version}: the val has none with that number`,
  )
}
