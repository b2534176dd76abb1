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
import { toTime } from "../vals/val-rows.ts"
import { notificationLimits } from "./add-notification.ts"

interface NotificationRow {
  readonly id: string
  readonly type: NotificationType
  readonly created_at: number | string
  readonly read_at: number | string | null
  readonly val_id: string
  readonly val_name: string
  readonly file_id: string | null
  readonly file_path: string | null
  readonly branch_id: string | null
  readonly branch_name: string | null
  readonly owner_id: string
  readonly owner_name: string
  readonly actor_id: string | null
  readonly actor_name: string | null
  readonly comment_id: string | null
  readonly comment: string | null
  readonly other_id: string | null
  readonly other_name: string | null
  readonly other_owner_id: string | null
  readonly other_owner_name: string | null
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
      const [row] = await db.read<{ count: number | string }>(sql`
        select count(*) as count from (
          select 1 as one from notifications n left join vals o on o.id = n.other_val_id
          where ${ofUser(userId)} and n.read_at is null limit ${notificationLimits.countMax}) unread`)
      return Number(row?.count ?? 0)
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
  const { actor_id: actorId, actor_name: actorName, comment_id: commentId } = row
  return {
    id: row.id,
    type: row.type,
    createdAt: Number(row.created_at),
    readAt: toTime(row.read_at),
    val: {
      id: row.val_id,
      name: row.val_name,
      author: { id: row.owner_id, username: row.owner_name },
    },
    file: row.file_id === null ? null : { id: row.file_id, path: row.file_path ?? "" },
    branch: row.branch_id === null ? null : { id: row.branch_id, name: row.branch_name ?? "" },
    user: actorId === null ? null : { id: actorId, username: actorName ?? "" },
    comment:
      commentId === null
        ? null
        : { id: commentId, text: (row.comment ?? "").slice(0, commentCharsMax).toWellFormed() },
    otherVal: toOther(row),
  }
}

function toOther(row: NotificationRow): NamedVal | null {
  if (row.other_id === null) return null
  const author = { id: row.other_owner_id ?? "", username: row.other_owner_name ?? "" }
  return { id: row.other_id, name: row.other_name ?? "", author }
}
