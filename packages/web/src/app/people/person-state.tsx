import type { Item } from "@hamlet/contract/client"
import { Mark } from "../parts/badges.tsx"

/** Whether a user may sign in and run vals. */
export function PersonBadge({ account }: { account: Item<"listUsers"> }) {
  if (account.deletedAt !== null) return <Mark of={["Deleted", "cancelled"]} />
  if (account.suspendedAt !== null) return <Mark of={["Suspended", "failed"]} />
  return <Mark of={["Active", "succeeded"]} />
}
