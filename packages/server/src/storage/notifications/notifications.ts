import type {
  NamedVal,
  Notification,
  NotificationStore,
  NotificationType,
} from "../../domain/notifications/notifications.ts"
import { parseOwnJson, toOwnJson } from "../../shared/hostile-input/bounded.ts"
import { list } from "../database/batch-sizes.ts"
import type { Database } from "../database/database.ts"
import { afterCursor, limitTo, newestFirst, toPage } from "../database/pagination.ts"
import { nothing, raw, type Statement, sql } from "../database/sql.ts"
import { notificationLimits } from "./add-notification.ts"

interface NotificationRow {
  readonly id: string
  readonly type: NotificationType
  readonly createdAt: number
  readonly readAt: number | null
  readonly valId: string
  readonly valName: string
  readonly fileId: string | null
  readonly filePath: string | null
  readonly branchId: string | null
  readonly branchName: string | null
  readonly ownerId: string
  readonly ownerName: string
  readonly actorId: string | null
  readonly actorName: string | null
  readonly commentId: string | null
  readonly comment: string | null
  readonly otherId: string | null
  readonly otherName: string | null
  readonly otherOwnerId: string | null
  readonly otherOwnerName: string | null
}

/** Of a comment. Its page has the rest. */
const commentCharsMax = 200

/** Another val is shown while it is public, or if it is the user's own. */
const joins = raw(`join vals v on v.id = n.val_id join users u on u.id = v.owner_id
  left join files f on f.id = n.file_id left join branches b on b.id = f.branch_id
  left join users a on a.id = n.actor_id left join comments c on c.id = n.comment_id
  left join vals o on o.id = n.other_val_id left join users w on w.id = o.owner_id`)
const isShown = raw("(o.id is null or o.privacy = 'public' or o.owner_id = n.owner_id)")

/** Notifications in the database. */
export function createNotificationStore(db: Database): NotificationStore {
  const ofUser = (userId: string): Statement => sql`n.owner_id = ${userId} and ${isShown}`
  return {
    async list(userId, page) {
      const rows = await db.read<NotificationRow>(sql`
        select n.id, n.type, n.created_at, n.read_at, v.id as val_id, v.name as val_name, f.id as file_id, f.path as file_path,
          b.id as branch_id, b.name as branch_name, u.id as owner_id,
          u.username as owner_name, a.id as actor_id, a.username as actor_name, c.id as comment_id, c.comment,
          o.id as other_id, o.name as other_name, w.id as other_owner_id, w.username as other_owner_name
        from notifications n ${joins}
        where ${ofUser(userId)} ${afterCursor(page, "n.created_at, n.id", newestFirst.kinds)}
        order by n.created_at desc, n.id desc ${limitTo(page)}`)
      return toPage(rows, page, toNotification, newestFirst.toKeys)
    },
    async countUnread(userId) {
      const [row] = await db.read<{ count: number }>(sql`
        select count(*) as count from (
          select 1 as one from notifications n left join vals o on o.id = n.other_val_id
          where ${ofUser(userId)} and n.read_at is null limit ${notificationLimits.countMax}) unread`)
      return row?.count ?? 0
    },
    markRead: (userId, ids, at) =>
      db.write(function* () {
        const chosen = ids === undefined ? nothing : sql`and id in (${list(ids)})`
        yield sql`update notifications set read_at = ${at} where owner_id = ${userId} and read_at is null ${chosen}`
      }),
    async listMuted(userId) {
      const [row] = await db.read<{ muted: string | null }>(
        sql`select muted_notifications as muted from users where id = ${userId}`,
      )
      // We wrote it, from the closed list of types.
      return row?.muted ? (parseOwnJson(row.muted) as NotificationType[]) : []
    },
    mute: (userId, types) =>
      db.write(function* () {
        const muted = types.length === 0 ? null : toOwnJson(types)
        yield sql`update users set muted_notifications = ${muted} where id = ${userId}`
      }),
  }
}

function toNotification(row: NotificationRow): Notification {
  const { actorId, actorName, commentId } = row
  return {
    id: row.id,
    type: row.type,
    createdAt: row.createdAt,
    readAt: row.readAt,
    val: {
      id: row.valId,
      name: row.valName,
      author: { id: row.ownerId, username: row.ownerName },
    },
    file: row.fileId === null ? null : { id: row.fileId, path: row.filePath ?? "" },
    branch: row.branchId === null ? null : { id: row.branchId, name: row.branchName ?? "" },
    user: actorId === null ? null : { id: actorId, username: actorName ?? "" },
    comment:
      commentId === null
        ? null
        : { id: commentId, text: (row.comment ?? "").slice(0, commentCharsMax).toWellFormed() },
    otherVal: toOther(row),
  }
}

function toOther(row: NotificationRow): NamedVal | null {
  if (row.otherId === null) return null
  const author = { id: row.otherOwnerId ?? "", username: row.otherOwnerName ?? "" }
  return { id: row.otherId, name: row.otherName ?? "", author }
}
