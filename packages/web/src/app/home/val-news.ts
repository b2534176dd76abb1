import { api } from "../api.ts"
import { usePages } from "../data/pages.ts"
import { usePoll } from "../data/poll.ts"
import { useResource } from "../data/resource.ts"
import type { ValNews } from "./my-vals.tsx"

const limits = { activityMs: 5_000, schedulesMs: 30_000, rowsMax: 100, dayMs: 86_400_000 }

/** What has happened since yesterday. Three small requests for all vals together. */
export function useValNews(): ValNews {
  const activity = useResource("activity", (signal) =>
    api.listMyActivity({ hours: 24, buckets: 24 }, { signal }),
  )
  const schedules = usePages("listMySchedules", {}, limits.rowsMax)
  const comments = useResource("comments", (signal) => {
    const since = new Date(Date.now() - limits.dayMs).toISOString()
    return api.listMyComments(
      { relationship: "received", since, limit: limits.rowsMax },
      { signal },
    )
  })
  usePoll(limits.activityMs, activity.reload)
  usePoll(limits.schedulesMs, () => {
    comments.reload()
    return schedules.refresh()
  })
  return {
    activity: toMap(activity.state, ({ data }) => data.map((row) => [row.valId, row])),
    schedules: toMap(schedules.state, ({ items }) => items.map((row) => [row.val.id, row])),
    comments:
      comments.state.kind === "ready"
        ? countBy(comments.state.data.data.map(({ val }) => val.id))
        : undefined,
  }
}

type State<Data> = { readonly kind: string; readonly data?: Data }

function toMap<Data, Row>(
  { kind, data }: State<Data>,
  toEntries: (data: Data) => readonly (readonly [string, Row])[],
): ReadonlyMap<string, Row> | undefined {
  return kind === "ready" && data !== undefined ? new Map(toEntries(data)) : undefined
}

function countBy(ids: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1)
  return counts
}
