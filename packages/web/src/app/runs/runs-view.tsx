import { useSignal } from "@preact/signals"
import { MoreButton } from "../data/more-button.tsx"
import { Bars, EmptyState, Loaded } from "../data/page-states.tsx"
import { usePages } from "../data/pages.ts"
import { usePoll } from "../data/poll.ts"
import { place, setQuery } from "../frame/location.ts"
import { Select } from "../parts/field.tsx"
import { RunStats } from "./run-stats.tsx"
import { RunsTable } from "./runs-table.tsx"
import { useChosenVal, ValFilter } from "./val-filter.tsx"

const limits = { runsAtOnce: 50, pollMs: 2_000 }

/** An id that no val has. */
const noVal = "00000000-0000-0000-0000-000000000000"

const outcomes = [
  { value: "", label: "Any outcome" },
  { value: "failed", label: "Failed" },
  { value: "succeeded", label: "Succeeded" },
] as const

const sources = [
  { value: "", label: "Any source" },
  { value: "http", label: "Web address" },
  { value: "api", label: "API" },
  { value: "ui", label: "This app" },
  { value: "interval", label: "Schedule" },
  { value: "email", label: "Email" },
] as const

const periods = [
  { value: "", label: "Last 24 hours", hours: 24 },
  { value: "1h", label: "Last hour", hours: 1 },
  { value: "7d", label: "Last 7 days", hours: 168 },
  { value: "30d", label: "Last 30 days", hours: 720 },
  { value: "all", label: "All there are", hours: 720 },
] as const

/**
 * Runs of the account, or of one val: counted over time and one by one. New ones appear by
 * themselves.
 */
export function RunsView({ valId, isOwn }: { valId?: string; isOwn?: boolean }) {
  const { query } = place.value
  const period = periods.find(({ value }) => value === query.get("period")) ?? periods[0]
  const since = useSince(period.value, period.hours)
  const filter = toFilter(query, period.value === "all" ? undefined : since)
  const name = query.get("val")
  const { vals, chosen } = useChosenVal(name, valId === undefined)
  const list =
    valId === undefined
      ? usePages("listMyRuns", toMyFilter(filter, name, chosen?.id), limits.runsAtOnce)
      : usePages("listValRuns", { val_id: valId, ...filter }, limits.runsAtOnce)
  usePoll(limits.pollMs, list.refresh)
  const isFiltered = ["outcome", "source", "val"].some((field) => query.has(field))
  const statsValId = valId ?? chosen?.id
  return (
    <>
      <RunStats {...(statsValId === undefined ? {} : { valId: statsValId })} since={since} />
      <div class="toolbar">
        {valId === undefined ? <ValFilter vals={vals} name={name} /> : null}
        <Select
          label="Outcome"
          isLabelHidden
          value={query.get("outcome") ?? ""}
          choices={[...outcomes]}
          onChange={(outcome) => setQuery({ outcome })}
        />
        <Select
          label="Source"
          isLabelHidden
          value={query.get("source") ?? ""}
          choices={[...sources]}
          onChange={(source) => setQuery({ source })}
        />
        <Select
          label="Period"
          isLabelHidden
          value={period.value}
          choices={[...periods]}
          onChange={(period) => setQuery({ period })}
        />
        <span class="quiet live">
          <span class="live-dot" /> live
        </span>
      </div>
      <Loaded of={list.state} onRetry={list.reload} skeleton={<Bars count={8} kind="row" />}>
        {({ items }) =>
          items.length > 0 ? (
            <RunsTable runs={items} hasVal={valId === undefined} />
          ) : (
            <EmptyState
              icon="play"
              title={isFiltered ? "No run is like that" : "No runs in this time"}
            >
              <p>
                {valId !== undefined && isOwn === false
                  ? "You see the runs here that you have started yourself."
                  : "Each time a val is run or its web address is asked, a run is recorded with its logs."}
              </p>
            </EmptyState>
          )
        }
      </Loaded>
      <MoreButton list={list} />
    </>
  )
}

function toFilter(query: URLSearchParams, since: string | undefined) {
  const outcome = query.get("outcome")
  const source = sources.find(({ value }) => value !== "" && value === query.get("source"))?.value
  return {
    ...(outcome === "failed" ? { error: true } : outcome === "succeeded" ? { error: false } : {}),
    ...(source ? { source } : {}),
    ...(since === undefined ? {} : { since }),
  }
}

/** Of a val that is not there, or not known yet, there are no runs. */
function toMyFilter(
  filter: ReturnType<typeof toFilter>,
  name: string | null,
  valId: string | undefined,
) {
  if (name === null) return filter
  return valId === undefined ? { ...filter, val_id: noVal } : { ...filter, val_id: valId }
}

/**
 * The beginning of a period stays while the period does: with every moment it would be another
 * question.
 */
function useSince(name: string, hours: number): string {
  const known = useSignal({ name: "", since: "" })
  if (known.peek().name !== `${name}!`)
    known.value = {
      name: `${name}!`,
      since: new Date(Date.now() - hours * 3_600_000).toISOString(),
    }
  return known.peek().since
}
