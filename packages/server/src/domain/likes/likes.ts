import type { Page } from "@hamlet/database/page"
import type { Caller } from "../access/caller.ts"
import { canSee, type ValAccess, type Viewer, valNotFound } from "../access/rights.ts"
import type { Clock } from "../clock.ts"
import type { Val, ValPageRequest, Vals } from "../vals/vals.ts"

/** Keeps and counts likes: `storage/likes/likes.ts`. */
export interface LikeStore {
  has(userId: string, valId: string): Promise<boolean>
  /**
   * Liking twice is liking once. Calls `authorize` with the val as it is in the transaction. Returns
   * false when the val is gone.
   */
  add(
    userId: string,
    valId: string,
    at: number,
    authorize: (val: ValAccess) => void,
  ): Promise<boolean>
  remove(userId: string, valId: string): Promise<void>
  /**
   * The vals a user likes and may still see, latest like first. As with their comments and runs,
   * unlisted ones are among them.
   */
  list(userId: string, viewer: Viewer, page: ValPageRequest): Promise<Page<Val>>
}

/** The rules of likes. */
export type Likes = ReturnType<typeof createLikes>

/** Creates the rules of likes. */
export function createLikes(store: LikeStore, vals: Vals, { now }: Clock) {
  return {
    /** Whether the caller likes a val that they can see. */
    async has(caller: Caller, valId: string): Promise<boolean> {
      await vals.get(caller, valId)
      return store.has(caller.actorId, valId)
    },
    /** Likes a val that the caller can see. */
    async add(caller: Caller, valId: string): Promise<void> {
      const isFound = await store.add(caller.actorId, valId, now(), (val) => {
        if (!canSee(val, caller)) throw valNotFound(valId)
      })
      if (!isFound) throw valNotFound(valId)
    },
    /** Takes a like back. */
    async remove(caller: Caller, valId: string): Promise<void> {
      await vals.get(caller, valId)
      await store.remove(caller.actorId, valId)
    },
    /** The vals that the caller likes, latest like first. */
    list: (caller: Caller, page: ValPageRequest) => store.list(caller.actorId, caller, page),
  }
}
