import type { Item } from "@hamlet/contract/client"
import { toDuration } from "../../ui/units.ts"
import { StatusBadge } from "../parts/badges.tsx"
import { DataTable } from "../parts/data-table.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import { currentUser } from "../session/session.ts"

/** The sources of runs, as users read them. */
export const sourceNames = {
  ui: "This app",
  api: "API",
  http: "Web",
  interval: "Schedule",
  email: "Email",
} as const

/** Whether a run belongs to a val: an ad-hoc run of code has the version 0. */
export function isOfVal({ val }: { readonly val: { readonly version: number } }): boolean {
  return val.version > 0
}

/** Runs, the newest first. */
export function RunsTable(props: { runs: readonly Item<"listMyRuns">[]; hasVal: boolean }) {
  const { runs, hasVal } = props
  return (
    <DataTable
      columns={{
        Status: "",
        [hasVal ? "Val" : "Run"]: "",
        Version: "only-wide",
        Source: "only-wide",
        Took: "only-wide table-number",
        Started: "table-number",
      }}
    >
      {runs.map((run) => (
        <tr key={run.id}>
          <td>
            <StatusBadge status={run.status} />
          </td>
          <td class="table-wide">
            <a class="table-name row-link" href={`/runs/${run.id}`}>
              {hasVal ? toName(run.val) : run.id.slice(-8)}
            </a>
            {run.error ? (
              <span class="run-reason">{`${run.error.name}: ${run.error.message}`}</span>
            ) : null}
          </td>
          <td class="only-wide quiet">{isOfVal(run) ? `v${run.val.version}` : null}</td>
          <td class="only-wide quiet">{sourceNames[run.source]}</td>
          <td class="only-wide table-number quiet">{toDuration(run.durationMs)}</td>
          <td class="table-number quiet">
            <TimeAgo at={run.runStartAt} />
          </td>
        </tr>
      ))}
    </DataTable>
  )
}

/** The user's own vals are shown without the username. */
function toName({ username, name }: Item<"listMyRuns">["val"]): string {
  return currentUser()?.username === username ? name : `${username}/${name}`
}
