import { beyond, type Dialect, firstRow, type Statements, sql } from "@hamlet/database"
import type { NotificationType } from "../../domain/notifications/notifications.ts"

/** A notification to be stored. */
export interface NewNotification {
  readonly ownerId: string
  readonly type: NotificationType
  /** The key of the event: an event that is noted again has the same key, and notifies once. */
  readonly key: string
  readonly valId: string
  /** The file that it is about. */
  readonly fileId?: string
  /** Null for what no user did. */
  readonly actorId: string | null
  readonly commentId?: string
  readonly otherValId?: string
}

/** How many notifications are kept, and how long. */
export const notificationLimits = {
  /** Per user. Beyond it, the oldest are deleted. */
  countMax: 500,
  keptMs: 90 * 86_400_000,
}

/**
 * Part of a transaction: tells the owner of a val what happens to it. It adds nothing for what the owner
 * did, or has muted.
 */
export function* addNotification(dialect: Dialect, it: NewNotification): Statements<void> {
  const { ownerId, type, valId, actorId } = it
  if (actorId === ownerId) return
  const owner = yield* firstRow<{ muted: string | null }>`
    select muted_notifications as muted from users where id = ${ownerId}`
  if (!owner || owner.muted?.includes(`"${type}"`)) return
  yield sql`insert into notifications (id, owner_id, type, key, val_id, file_id, actor_id, comment_id, other_val_id, created_at)
    values (${Bun.randomUUIDv7()}, ${ownerId}, ${type}, ${it.key}, ${valId}, ${it.fileId ?? null}, ${actorId}, ${it.commentId ?? null}, ${it.otherValId ?? null}, ${dialect.now})
    on conflict (owner_id, key) do nothing`
  yield sql`delete from notifications where owner_id = ${ownerId} and created_at < ${dialect.now} - ${notificationLimits.keptMs}`
  yield sql`delete from notifications where id in (
    select id from notifications where owner_id = ${ownerId}
    order by created_at desc, id desc ${beyond(notificationLimits.countMax)})`
}
