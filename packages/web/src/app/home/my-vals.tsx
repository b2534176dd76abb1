import type { Item, Output } from "@hamlet/contract/client"
import { Icon } from "../../ui/icon.tsx"
import { PrivacyBadge, TypeBadge } from "../parts/badges.tsx"
import { DataTable } from "../parts/data-table.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import { SparkLine } from "./spark-line.tsx"

type Val = Item<"listMyVals">
type Activity = Output<"listMyActivity">

/** The user's vals as a table. */
export function MyVals(props: { vals: readonly Val[]; activity: Activity | undefined }) {
  const byVal = new Map(props.activity?.data.map((row) => [row.valId, row]))
  return (
    <DataTable
      columns={{
        Name: "",
        Type: "",
        Privacy: "",
        "Runs, last 24 hours": "only-wide",
        Likes: "only-wide table-number",
        Changed: "table-number",
      }}
    >
      {props.vals.map((val) => (
        <Row key={val.id} val={val} activity={byVal.get(val.id)} />
      ))}
    </DataTable>
  )
}

function Row({ val, activity }: { val: Val; activity: Activity["data"][number] | undefined }) {
  return (
    <tr>
      <td class="table-wide">
        <a class="table-name row-link" href={`/u/${val.author.username}/${val.name}`}>
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
