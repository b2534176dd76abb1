import type { Item } from "@hamlet/contract/client"
import { StatusBadge } from "../parts/badges.tsx"
import { toDuration } from "../parts/time.ts"
import { TimeAgo } from "../parts/time-ago.tsx"
import { whoIsHere } from "../session/session.ts"

/** What starts runs, in words. */
export const sourceNames = {
  ui: "This app",
  api: "API",
  http: "Web",
  interval: "Schedule",
  email: "Email",
} as const

/** Whether a run is one of a val: code that was run once is none, and has the version 0. */
export function isOfVal({ val }: { readonly val: { readonly version: number } }): boolean {
  return val.version > 0
}

/** Runs, the newest first. */
export function RunsTable({
  runs,
  hasVal,
}: {
  runs: readonly Item<"listMyRuns">[]
  hasVal: boolean
}) {
  return (
    <div class="card">
      <table class="table">
        <thead>
          <tr>
            <th>Status</th>
            <th>{hasVal ? "Val" : "Run"}</th>
            <th class="only-wide">Version</th>
            <th class="only-wide">Source</th>
            <th class="only-wide table-number">Took</th>
            <th class="table-number">Started</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={run.id}>
              <td>
                <StatusBadge status={run.status} />
              </td>
              <td class="table-wide">
                <a class="table-name" href={`/runs/${run.id}`}>
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
        </tbody>
      </table>
    </div>
  )
}

/** One's own vals go by their name alone. */
function toName({ username, name }: Item<"listMyRuns">["val"]): string {
  return whoIsHere()?.username === username ? name : `${username}/${name}`
}
