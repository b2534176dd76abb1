import type { Item, Output } from "@hamlet/contract/client"
import { Icon } from "../../ui/icon.tsx"
import { AddressText } from "../parts/address-text.tsx"
import { PrivacyBadge, StatusBadge, TypeBadge } from "../parts/badges.tsx"
import { DataTable } from "../parts/lists/data-table.tsx"
import { ValPicture } from "../parts/lists/val-picture.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"

type Val = Item<"listMyVals">
type Activity = Output<"listMyActivity">["data"][number]
type Schedule = Item<"listMySchedules">

/** What has happened around the user's vals, by val. Undefined while it loads. */
export interface ValNews {
  readonly activity: ReadonlyMap<string, Activity> | undefined
  readonly schedules: ReadonlyMap<string, Schedule> | undefined
  /** Whether a val that is not among them has none: there may be more than are fetched. */
  readonly hasAllSchedules: boolean
  /** Comments by others since yesterday. */
  readonly comments: ReadonlyMap<string, number> | undefined
}

/** The user's vals as a table: what each is, and what it did. */
export function MyVals({ vals, news }: { vals: readonly Val[]; news: ValNews }) {
  return (
    <DataTable
      rows={vals}
      columns={[
        ["Val", "table-wide", (val) => <NameAndPlace val={val} news={news} />],
        [
          "Type",
          "only-wide",
          ({ type, privacy }) => (
            <span class="my-val-kind">
              <TypeBadge type={type} />
              <PrivacyBadge privacy={privacy} />
            </span>
          ),
        ],
        [
          "Last run",
          "nowrap",
          ({ id, runStartAt }) => (
            <LastRun activity={news.activity?.get(id)} runStartAt={runStartAt} />
          ),
        ],
        [
          "Last 24 hours",
          "only-wide",
          (val) => (
            <a class="row spark-link" href={`${toPage(val)}/runs`}>
              <Runs activity={news.activity?.get(val.id)} />
            </a>
          ),
        ],
        ["Changed", "only-wide table-number quiet", ({ updatedAt }) => <TimeAgo at={updatedAt} />],
      ]}
    />
  )
}

function toPage({ author, name }: Val): string {
  return `/u/${author.username}/${name}`
}

function NameAndPlace({ val, news }: { val: Val; news: ValNews }) {
  const path = toPage(val)
  return (
    <>
      <span class="row my-val-name">
        <ValPicture url={val.imageUrl} />
        <a class="table-name row-link ellipsis" href={path}>
          {val.name}
        </a>
        <Facts val={val} path={path} comments={news.comments?.get(val.id) ?? 0} />
      </span>
      <Place val={val} news={news} path={path} />
    </>
  )
}

/** Likes and new comments, where there are any. */
function Facts(props: { readonly val: Val; readonly path: string; readonly comments: number }) {
  const { val, path, comments } = props
  return (
    <>
      {val.likeCount > 0 ? (
        <span class="tiny fact" title="Likes">
          <Icon name="heart" /> <span>{val.likeCount}</span>
          <span class="visually-hidden"> likes</span>
        </span>
      ) : null}
      {comments > 0 ? (
        <a class="tiny fact fact-new" href={`${path}/discussion`}>
          <Icon name="comment" /> {comments} new
          <span class="visually-hidden"> comments since yesterday</span>
        </a>
      ) : null}
    </>
  )
}

/** Where the val is reached: its web address, its mail address, or its next time. */
function Place(props: { readonly val: Val; readonly news: ValNews; readonly path: string }) {
  const { val, news, path } = props
  const { endpoint } = val.links
  const schedule = news.schedules?.get(val.id)
  if (endpoint !== undefined)
    return (
      <a class="my-val-place" href={endpoint} target="_blank" rel="noreferrer">
        <Host name={new URL(endpoint).host} />
      </a>
    )
  if (val.emailAddress !== undefined)
    return (
      <span class="my-val-place">
        <AddressText text={val.emailAddress} />
      </span>
    )
  if (val.type !== "interval") return null
  // Its line is kept while the schedules load.
  if (!(schedule || news.hasAllSchedules))
    return <span class="my-val-place my-val-time">&nbsp;</span>
  const [next] = schedule?.nextAt ?? []
  return (
    <a class="my-val-place my-val-time" href={`${path}/schedule`}>
      {!schedule ? (
        <span class="my-val-none">No schedule</span>
      ) : next === undefined ? (
        "Paused"
      ) : (
        <>
          Next run <TimeAgo at={next} />
        </>
      )}
    </a>
  )
}

/** A host name. It does not wrap in its end: half a port is another address. */
function Host({ name }: { name: string }) {
  const end = name.lastIndexOf(".") + 1
  return (
    <>
      <AddressText text={name.slice(0, end)} />
      {end === 0 ? null : <wbr />}
      <span class="nowrap">{name.slice(end)}</span>
    </>
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
        <span class="bad tiny">
          {failed} {failed === 1 ? "error" : "errors"}
        </span>
      ) : null}
    </>
  )
}

/** How the last run of a val ended: success is quiet, failure is not. */
function LastRun(props: {
  readonly activity: Activity | undefined
  readonly runStartAt: string | null
}) {
  const { activity, runStartAt } = props
  if (!activity)
    return runStartAt === null ? (
      <span class="quiet">Never</span>
    ) : (
      <TimeAgo at={runStartAt} class="quiet" />
    )
  const { lastRequest: request, lastStatus, lastRunId, lastRunAt } = activity
  return (
    <a class="row last-run" href={`/runs/${lastRunId}`}>
      {request?.status != null && lastStatus === "succeeded" ? (
        <span class={request.status < 400 ? "last-ok" : "last-bad"}>{request.status}</span>
      ) : lastStatus === "succeeded" ? (
        <span class="last-ok">OK</span>
      ) : (
        <StatusBadge status={lastStatus} />
      )}
      {request ? (
        <code class="ellipsis tiny last-request" title={`${request.method} ${request.url}`}>
          {request.method} {toPath(request.url)}
        </code>
      ) : null}
      <TimeAgo at={lastRunAt} class="quiet" />
    </a>
  )
}

function toPath(url: string): string {
  return URL.canParse(url) ? new URL(url).pathname : url
}

const size = { width: 96, height: 24, gap: 1 }

/** Runs as small bars, with failures in red at the bottom. The label says the same in words. */
function SparkLine(props: {
  readonly runs: readonly number[]
  readonly errors: readonly number[]
  readonly label: string
}) {
  const { runs, errors, label } = props
  const most = Math.max(1, ...runs)
  const step = size.width / Math.max(1, runs.length)
  const toHeight = (count: number) => (count === 0 ? 0 : Math.max(2, (count / most) * size.height))
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${size.width} ${size.height}`}
      width={size.width}
      height={size.height}
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      <line
        class="spark-ground"
        x1="0"
        x2={size.width}
        y1={size.height - 0.5}
        y2={size.height - 0.5}
      />
      {runs.map((count, index) => {
        const height = toHeight(count)
        const failed = Math.min(height, toHeight(errors[index] ?? 0))
        const x = index * step
        const width = Math.max(1, step - size.gap)
        return count === 0 ? null : (
          <g key={index}>
            <rect
              class="spark-bar"
              x={x}
              width={width}
              y={size.height - height}
              height={height - failed}
            />
            <rect
              class="spark-error"
              x={x}
              width={width}
              y={size.height - failed}
              height={failed}
            />
          </g>
        )
      })}
    </svg>
  )
}
