import type { Caller } from "../access.ts"
import type { Page, PageRequest } from "../paging.ts"
import { getVal, type Val, type ValStore } from "./vals.ts"

/** Where likes are kept. */
export interface LikeStore {
  has(userId: string, valId: string): Promise<boolean>
  /** Liking twice is liking once. */
  add(userId: string, valId: string, at: number): Promise<void>
  remove(userId: string, valId: string): Promise<void>
  /**
   * The vals a user likes and may still see, latest like first. As with their comments and runs,
   * unlisted ones are among them.
   */
  list(userId: string, page: PageRequest): Promise<Page<Val>>
}

/** What the rules of likes need. */
export interface LikeDeps {
  readonly vals: ValStore
  readonly likes: LikeStore
  now(): number
}

/** Whether the caller likes a val that they can see. */
export async function isLiked(deps: LikeDeps, caller: Caller, valId: string): Promise<boolean> {
  await getVal(deps, caller, valId)
  return deps.likes.has(caller.userId, valId)
}

/** Likes a val that the caller can see. */
export async function likeVal(deps: LikeDeps, caller: Caller, valId: string): Promise<void> {
  await getVal(deps, caller, valId)
  await deps.likes.add(caller.userId, valId, deps.now())
}

/** Takes a like back. */
export async function unlikeVal(deps: LikeDeps, caller: Caller, valId: string): Promise<void> {
  await getVal(deps, caller, valId)
  await deps.likes.remove(caller.userId, valId)
}
