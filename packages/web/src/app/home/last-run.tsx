import type { Output } from "@hamlet/contract/client"
import { StatusBadge } from "../parts/badges.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"

type Activity = Output<"listMyActivity">["data"][number]

/** How the last run of a val ended: success is quiet, failure is not. */
export function LastRun(props: {
  readonly activity: Activity | undefined
  readonly runStartAt: string | null
}) {
  const { activity, runStartAt } = props
  if (!activity)
    return runStartAt === null ? (
      <span class="quiet">Never</span>
    ) : (
      <span class="quiet">
        <TimeAgo at={runStartAt} />
      </span>
    )
  const { lastRequest: request, lastStatus, lastRunId, lastRunAt } = activity
  return (
    <a class="last-run" href={`/runs/${lastRunId}`}>
      {request?.status != null && lastStatus === "succeeded" ? (
        <span class={request.status < 400 ? "last-ok" : "last-bad"}>{request.status}</span>
      ) : lastStatus === "succeeded" ? (
        <span class="last-ok">OK</span>
      ) : (
        <StatusBadge status={lastStatus} />
      )}
      {request ? (
        <code class="last-request" title={`${request.method} ${request.url}`}>
          {request.method} {toPath(request.url)}
        </code>
      ) : null}
      <span class="quiet">
        <TimeAgo at={lastRunAt} />
      </span>
    </a>
  )
}

function toPath(url: string): string {
  return URL.canParse(url) ? new URL(url).pathname : url
}
