import type { Item, Output } from "@hamlet/contract/client"
import { Icon } from "../../ui/icon.tsx"
import { PrivacyBadge, TypeBadge } from "../parts/badges.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import { SparkLine } from "./spark-line.tsx"

type Val = Item<"listMyVals">
type Activity = Output<"listMyActivity">

/** One's own vals as a table. */
export function MyVals({
  vals,
  activity,
}: {
  vals: readonly Val[]
  activity: Activity | undefined
}) {
  const byVal = new Map(activity?.data.map((row) => [row.valId, row]))
  return (
    <div class="card">
      <table class="table">
        <thead>
          <tr>
            <th>Name</th>
            <th>Type</th>
            <th>Privacy</th>
            <th class="only-wide">Runs, last 24 hours</th>
            <th class="only-wide table-number">Likes</th>
            <th class="table-number">Changed</th>
          </tr>
        </thead>
        <tbody>
          {vals.map((val) => (
            <Row key={val.id} val={val} activity={byVal.get(val.id)} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Row({ val, activity }: { val: Val; activity: Activity["data"][number] | undefined }) {
  return (
    <tr>
      <td class="table-wide">
        <a class="table-name" href={`/u/${val.author.username}/${val.name}`}>
          {val.name}
        </a>
      </td>
      <td>
        <TypeBadge type={val.type} />
      </td>
      <td>
        <PrivacyBadge privacy={val.privacy} />
      </td>
      <td class="only-wide">
        <a class="spark-link" href={`/u/${val.author.username}/${val.name}/runs`}>
          <Runs activity={activity} />
        </a>
      </td>
      <td class="only-wide table-number">
        {val.likeCount > 0 ? (
          <span class="fact">
            <Icon name="heart" /> {val.likeCount}
          </span>
        ) : null}
      </td>
      <td class="table-number quiet">
        <TimeAgo at={val.updatedAt} />
      </td>
    </tr>
  )
}

function Runs({ activity }: { activity: Activity["data"][number] | undefined }) {
  const runs = activity?.runs ?? []
  const errors = activity?.errors ?? []
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)
  const label = runs.length === 0 ? "No runs" : `${sum(runs)} runs, ${sum(errors)} failed`
  return <SparkLine runs={runs} errors={errors} label={label} />
}
