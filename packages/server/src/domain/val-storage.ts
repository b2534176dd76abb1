import type { OwnerDatabases } from "@hamlet/owner-databases"
import type { Caller } from "./access/caller.ts"
import { assertMayChange } from "./access/rights.ts"
import { AppError } from "./app-error.ts"
import type { StorageHome } from "./storage-home.ts"
import type { Vals } from "./vals/vals.ts"

/** A val that was deleted, whose blobs and database are to be deleted. */
export interface ValPurge extends Required<StorageHome> {
  /** 0 at first. */
  readonly dueAt: number
}

/** Stores which vals were deleted. */
export interface ValPurgeStore {
  /** The first one that is due. */
  findDue(at: number): Promise<ValPurge | undefined>
  /** Deletes some of its blobs. Returns false when none is left. */
  purgeBlobs(purge: ValPurge, at: number, countMax: number): Promise<boolean>
  /** Sets when the purge is due again; undefined if it is complete. */
  moveTo(purge: ValPurge, dueAt: number | undefined): Promise<void>
}

/** Where the data of deleted vals is. */
export interface DeletedVals {
  readonly valPurges: ValPurgeStore
  readonly ownerDatabases: Pick<OwnerDatabases, "remove">
  now(): number
}

const limits = {
  /** Blobs deleted in one transaction, so that other writes do not wait long. */
  blobsMax: 200,
  /**
   * When a val is purged a second time: requests that had begun before it was deleted are over by
   * then.
   */
  againMs: 900_000,
}

/** Deletes a part of what deleted vals have stored. Returns false when nothing is left. */
export async function purgeVals({ valPurges, ownerDatabases, now }: DeletedVals): Promise<boolean> {
  const purge = await valPurges.findDue(now())
  if (!purge) return false
  if (await valPurges.purgeBlobs(purge, now(), limits.blobsMax)) return true
  await ownerDatabases.remove(purge)
  await valPurges.moveTo(purge, purge.dueAt === 0 ? now() + limits.againMs : undefined)
  return true
}

/** The rule about whose storage a caller reaches. */
export type ValStorage = ReturnType<typeof createValStorage>

/** Creates the rule. */
export function createValStorage(vals: Pick<Vals, "get">) {
  const rules = {
    /**
     * The home of the blobs that are meant: those of the account, if a user's token names no val.
     * Code that is not saved has no val, and no blobs by this way.
     */
    async getBlobHome(caller: Caller, given: string | undefined): Promise<StorageHome> {
      return given === undefined && !caller.isOfRun
        ? { ownerId: caller.ownerId }
        : rules.getHome(caller, given)
    },
    /**
     * The home of a val of the caller. A run reaches that of its own val only; other callers say
     * which val they mean.
     */
    async getHome(caller: Caller, given: string | undefined): Promise<StorageHome> {
      const valId = caller.valId ?? given
      if (valId === undefined) {
        const issues = [{ path: "val_id", message: "is required: only a run has a val of its own" }]
        throw new AppError(
          "invalid_request",
          'Cannot find the val: "val_id" is required, unless the token is that of a run',
          { issues },
        )
      }
      if (given !== undefined && given !== valId)
        throw new AppError(
          "val_not_found",
          `Cannot use what val "${given}" stores: the token of a run reaches that of its own val only`,
        )
      const val = await vals.get(caller, valId)
      assertMayChange(val, caller, "use the storage of")
      return { ownerId: val.ownerId, valId }
    },
  }
  return rules
}
