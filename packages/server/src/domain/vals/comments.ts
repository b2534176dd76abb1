import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"
import type { Page, PageRequest, Period } from "../paging.ts"
import { getVal, type Privacy, type ValStore, valNotFound } from "./vals.ts"

/** A val as runs and comments mention it. */
export interface ValMention {
  readonly id: string
  readonly name: string
  readonly version: number
  readonly privacy: Privacy
  readonly ownerId: string
  readonly ownerName: string
}

/** A comment on a val. */
export interface Comment {
  readonly id: string
  readonly comment: string
  readonly createdAt: number
  readonly authorId: string
  readonly authorName: string
  readonly val: ValMention
}

/**
 * Which of a user's comments are meant: those they gave, those others gave on their vals, or both.
 */
export type Relationship = "any" | "given" | "received"

/** Where comments are kept. */
export interface CommentStore {
  find(id: string): Promise<Comment | undefined>
  listOfVal(valId: string, page: PageRequest): Promise<Page<Comment>>
  /** Leaves out comments on vals that the user may no longer see. */
  listOfUser(
    userId: string,
    relationship: Relationship,
    period: Period,
    page: PageRequest,
  ): Promise<Page<Comment>>
  /** Undefined when the val is gone. */
  add(comment: NewComment): Promise<Comment | undefined>
  delete(id: string): Promise<void>
}

/** A comment that is about to be made. */
export interface NewComment {
  readonly id: string
  readonly valId: string
  readonly authorId: string
  readonly comment: string
  readonly at: number
}

/** What the rules of comments need. */
export interface CommentDeps {
  readonly vals: ValStore
  readonly comments: CommentStore
  newId(): string
  now(): number
}

/** Comments on a val, newest first. */
export async function listComments(
  deps: CommentDeps,
  caller: Caller | undefined,
  valId: string,
  page: PageRequest,
): Promise<Page<Comment>> {
  await getVal(deps, caller, valId)
  return deps.comments.listOfVal(valId, page)
}

/** Comments on a val that the caller can see. */
export async function addComment(
  deps: CommentDeps,
  caller: Caller,
  valId: string,
  comment: string,
): Promise<Comment> {
  await getVal(deps, caller, valId)
  const added = await deps.comments.add({
    id: deps.newId(),
    valId,
    authorId: caller.userId,
    comment,
    at: deps.now(),
  })
  if (!added) throw valNotFound(valId)
  return added
}

/** Deletes a comment: its author may, and the owner of the val. */
export async function deleteComment(deps: CommentDeps, caller: Caller, id: string): Promise<void> {
  const comment = await deps.comments.find(id)
  const isOnOwnVal = comment?.val.ownerId === caller.userId
  if (!comment || (comment.val.privacy === "private" && !isOnOwnVal))
    throw new AppError("comment_not_found", `Cannot find comment "${id}"`)
  if (comment.authorId !== caller.userId && !isOnOwnVal) {
    throw new AppError(
      "not_owner",
      `Cannot delete comment "${id}": it is neither yours nor on a val of yours`,
    )
  }
  await deps.comments.delete(id)
}
