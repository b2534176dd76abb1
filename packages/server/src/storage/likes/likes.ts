import {
  afterCursor,
  type Database,
  type Dialect,
  firstRow,
  limitTo,
  type Script,
  sql,
} from "@hamlet/database"
import { findCallDepth } from "../../domain/call-depth.ts"
import type { LikeStore } from "../../domain/likes/likes.ts"
import { addToTrend, removeFromTrend } from "../../domain/vals/trend.ts"
import type { Val } from "../../domain/vals/vals.ts"
import { isVisible } from "../access/visibility.ts"
import { emitLiked } from "../events/val-events.ts"
import { readVals } from "../vals/read-vals.ts"
import { lockAccess, toListedColumns, withCurrentVersion } from "../vals/val-rows.ts"

/** Likes in the database. */
export function createLikeStore(db: Database): LikeStore {
  return {
    async has(userId, valId) {
      const rows = await db.read`
        select val_id from likes where user_id = ${userId} and val_id = ${valId}`
      return rows.length > 0
    },
    add(userId, valId, at, authorize) {
      const depth = findCallDepth()
      return db.write(() => addLike(db.dialect, { userId, valId, at, depth }, authorize), {
        inTurnOf: valId,
      })
    },
    remove: (userId, valId) =>
      db.write(() => removeLike(db.dialect, userId, valId), { inTurnOf: valId }),
    list(userId, viewer, page) {
      const list = sql`
        select ${toListedColumns(page)}, l.created_at as liked_at from likes l join vals v on v.id = l.val_id ${withCurrentVersion}
        where l.user_id = ${userId} and ${isVisible(db.dialect, viewer)} ${afterCursor(page, "l.created_at, l.val_id", ["time", "id"])}
        order by l.created_at desc, l.val_id desc ${limitTo(page)}`
      return readVals<Val & { readonly likedAt: number }>(db, page, list, (row) => [
        row.likedAt,
        row.id,
      ])
    },
  }
}

interface NewLike {
  readonly userId: string
  readonly valId: string
  readonly at: number
  readonly depth: number
}

// Both lock the val first. If one of them locked the like first, two transactions could wait for
// each other.
function* addLike(
  dialect: Dialect,
  { userId, valId, at, depth }: NewLike,
  authorize: Parameters<LikeStore["add"]>[3],
): Script<boolean> {
  const val = yield* lockAccess(dialect, valId)
  if (!val) return false
  authorize(val)
  const added = yield* firstRow`
    insert into likes (user_id, val_id, created_at) values (${userId}, ${valId}, ${at})
    on conflict (user_id, val_id) do nothing returning val_id`
  if (!added) return true
  const trend = addToTrend(val.trend, at)
  yield sql`update vals set like_count = like_count + 1, trend = ${trend} where id = ${valId}`
  yield* emitLiked(dialect, { userId, valId, ownerId: val.ownerId, at, depth })
  return true
}

/** Removes a like. */
export function* removeLike(dialect: Dialect, userId: string, valId: string): Script<void> {
  const val = yield* firstRow<{ likeCount: number; trend: number }>`
    select like_count, trend from vals where id = ${valId} ${dialect.forUpdate}`
  const removed = yield* firstRow<{ createdAt: number }>`
    delete from likes where user_id = ${userId} and val_id = ${valId} returning created_at`
  if (!val || !removed) return
  const rest = removeFromTrend(val.trend, removed.createdAt)
  const trend = val.likeCount > 1 ? rest : 0
  yield sql`update vals set like_count = like_count - 1, trend = ${trend} where id = ${valId}`
}
