import type { Output } from "@hamlet/contract/client"
import { api } from "../api.ts"
import { Bars, Loaded } from "../data/page-states.tsx"
import { usePoll } from "../data/poll.ts"
import { useResource } from "../data/resource.ts"
import { toDuration, toMoment } from "../parts/time.ts"

type Stats = Output<"getMyStats">

const limits = { buckets: 48, pollMs: 5_000 }
const size = { width: 480, height: 96 }

/** Runs, failures and durations over time, of the account or of one val. */
export function RunStats({ valId, since }: { valId?: string; since: string }) {
  const input = { since, buckets: limits.buckets }
  const stats = useResource(
    `${valId} ${since}`,
    (signal) =>
      valId === undefined
        ? api.getMyStats(input, { signal })
        : api.getValStats({ val_id: valId, ...input }, { signal }),
    { keepsPrevious: true },
  )
  usePoll(limits.pollMs, stats.reload)
  return (
    <section class="stats" aria-label="Runs over time">
      <Loaded of={stats.state} onRetry={stats.reload} skeleton={<Bars count={4} />}>
        {(data) => (
          <>
            <Counts stats={data} />
            <Durations stats={data} />
            {data.isPartial ? (
              <p class="quiet">
                There are more runs than are counted here: these are the newest of them.
              </p>
            ) : null}
          </>
        )}
      </Loaded>
    </section>
  )
}

function Counts({ stats: { buckets, total } }: { stats: Stats }) {
  const most = Math.max(1, ...buckets.map(({ runs }) => runs))
  const width = size.width / buckets.length
  return (
    <figure class="chart">
      <figcaption>
        <strong>{total.runs.toLocaleString("en")}</strong> runs,{" "}
        <strong class={total.errors > 0 ? "bad" : ""}>{total.errors.toLocaleString("en")}</strong>{" "}
        failed
      </figcaption>
      <svg
        viewBox={`0 0 ${size.width} ${size.height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${total.runs} runs, ${total.errors} failed`}
      >
        {buckets.map(({ at, runs, errors }, index) => {
          const height = (runs / most) * size.height
          const failed = (errors / most) * size.height
          return (
            <g key={at}>
              <title>{`${toMoment(at)}: ${runs} runs, ${errors} failed`}</title>
              <rect
                class="chart-space"
                x={index * width}
                y="0"
                width={width}
                height={size.height}
              />
              <rect
                class="spark-bar"
                x={index * width + 0.5}
                y={size.height - height}
                width={width - 1}
                height={height - failed}
              />
              <rect
                class="spark-error"
                x={index * width + 0.5}
                y={size.height - failed}
                width={width - 1}
                height={failed}
              />
            </g>
          )
        })}
      </svg>
      <Axis buckets={buckets} />
    </figure>
  )
}

function Durations({ stats: { buckets, total } }: { stats: Stats }) {
  const most = Math.max(1, ...buckets.map(({ p95Ms }) => p95Ms ?? 0))
  const width = size.width / buckets.length
  // What is there can be seen, however short it was beside the longest.
  const toHeight = (ms: number | null) => (ms === null ? 0 : Math.max(2, (ms / most) * size.height))
  return (
    <figure class="chart">
      <figcaption>
        <span class="chart-key chart-p50" /> Half took less than{" "}
        <strong>{toDuration(total.p50Ms)}</strong>, <span class="chart-key chart-p95" /> 95% less
        than <strong>{toDuration(total.p95Ms)}</strong>
      </figcaption>
      <svg
        viewBox={`0 0 ${size.width} ${size.height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Median ${toDuration(total.p50Ms)}, 95th percentile ${toDuration(total.p95Ms)}, at most ${toDuration(most)}`}
      >
        {buckets.map(({ at, p50Ms, p95Ms }, index) => (
          <g key={at}>
            <title>{`${toMoment(at)}: half took less than ${toDuration(p50Ms)}, 95% less than ${toDuration(p95Ms)}`}</title>
            <rect class="chart-space" x={index * width} y="0" width={width} height={size.height} />
            <Bar
              kind="chart-p95"
              x={index * width + 0.5}
              width={width - 1}
              height={toHeight(p95Ms)}
            />
            <Bar
              kind="chart-p50"
              x={index * width + 0.5}
              width={width - 1}
              height={toHeight(p50Ms)}
            />
          </g>
        ))}
      </svg>
      <Axis buckets={buckets} />
    </figure>
  )
}

function Bar({
  kind,
  x,
  width,
  height,
}: {
  kind: string
  x: number
  width: number
  height: number
}) {
  return <rect class={kind} x={x} y={size.height - height} width={width} height={height} />
}

function Axis({ buckets }: { buckets: Stats["buckets"] }) {
  const [first] = buckets
  return first ? (
    <div class="chart-axis">
      <span>{toMoment(first.at)}</span>
      <span>now</span>
    </div>
  ) : null
}
