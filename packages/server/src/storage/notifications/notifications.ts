import {
  type Database,
  list,
  newestOf,
  nothing,
  raw,
  readPage,
  type Statement,
  sql,
} from "@hamlet/database"
import { toOwnJson } from "@hamlet/kit"
import type {
  Notification,
  NotificationStore,
  NotificationType,
} from "../../domain/notifications/notifications.ts"
import { notificationLimits } from "./add-notification.ts"

/** Characters of a comment. Its page has the rest. */
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
    list: (userId, page) =>
      readPage(db, page, newestOf("n."), toNotification)`
        select n.id, n.type, n.created_at, n.read_at, v.id as val__id, v.name as val__name,
          u.id as val__author__id, u.username as val__author__username, f.id as file__id, f.path as file__path,
          b.id as branch__id, b.name as branch__name, a.id as user__id, a.username as user__username,
          c.id as comment__id, c.comment as comment__text, o.id as other_val__id, o.name as other_val__name,
          w.id as other_val__author__id, w.username as other_val__author__username
        from notifications n ${joins} where ${ofUser(userId)}`,
    async countUnread(userId) {
      const row = await db.first<{ count: number }>`
        select count(*) as count from (
          select 1 as one from notifications n left join vals o on o.id = n.other_val_id
          where ${ofUser(userId)} and n.read_at is null limit ${notificationLimits.countMax}) unread`
      return row?.count ?? 0
    },
    markRead: (userId, ids, at) =>
      db.write(function* () {
        const chosen = ids === undefined ? nothing : sql`and id in (${list(ids)})`
        yield sql`update notifications set read_at = ${at} where owner_id = ${userId} and read_at is null ${chosen}`
      }),
    async listMuted(userId) {
      const row = await db.first<{ muted: readonly NotificationType[] | null }>`
        select muted_notifications as muted_json from users where id = ${userId}`
      return row?.muted ?? []
    },
    mute: (userId, types) =>
      db.write(function* () {
        const muted = types.length === 0 ? null : toOwnJson(types)
        yield sql`update users set muted_notifications = ${muted} where id = ${userId}`
      }),
  }
}

function toNotification({ comment, ...rest }: Notification): Notification {
  const text = comment?.text.slice(0, commentCharsMax).toWellFormed() ?? ""
  return { ...rest, comment: comment && { ...comment, text } }
}
