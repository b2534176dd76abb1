import type { notification } from "@hamlet/contract"
import type { z } from "zod"
import type { Notification } from "../../../domain/notifications/notifications.ts"
import type { Handlers } from "../../call.ts"
import type { Nouns } from "../../nouns.ts"
import { json, noContent } from "../../response/api-response.ts"
import { page } from "../../response/page.ts"

/** What the caller is told about their vals. */
export function notificationHandlers({ accounts, api: { links } }: Nouns) {
  const { notifications, now } = accounts
  return {
    listNotifications: async ({ caller, query, request }) =>
      page(
        links,
        request,
        query,
        await notifications.list(caller.userId, query),
        toNotificationView,
      ),
    countNotifications: async ({ caller }) =>
      json(200, { unread: await notifications.countUnread(caller.userId) }),
    readNotifications: async ({ caller, body }) => {
      await notifications.markRead(caller.userId, body.ids, now())
      return noContent()
    },
    getNotificationSettings: async ({ caller }) =>
      json(200, { muted: await notifications.listMuted(caller.userId) }),
    putNotificationSettings: async ({ caller, body }) => {
      const muted = [...new Set(body.muted)]
      await notifications.mute(caller.userId, muted)
      return json(200, { muted })
    },
  } satisfies Partial<Handlers>
}

function toNotificationView(it: Notification): z.infer<typeof notification> {
  const { id, type, val, user, comment, otherVal } = it
  const toNamed = (named: Notification["val"]) => ({
    id: named.id,
    name: named.name,
    author: { id: named.author.id, username: named.author.username },
  })
  return {
    ...{ id, type },
    createdAt: new Date(it.createdAt).toISOString(),
    readAt: it.readAt === null ? null : new Date(it.readAt).toISOString(),
    val: toNamed(val),
    user: user && { id: user.id, username: user.username },
    comment: comment && { id: comment.id, text: comment.text },
    otherVal: otherVal && toNamed(otherVal),
  }
}
