import { useSignal } from "@preact/signals"
import { Icon } from "../../../ui/icon.tsx"
import { EmptyState } from "../../../ui/page-states.tsx"
import { LoadedPages } from "../../data/loaded.tsx"
import { usePages } from "../../data/pages.ts"
import { usePoll } from "../../data/poll.ts"
import { currentLocation, setQuery } from "../../frame/location.ts"
import { Button } from "../../parts/buttons/button.tsx"
import { QuerySelect, readChoice } from "../../parts/forms/query-choice.tsx"
import { SearchBox } from "../../search/search-box.tsx"
import {
  isFiltered,
  readRunFilter,
  sourceChoices,
  statusChoices,
  textCharsMax,
  withoutFilters,
} from "./run-filter.ts"
import { RunRows } from "./run-rows.tsx"
import { RunStats } from "./run-stats.tsx"
import { useChosenVal, ValFilter } from "./val-filter.tsx"

const limits = { runsAtOnce: 50, pollMs: 2_000 }

/** No val has this id. */
const noVal = "00000000-0000-0000-0000-000000000000"

const periods = [
  { value: "", label: "Last 24 hours", hours: 24 },
  { value: "1h", label: "Last hour", hours: 1 },
  { value: "7d", label: "Last 7 days", hours: 168 },
  { value: "30d", label: "Last 30 days", hours: 720 },
  { value: "all", label: "All", hours: 720 },
] as const

interface RunsViewProps {
  /** Without one, the runs of the account. */
  readonly valId?: string
  readonly isOwn?: boolean
  /** Where the logs of these runs are shown live. */
  readonly liveHref?: string | undefined
}

/** The runs of the account or of one val, with charts. New runs appear by themselves. */
export function RunsView({ valId, isOwn, liveHref }: RunsViewProps) {
  const { query } = currentLocation.value
  const period = readChoice("period", periods)
  const since = useSince(period.value, period.hours)
  const filter = readRunFilter(query, period.value === "all" ? undefined : since)
  const name = query.get("val")
  const { vals, chosen } = useChosenVal(name, valId === undefined)
  const list =
    valId === undefined
      ? usePages("listMyRuns", toMyFilter(filter, name, chosen?.id), limits.runsAtOnce)
      : usePages("listValRuns", { val_id: valId, ...filter }, limits.runsAtOnce)
  usePoll(limits.pollMs, list.poll)
  const statsValId = valId ?? chosen?.id
  return (
    <>
      <RunStats {...(statsValId === undefined ? {} : { valId: statsValId })} since={since} />
      <search class="row wrap toolbar">
        {valId === undefined ? <ValFilter vals={vals} name={name} /> : null}
        <SearchBox
          label="Search the runs"
          placeholder="Address, error or last line"
          charsMax={textCharsMax}
          value={query.get("text") ?? ""}
          onChange={(text) => setQuery({ text })}
        />
        <QuerySelect name="status" label="Status" choices={statusChoices} />
        <QuerySelect name="source" label="Source" choices={sourceChoices} />
        <QuerySelect name="period" label="Period" choices={periods} />
        {liveHref === undefined ? null : (
          <a class="button button-quiet button-small push" href={liveHref}>
            <Icon name="logs" /> Live logs
          </a>
        )}
      </search>
      <LoadedPages
        of={list}
        rows={8}
        empty={
          isFiltered(query) ? (
            <NoMatches title="No run matches" />
          ) : (
            <NoRuns isOfOther={valId !== undefined && isOwn === false} />
          )
        }
        // A page looks at a limited number of runs.
        emptySoFar={<NoMatches title="None of the latest runs matches" />}
        moreLabel={isFiltered(query) ? "Search older runs" : "Show more"}
      >
        {(items) => (
          <RunRows runs={items} hasVal={valId === undefined} onChange={() => void list.poll()} />
        )}
      </LoadedPages>
    </>
  )
}

function NoMatches({ title }: { readonly title: string }) {
  return (
    <EmptyState icon="search" title={title}>
      <Button kind="quiet" onClick={() => setQuery(withoutFilters)}>
        Clear the filters
      </Button>
    </EmptyState>
  )
}

function NoRuns({ isOfOther }: { readonly isOfOther: boolean }) {
  return (
    <EmptyState icon="runs" title="No runs in this period">
      <p>
        {isOfOther
          ? "Here you see the runs that you started yourself."
          : "Each run of a val and each request to its web address is recorded with its logs."}
      </p>
    </EmptyState>
  )
}

/** A val that is missing, or not loaded yet, has no runs. */
function toMyFilter(
  filter: ReturnType<typeof readRunFilter>,
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
