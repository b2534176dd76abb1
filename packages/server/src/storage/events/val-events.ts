import { type Dialect, firstRow, rows, type Statements } from "@hamlet/database"
import { mainBranch } from "../../domain/modules/import-address.ts"
import type { Val } from "../../domain/vals/vals.ts"
import type { NewEvent } from "../../domain/webhooks/events.ts"
import { addNotification } from "../notifications/add-notification.ts"
import { emitEvent, emitEvents } from "./emit-events.ts"

// `depth` is the number of vals that had called each other before something happened.

type SavedVal = Pick<Val, "id" | "ownerId" | "version">

const limits = { pathsMax: 100 }

/** What a save has changed. */
export interface EmittedChange {
  /** A new val, a new current version, or settings alone. */
  readonly change: "created" | "version" | "settings"
  readonly branch?: string
  /** The paths that differ from the version before. */
  readonly paths: readonly string[]
}

/** `version` is that of the branch. */
export function* emitSaved(
  dialect: Dialect,
  { id, ownerId, version }: SavedVal,
  { change, branch = mainBranch, paths }: EmittedChange,
  depth: number,
): Statements<void> {
  yield* emitEvent(dialect, {
    type: "val.saved",
    ownerId,
    valId: id,
    depth,
    data: {
      change,
      branch,
      version,
      paths: paths.slice(0, limits.pathsMax),
      pathCount: paths.length,
    },
    // Several saves may happen in one millisecond.
    key: `val.saved/${id}/${version}/${Bun.randomUUIDv7()}`,
  })
}

/** To be called before the val is deleted. */
export function* emitDeleted(
  dialect: Dialect,
  { id, ownerId }: SavedVal,
  depth: number,
): Statements<void> {
  yield* emitEvent(dialect, {
    type: "val.deleted",
    ownerId,
    valId: id,
    depth,
    key: `val.deleted/${id}`,
  })
}

/** A val that another val imports. */
export interface ReferencedVal {
  readonly id: string
  readonly ownerId: string
}

type ReferencingVal = Pick<Val, "id" | "name" | "ownerId" | "ownerName" | "version" | "privacy">

/** Tells owners about a new reference, if they may find the val that refers to theirs. */
export function* emitReferenced(
  dialect: Dialect,
  { id, name, ownerId, ownerName, version, privacy }: ReferencingVal,
  targets: readonly ReferencedVal[],
  depth: number,
): Statements<void> {
  const seen = targets.filter((target) => privacy === "public" || target.ownerId === ownerId)
  for (const target of seen)
    yield* addNotification(dialect, {
      type: "reference",
      ownerId: target.ownerId,
      valId: target.id,
      actorId: ownerId,
      key: `reference/${id}/${target.id}`,
      otherValId: id,
    })
  yield* emitEvents(
    dialect,
    seen.map(
      (target): NewEvent => ({
        type: "val.referenced",
        ownerId: target.ownerId,
        valId: target.id,
        depth,
        key: `val.referenced/${id}/${target.id}/${version}`,
        data: { reference: { id, name, username: ownerName } },
      }),
    ),
  )
}

/** To be called when a val has become public: its references to vals of others are new to them. */
export function* emitPublished(
  dialect: Dialect,
  val: ReferencingVal,
  depth: number,
): Statements<void> {
  const found = yield* rows<{ id: string; ownerId: string }>`
    select to_val_id as id, to_owner_id as owner_id from dependencies where from_val_id = ${val.id}`
  const targets = found.map(({ id, ownerId }) => ({ id, ownerId: ownerId }))
  yield* emitReferenced(
    dialect,
    val,
    targets.filter(({ ownerId }) => ownerId !== val.ownerId),
    depth,
  )
}

/** A like or a comment: what the user did to the val of an owner. */
interface SocialAct {
  readonly at: number
  readonly depth: number
  readonly userId: string
  readonly valId: string
  readonly ownerId: string
}

/** To be called when a user has liked a val. */
export function* emitLiked(
  dialect: Dialect,
  { userId, valId, ownerId, at, depth }: SocialAct,
): Statements<void> {
  const key = `like/${userId}/${valId}`
  yield* addNotification(dialect, { type: "like", ownerId, valId, actorId: userId, key })
  yield* emitEvent(dialect, {
    type: "val.liked",
    ownerId,
    valId,
    at,
    depth,
    key: `val.liked/${userId}/${valId}/${at}`,
    *readData() {
      const user = yield* firstRow<{ username: string }>`
        select username from users where id = ${userId}`
      return { user: { id: userId, username: user?.username } }
    },
  })
}

/** A comment as its event shows it. */
interface EmittedComment extends SocialAct {
  readonly id: string
  readonly comment: string
  readonly authorName: string
}

/** To be called when a user has commented on a val. */
export function* emitCommented(dialect: Dialect, act: EmittedComment): Statements<void> {
  const { id, comment, authorName, userId, valId, ownerId, at, depth } = act
  const author = { id: userId, username: authorName }
  yield* addNotification(dialect, {
    type: "comment",
    ownerId,
    valId,
    actorId: userId,
    key: `comment/${id}`,
    commentId: id,
  })
  yield* emitEvent(dialect, {
    type: "comment.created",
    ownerId,
    valId,
    at,
    depth,
    key: `comment.created/${id}`,
    data: { comment: { id, comment, createdAt: new Date(at).toISOString(), author } },
  })
}
