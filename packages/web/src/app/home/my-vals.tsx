import type { Item, Output } from "@hamlet/contract/client"
import { Icon } from "../../ui/icon.tsx"
import { PrivacyBadge, TypeBadge } from "../parts/badges.tsx"
import { DataTable } from "../parts/data-table.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import { LastRun } from "./last-run.tsx"
import { SparkLine } from "./spark-line.tsx"

type Val = Item<"listMyVals">
type Activity = Output<"listMyActivity">["data"][number]
type Schedule = Item<"listMySchedules">

/** What has happened around the user's vals, by val. Undefined while it loads. */
export interface ValNews {
  readonly activity: ReadonlyMap<string, Activity> | undefined
  readonly schedules: ReadonlyMap<string, Schedule> | undefined
  /** Comments by others since yesterday. */
  readonly comments: ReadonlyMap<string, number> | undefined
}

/** The user's vals as a table: what each is, and what it did. */
export function MyVals({ vals, news }: { vals: readonly Val[]; news: ValNews }) {
  return (
    <DataTable
      columns={{
        Val: "",
        Type: "only-wide",
        "Last run": "",
        "Last 24 hours": "only-wide",
        Changed: "only-wide table-number",
      }}
    >
      {vals.map((val) => (
        <Row key={val.id} val={val} news={news} />
      ))}
    </DataTable>
  )
}

function Row({ val, news }: { val: Val; news: ValNews }) {
  const path = `/u/${val.author.username}/${val.name}`
  const activity = news.activity?.get(val.id)
  return (
    <tr>
      <td class="table-wide">
        <span class="my-val-name">
          <a class="table-name row-link" href={path}>
            {val.name}
          </a>
          <Facts val={val} path={path} comments={news.comments?.get(val.id) ?? 0} />
        </span>
        <Place val={val} schedule={news.schedules?.get(val.id)} path={path} />
      </td>
      <td class="only-wide">
        <span class="my-val-kind">
          <TypeBadge type={val.type} />
          <PrivacyBadge privacy={val.privacy} />
        </span>
      </td>
      <td class="my-val-last">
        <LastRun activity={activity} runStartAt={val.runStartAt} />
      </td>
      <td class="only-wide">
        <a class="spark-link" href={`${path}/runs`}>
          <Runs activity={activity} />
        </a>
      </td>
      <td class="only-wide table-number quiet">
        <TimeAgo at={val.updatedAt} />
      </td>
    </tr>
  )
}

/** Likes and new comments, where there are any. */
function Facts(props: { readonly val: Val; readonly path: string; readonly comments: number }) {
  const { val, path, comments } = props
  return (
    <>
      {val.likeCount > 0 ? (
        <span class="fact" title="Likes">
          <Icon name="heart" /> <span>{val.likeCount}</span>
          <span class="visually-hidden"> likes</span>
        </span>
      ) : null}
      {comments > 0 ? (
        <a class="fact fact-new" href={`${path}/discussion`}>
          <Icon name="comment" /> {comments} new
          <span class="visually-hidden"> comments since yesterday</span>
        </a>
      ) : null}
    </>
  )
}

/** Where the val is reached: its web address, its mail address, or its next time. */
function Place(props: {
  readonly val: Val
  readonly schedule: Schedule | undefined
  readonly path: string
}) {
  const { val, schedule, path } = props
  const { endpoint } = val.links
  if (endpoint !== undefined)
    return (
      <a class="my-val-place" href={endpoint} target="_blank" rel="noreferrer">
        {new URL(endpoint).host}
      </a>
    )
  if (val.emailAddress !== undefined) return <span class="my-val-place">{val.emailAddress}</span>
  if (val.type !== "interval" || !schedule) return null
  const [next] = schedule.nextAt
  return (
    <a class="my-val-place my-val-time" href={`${path}/schedule`}>
      {next === undefined ? (
        "Paused"
      ) : (
        <>
          Next run <TimeAgo at={next} />
        </>
      )}
    </a>
  )
}

function Runs({ activity }: { activity: Activity | undefined }) {
  const runs = activity?.runs ?? []
  const errors = activity?.errors ?? []
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)
  const failed = sum(errors)
  const label = runs.length === 0 ? "No runs" : `${sum(runs)} runs, ${failed} failed`
  return (
    <>
      <SparkLine runs={runs} errors={errors} label={label} />
      {failed > 0 ? (
        <span class="spark-failed">
          {failed} {failed === 1 ? "error" : "errors"}
        </span>
      ) : null}
    </>
  )
}
