import type { Caller } from "./access.ts"

/** Where blobs or a database belong: to a user, or to one val of the user. Both count as the user's. */
export interface StorageHome {
  readonly ownerId: string
  readonly valId?: string
}

/** The home of what all vals of the caller share. */
export function toAccountHome({ userId }: Caller): StorageHome {
  return { ownerId: userId }
}
