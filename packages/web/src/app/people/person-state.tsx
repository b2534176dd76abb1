import type { Item } from "@hamlet/contract/client"

/** Whether a user may sign in and run vals. */
export function PersonBadge({ account }: { account: Item<"listUsers"> }) {
  if (account.deletedAt !== null) return <span class="badge status status-cancelled">Deleted</span>
  if (account.suspendedAt !== null) return <span class="badge status status-failed">Suspended</span>
  return <span class="badge status status-succeeded">Active</span>
}
