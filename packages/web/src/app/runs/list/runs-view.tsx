import { useSignal } from "@preact/signals"
import { EmptyState } from "../../../ui/page-states.tsx"
import { LoadedPages } from "../../data/loaded.tsx"
import { usePages } from "../../data/pages.ts"
import { usePoll } from "../../data/poll.ts"
import { currentLocation, setQuery } from "../../frame/location.ts"
import { Select } from "../../parts/field.tsx"
import { RunRows } from "./run-rows.tsx"
import { RunStats } from "./run-stats.tsx"
import { useChosenVal, ValFilter } from "./val-filter.tsx"

const limits = { runsAtOnce: 50, pollMs: 2_000 }

/** No val has this id. */
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
  { value: "all", label: "All", hours: 720 },
] as const

/** The runs of the account or of one val, with charts. New runs appear by themselves. */
export function RunsView({ valId, isOwn }: { valId?: string; isOwn?: boolean }) {
  const { query } = currentLocation.value
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
          choices={outcomes}
          onChange={(outcome) => setQuery({ outcome })}
        />
        <Select
          label="Source"
          isLabelHidden
          value={query.get("source") ?? ""}
          choices={sources}
          onChange={(source) => setQuery({ source })}
        />
        <Select
          label="Period"
          isLabelHidden
          value={period.value}
          choices={periods}
          onChange={(period) => setQuery({ period })}
        />
        <span class="quiet live">
          <span class="live-dot" /> live
        </span>
      </div>
      <LoadedPages
        of={list}
        rows={8}
        empty={
          <EmptyState icon="runs" title={isFiltered ? "No run matches" : "No runs in this period"}>
            <p>
              {valId !== undefined && isOwn === false
                ? "Here you see the runs that you started yourself."
                : "Each run of a val and each request to its web address is recorded with its logs."}
            </p>
          </EmptyState>
        }
      >
        {(items) => (
          <RunRows runs={items} hasVal={valId === undefined} onChange={() => void list.refresh()} />
        )}
      </LoadedPages>
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

/** A val that is missing, or not loaded yet, has no runs. */
function toMyFilter(
  filter: ReturnType<typeof toFilter>,
  name: string | null,
  valId: string | undefined,
) {
  if (name === null) return filter
  return valId === undefined ? { ...filter, val_id: noVal } : { ...filter, val_id: valId }
}

/** The start of a period. It is fixed while the period is chosen: otherwise each render fetches. */
function useSince(name: string, hours: number): string {
  const chosen = useSignal({ name: "", since: "" })
  if (chosen.peek().name !== `${name}!`)
    chosen.value = {
      name: `${name}!`,
      since: new Date(Date.now() - hours * 3_600_000).toISOString(),
    }
  return chosen.peek().since
}
