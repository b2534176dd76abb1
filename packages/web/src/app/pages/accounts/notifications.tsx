import type { Item, Output } from "@hamlet/contract/client"
import { useEffect } from "preact/hooks"
import { Check } from "../../../ui/check.tsx"
import { EmptyState } from "../../../ui/page-states.tsx"
import { api } from "../../api.ts"
import { Loaded, LoadedPages } from "../../data/loaded.tsx"
import { usePages } from "../../data/pages.ts"
import { useResource } from "../../data/resource.ts"
import { countUnread, unreadCount } from "../../frame/bell.tsx"
import { showError } from "../../frame/toast-list.ts"
import { Button } from "../../parts/buttons/button.tsx"
import { PageHead } from "../../parts/page-head.tsx"
import { Section } from "../../parts/section.tsx"
import { TimeAgo } from "../../parts/time-ago.tsx"
import { canChangeOwn } from "../../session/owners.ts"

type Notification = Item<"listNotifications">
type NotificationType = Notification["type"]

const labels: Readonly<Record<NotificationType, string>> = {
  comment: "Comments",
  like: "Likes",
  reference: "Imports of your vals",
  fork: "Forks",
  "schedule.failing": "Schedules that fail",
  "schedule.paused": "Schedules that were paused",
}

/** What happened to the user's vals. */
export function Page() {
  const notifications = usePages("listNotifications", {})
  const readAll = async () => {
    await api.readNotifications({})
    await countUnread()
    notifications.reload()
  }
  useEffect(() => void countUnread(), [])
  const mayChange = canChangeOwn()
  const end = mayChange ? (
    <Button kind="quiet" disabled={unreadCount.value === 0} action={readAll}>
      Mark all as read
    </Button>
  ) : null
  return (
    <>
      <PageHead title="Notifications" end={end} />
      <LoadedPages
        of={notifications}
        rows={4}
        empty={
          <EmptyState icon="bell" title="No notifications">
            <p>Comments, likes, imports and forks of your vals, and schedules that fail.</p>
          </EmptyState>
        }
      >
        {(items) => (
          <ul class="card">
            {items.map((it) => (
              <Row key={it.id} notification={it} />
            ))}
          </ul>
        )}
      </LoadedPages>
      {mayChange ? <Settings /> : null}
    </>
  )
}

function Row({ notification }: { notification: Notification }) {
  const { id, readAt, createdAt, comment } = notification
  const open = () => {
    if (readAt === null && canChangeOwn())
      void api.readNotifications({ ids: [id] }).then(countUnread, () => {})
  }
  return (
    <li class={`ruled breaks notification ${readAt === null ? "notification-unread" : ""}`}>
      <p>
        <a href={toHref(notification)} onClick={open}>
          {toText(notification)}
        </a>{" "}
        <span class="quiet">
          <TimeAgo at={createdAt} />
          {readAt === null ? ", unread" : ""}
        </span>
      </p>
      {comment ? <p class="quiet notification-comment">{comment.text}</p> : null}
    </li>
  )
}

function toText({ type, user, val, otherVal }: Notification): string {
  const who = user?.username ?? ""
  const other = `${otherVal?.author.username}/${otherVal?.name}`
  switch (type) {
    case "comment":
      return `${who} commented on ${val.name}`
    case "like":
      return `${who} likes ${val.name}`
    case "reference":
      return `${other} imports ${val.name}`
    case "fork":
      return `${who} forked ${val.name} as ${other}`
    case "schedule.failing":
      return `The schedule of ${val.name} fails`
    case "schedule.paused":
      return `The schedule of ${val.name} was paused, because it kept failing`
  }
}

function toHref({ type, val, otherVal }: Notification): string {
  const page = `/u/${val.author.username}/${val.name}`
  if (otherVal) return `/u/${otherVal.author.username}/${otherVal.name}`
  if (type === "comment") return `${page}/discussion`
  return type === "like" ? page : `${page}/schedule`
}

function Settings() {
  const settings = useResource("settings", (signal) => api.getNotificationSettings({}, { signal }))
  const toggle = async ({ muted }: Output<"getNotificationSettings">, type: NotificationType) => {
    const others = muted.filter((it) => it !== type)
    const changed = muted.includes(type) ? others : [...others, type]
    // At once: a box that changes back for a moment looks broken.
    settings.set({ muted: changed })
    try {
      await api.putNotificationSettings({ muted: changed })
    } catch (error) {
      settings.reload()
      showError(error)
    }
  }
  return (
    <Section title="Tell me about">
      <Loaded of={settings} skeleton={null}>
        {(current) => (
          <div class="notification-types">
            {(Object.keys(labels) as NotificationType[]).map((type) => (
              <Check
                key={type}
                checked={!current.muted.includes(type)}
                onChange={() => void toggle(current, type)}
              >
                {labels[type]}
              </Check>
            ))}
          </div>
        )}
      </Loaded>
    </Section>
  )
}
