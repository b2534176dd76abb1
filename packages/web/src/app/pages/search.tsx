import { MoreButton } from "../data/more-button.tsx"
import { Bars, EmptyState, Loaded } from "../data/page-states.tsx"
import { usePages } from "../data/pages.ts"
import { place, setQuery } from "../frame/location.ts"
import { useTitle } from "../frame/page-title.tsx"
import { ValList } from "../parts/val-list.tsx"
import { SearchBox } from "../search/search-box.tsx"
import { SearchHits } from "../search/search-hits.tsx"

const limits = { hitsAtOnce: 30, queryCharsMax: 512 }

/** Finds vals by name, code or readme; without a question it shows what is new. */
export function Page() {
  const query = (place.value.query.get("q") ?? "").slice(0, limits.queryCharsMax)
  useTitle(query === "" ? "Explore" : `“${query}”`)
  return (
    <>
      <div class="page-head">
        <h1>Explore</h1>
      </div>
      <search class="toolbar">
        <SearchBox
          label="A name, or a piece of code or of a readme"
          value={query}
          onChange={(q) => setQuery({ q })}
        />
      </search>
      {query.trim() === "" ? <Latest /> : <Hits query={query} />}
    </>
  )
}

function Latest() {
  const vals = usePages("listVals", { privacy: "public" }, limits.hitsAtOnce)
  return (
    <>
      <Loaded of={vals.state} onRetry={vals.reload} skeleton={<Bars count={8} kind="row" />}>
        {({ items }) =>
          items.length > 0 ? (
            <ValList vals={items} />
          ) : (
            <EmptyState icon="globe" title="Nothing is public yet">
              <p>Make a val public in its settings, and everybody on this server finds it here.</p>
            </EmptyState>
          )
        }
      </Loaded>
      <MoreButton list={vals} />
    </>
  )
}

function Hits({ query }: { query: string }) {
  const hits = usePages("searchVals", { query }, limits.hitsAtOnce)
  return (
    <>
      <Loaded of={hits.state} onRetry={hits.reload} skeleton={<Bars count={8} kind="row" />}>
        {({ items }) =>
          items.length > 0 ? (
            <SearchHits vals={items} query={query} />
          ) : (
            <EmptyState icon="search" title="Nothing has that in it">
              <p>
                Names, code and readmes of public vals and of your own are looked through, as they
                are written.
              </p>
            </EmptyState>
          )
        }
      </Loaded>
      <MoreButton list={hits} />
    </>
  )
}
