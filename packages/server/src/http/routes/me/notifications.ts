import { notification } from "@hamlet/contract"
import type { Notification } from "../../../domain/notifications/notifications.ts"
import type { Handlers } from "../../call.ts"
import type { Nouns } from "../../nouns.ts"
import { done, json } from "../../response/api-response.ts"
import { listOf } from "../../response/page.ts"
import { createView } from "../../response/view.ts"

/** What the caller is told about their vals. */
export function notificationHandlers({ notifications, api: { links } }: Nouns) {
  return {
    listNotifications: listOf(
      links,
      ({ caller, query }) => notifications.list(caller, query),
      toNotificationView,
    ),
    countNotifications: async ({ caller }) =>
      json(200, { unread: await notifications.countUnread(caller) }),
    readNotifications: done(({ caller, body }) => notifications.markRead(caller, body.ids)),
    getNotificationSettings: async ({ caller }) =>
      json(200, { muted: await notifications.listMuted(caller) }),
    putNotificationSettings: async ({ caller, body }) =>
      json(200, { muted: await notifications.mute(caller, body.muted) }),
  } satisfies Partial<Handlers>
}

const toNotificationView = createView(notification, (_it: Notification) => ({}))
