import type { Output } from "@hamlet/contract/client"
import type { ComponentChildren } from "preact"
import { Bars } from "../../../ui/page-states.tsx"
import { toDuration } from "../../../ui/units.ts"
import { api } from "../../api.ts"
import { Loaded } from "../../data/loaded.tsx"
import { usePoll } from "../../data/poll.ts"
import { useResource } from "../../data/resource.ts"
import { toMoment } from "../../parts/time.ts"

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
  usePoll(limits.pollMs, stats.poll)
  return (
    <section class="stats" aria-label="Runs over time">
      <Loaded of={stats} skeleton={<Bars count={4} />}>
        {(data) => (
          <>
            <Counts stats={data} />
            <Durations stats={data} />
            {data.isPartial ? (
              <p class="quiet">There are more runs: only the newest are counted here.</p>
            ) : null}
          </>
        )}
      </Loaded>
    </section>
  )
}

function Counts({ stats: { buckets, total } }: { stats: Stats }) {
  const most = Math.max(1, ...buckets.map(({ runs }) => runs))
  return (
    <Chart
      caption={
        <>
          <strong>{total.runs.toLocaleString("en")}</strong> runs,{" "}
          <strong class={total.errors > 0 ? "bad" : ""}>{total.errors.toLocaleString("en")}</strong>{" "}
          failed
        </>
      }
      label={`${total.runs} runs, ${total.errors} failed`}
      bars={buckets.map(({ at, runs, errors }) => ({
        at,
        title: `${toMoment(at)}: ${runs} runs, ${errors} failed`,
        parts: [
          { kind: "spark-bar", height: (runs / most) * size.height },
          { kind: "spark-error", height: (errors / most) * size.height },
        ],
      }))}
    />
  )
}

function Durations({ stats: { buckets, total } }: { stats: Stats }) {
  const most = Math.max(1, ...buckets.map(({ p95Ms }) => p95Ms ?? 0))
  // The shortest duration stays visible beside the longest.
  const toHeight = (ms: number | null) => (ms === null ? 0 : Math.max(2, (ms / most) * size.height))
  const describe = (p50Ms: number | null, p95Ms: number | null) =>
    `Median ${toDuration(p50Ms)}, 95th percentile ${toDuration(p95Ms)}`
  return (
    <Chart
      caption={
        <>
          <span class="chart-key chart-p50" /> Median <strong>{toDuration(total.p50Ms)}</strong>,{" "}
          <span class="chart-key chart-p95" /> 95th percentile{" "}
          <strong>{toDuration(total.p95Ms)}</strong>
        </>
      }
      label={`${describe(total.p50Ms, total.p95Ms)}, at most ${toDuration(most)}`}
      bars={buckets.map(({ at, p50Ms, p95Ms }) => ({
        at,
        title: `${toMoment(at)}: ${describe(p50Ms, p95Ms)}`,
        parts: [
          { kind: "chart-p95", height: toHeight(p95Ms) },
          { kind: "chart-p50", height: toHeight(p50Ms) },
        ],
      }))}
    />
  )
}

interface ChartBar {
  readonly at: string
  readonly title: string
  /** Drawn over each other, from the bottom. */
  readonly parts: readonly { readonly kind: string; readonly height: number }[]
}

/** A bar for each period of time, up to now. */
function Chart(props: {
  readonly caption: ComponentChildren
  readonly label: string
  readonly bars: readonly ChartBar[]
}) {
  const { caption, label, bars } = props
  const width = size.width / bars.length
  const [first] = bars
  return (
    <figure class="chart">
      <figcaption>{caption}</figcaption>
      <svg
        viewBox={`0 0 ${size.width} ${size.height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
      >
        {bars.map(({ at, title, parts }, index) => (
          <g key={at}>
            <title>{title}</title>
            <rect class="chart-space" x={index * width} y="0" width={width} height={size.height} />
            {parts.map(({ kind, height }) => (
              <rect
                key={kind}
                class={kind}
                x={index * width + 0.5}
                y={size.height - height}
                width={width - 1}
                height={height}
              />
            ))}
          </g>
        ))}
      </svg>
      {first ? (
        <div class="chart-axis">
          <span>{toMoment(first.at)}</span>
          <span>now</span>
        </div>
      ) : null}
    </figure>
  )
}
