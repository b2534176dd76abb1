import type { Caller } from "./access/caller.ts"
import { valNotFound } from "./access/rights.ts"
import { AppError } from "./app-error.ts"

/** Where blobs or a database belong: to a user, or to one val of the user. Both count as the user's. */
export interface StorageHome {
  readonly ownerId: string
  readonly valId?: string
}

/** Says whether homes exist: nothing is created for a val or a user that was deleted. */
export interface StorageHomes {
  /** False once the deletion of the val or the user has begun. */
  exists(home: StorageHome): Promise<boolean>
}

/** The home of what all vals of the caller share. */
export function toAccountHome({ ownerId }: Caller): StorageHome {
  return { ownerId: ownerId }
}

/** The error for a home that was deleted meanwhile. An account that is deleted is suspended too. */
export function homeGone({ valId }: StorageHome): AppError {
  return valId === undefined
    ? new AppError("user_suspended", "Cannot store anything: the account was deleted")
    : valNotFound(valId)
}
