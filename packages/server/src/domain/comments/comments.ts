import type { Page, PageRequest, Period } from "@hamlet/database/page"
import type { Caller } from "../access/caller.ts"
import {
  type AccountView,
  canSee,
  type Privacy,
  rightsOn,
  type ValAccess,
  valNotFound,
} from "../access/rights.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import type { Vals } from "../vals/vals.ts"

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
  listOfVal(valId: string, page: PageRequest): Promise<Page<Comment>>
  /** Leaves out comments on vals that the user may no longer see. */
  listOfUser(
    account: AccountView,
    relationship: Relationship,
    period: Period,
    page: PageRequest,
  ): Promise<Page<Comment>>
  /**
   * Calls `authorize` with the val as it is in the transaction; it throws if the author may not see
   * it. Undefined when the val is gone.
   */
  add(comment: NewComment, authorize: (val: ValAccess) => void): Promise<Comment | undefined>
  /** Calls `authorize` with the comment, which not everyone may delete. False when it is gone. */
  delete(id: string, authorize: (comment: Comment) => void): Promise<boolean>
}

/** A comment that is about to be made. */
export interface NewComment {
  readonly id: string
  readonly valId: string
  readonly authorId: string
  readonly comment: string
  readonly at: number
}

/** The rules of comments. */
export type Comments = ReturnType<typeof createComments>

/** Creates the rules of comments. */
export function createComments(store: CommentStore, vals: Vals, { newId, now }: Clock) {
  return {
    /** Comments on a val, newest first. */
    async list(
      caller: Caller | undefined,
      valId: string,
      page: PageRequest,
    ): Promise<Page<Comment>> {
      await vals.get(caller, valId)
      return store.listOfVal(valId, page)
    },
    /** Comments of the account that the caller acts for, or on its vals. */
    listMine: (caller: Caller, relationship: Relationship, period: Period, page: PageRequest) =>
      store.listOfUser(caller, relationship, period, page),
    /** Comments on a val that the caller can see. */
    async add(caller: Caller, valId: string, comment: string): Promise<Comment> {
      const added = await store.add(
        { id: newId(), valId, authorId: caller.actorId, comment, at: now() },
        (val) => {
          if (!canSee(val, caller)) throw valNotFound(valId)
        },
      )
      if (!added) throw valNotFound(valId)
      return added
    },
    /** Deletes a comment: its author may, and the owner of the val. */
    async delete(caller: Caller, id: string): Promise<void> {
      const isDeleted = await store.delete(id, ({ authorId, val }) => {
        if (!canSee(val, caller)) throw commentNotFound(id)
        if (authorId !== caller.actorId && !rightsOn(val, caller).change)
          throw new AppError(
            "not_owner",
            `Cannot delete comment "${id}": it is neither yours nor on a val of yours`,
          )
      })
      if (!isDeleted) throw commentNotFound(id)
    },
  }
}

function commentNotFound(id: string): AppError {
  return new AppError("comment_not_found", `Cannot find comment "${id}"`)
}
