import { signal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { Icon } from "../../ui/icon.tsx"
import { api } from "../api.ts"
import { usePoll } from "../data/poll.ts"

const pollMs = 60_000

/** How many notifications are unread. */
export const unreadCount = signal(0)

/** Counts again; a failure leaves the count as it was. */
export async function countUnread(): Promise<void> {
  try {
    unreadCount.value = (await api.countNotifications()).unread
  } catch {
    // The banner of the frame reports a lost server, and the next poll tries again.
  }
}

/** Leads to the notifications, and shows how many are unread. */
export function Bell() {
  useEffect(() => void countUnread(), [])
  usePoll(pollMs, countUnread)
  const { value } = unreadCount
  const label = value === 0 ? "Notifications" : `Notifications, ${value} unread`
  return (
    <a class="bell" href="/notifications" aria-label={label} title={label}>
      <Icon name="bell" />
      {value === 0 ? null : <span class="bell-count">{value > 99 ? "99+" : value}</span>}
    </a>
  )
}
