import { api } from "../api.ts"
import { MoreButton } from "../data/more-button.tsx"
import { Bars, EmptyState, Loaded } from "../data/page-states.tsx"
import { usePages } from "../data/pages.ts"
import { usePoll } from "../data/poll.ts"
import { useResource } from "../data/resource.ts"
import { place, setQuery } from "../frame/location.ts"
import { privacyChoices, typeChoices } from "../parts/badges.tsx"
import { Select } from "../parts/field.tsx"
import { SearchBox } from "../search/search-box.tsx"
import type { Me } from "../session/session.ts"
import { ExampleCards } from "./example-cards.tsx"
import { HomeAside } from "./home-aside.tsx"
import { MyVals } from "./my-vals.tsx"

const limits = { valsAtOnce: 100, pollMs: 5_000, queryCharsMax: 512 }

const sorts = [
  { value: "updated", label: "Last changed" },
  { value: "run", label: "Last run" },
  { value: "name", label: "Name" },
  { value: "created", label: "Newest" },
  { value: "likes", label: "Most liked" },
] as const

/**
 * One's own vals, with what happened to them lately. Filters are in the address, so that they can
 * be kept and shared.
 */
export function MyHome({ me }: { me: Me }) {
  const filter = readFilter(place.value.query)
  const vals = usePages("listMyVals", filter, limits.valsAtOnce)
  const activity = useResource("activity", (signal) =>
    api.listMyActivity({ hours: 24, buckets: 24 }, { signal }),
  )
  usePoll(limits.pollMs, activity.reload)
  const isFiltered =
    filter.query !== undefined || filter.privacy !== undefined || filter.type !== undefined
  return (
    <div class="home">
      <section class="home-main" aria-labelledby="vals-title">
        <div class="page-head">
          <h1 id="vals-title">Your vals</h1>
        </div>
        {isFiltered || vals.state.kind !== "ready" || vals.state.data.items.length > 0 ? (
          <Filters />
        ) : null}
        <Loaded of={vals.state} onRetry={vals.reload} skeleton={<Bars count={8} kind="row" />}>
          {({ items }) =>
            items.length > 0 ? (
              <MyVals
                vals={items}
                activity={activity.state.kind === "ready" ? activity.state.data : undefined}
              />
            ) : isFiltered ? (
              <EmptyState icon="search" title="None of your vals is like that">
                <button
                  type="button"
                  class="button button-quiet"
                  onClick={() => setQuery({ q: undefined, privacy: undefined, type: undefined })}
                >
                  Show all of them
                </button>
              </EmptyState>
            ) : (
              <FirstSteps name={me.username} />
            )
          }
        </Loaded>
        <MoreButton list={vals} />
      </section>
      <HomeAside />
    </div>
  )
}

function FirstSteps({ name }: { name: string }) {
  return (
    <div class="first-steps">
      <h2>Welcome, {name}</h2>
      <p>A val is a small program with a name. Begin with one that works; change it as you like.</p>
      <ExampleCards />
    </div>
  )
}

function Filters() {
  const { query } = place.value
  const anything = { value: "" as const, label: "Any" }
  return (
    <search class="toolbar">
      <SearchBox
        label="Filter by name"
        value={query.get("q") ?? ""}
        onChange={(q) => setQuery({ q })}
      />
      <Select
        label="Privacy"
        isLabelHidden
        value={query.get("privacy") ?? ""}
        choices={[{ ...anything, label: "Any privacy" }, ...privacyChoices]}
        onChange={(privacy) => setQuery({ privacy })}
      />
      <Select
        label="Type"
        isLabelHidden
        value={query.get("type") ?? ""}
        choices={[{ ...anything, label: "Any type" }, ...typeChoices]}
        onChange={(type) => setQuery({ type })}
      />
      <Select
        label="Order"
        isLabelHidden
        value={query.get("sort") ?? "updated"}
        choices={[...sorts]}
        onChange={(sort) => setQuery({ sort: sort === "updated" ? undefined : sort })}
      />
    </search>
  )
}

/** What an address can say is not to be trusted: anything else than what there is means nothing. */
function readFilter(query: URLSearchParams) {
  const privacy = privacyChoices.find(({ value }) => value === query.get("privacy"))?.value
  const type = typeChoices.find(({ value }) => value === query.get("type"))?.value
  const sort = sorts.find(({ value }) => value === query.get("sort"))?.value ?? "updated"
  const text = (query.get("q") ?? "").slice(0, limits.queryCharsMax)
  return {
    sort,
    ...(text === "" ? {} : { query: text }),
    ...(privacy ? { privacy } : {}),
    ...(type ? { type } : {}),
  }
}
