import { EmptyState } from "../../ui/page-states.tsx"
import { useTitle } from "../../ui/page-title.ts"
import { LoadedPages } from "../data/loaded.tsx"
import { usePages, withoutTexts } from "../data/pages.ts"
import { currentLocation, setQuery } from "../frame/location.ts"
import { Segments } from "../parts/segments.tsx"
import { ValList } from "../parts/val-list.tsx"
import { SearchBox } from "../search/search-box.tsx"
import { SearchHits } from "../search/search-hits.tsx"

const limits = { hitsAtOnce: 30, queryCharsMax: 512 }

const orders = [
  { name: "trend", label: "Trending" },
  { name: "likes", label: "Most liked" },
  { name: "runs", label: "Most run" },
  { name: "created", label: "Newest" },
] as const

/** Finds vals by name, code or readme; without a query it shows public vals by rank. */
export function Page() {
  const query = (currentLocation.value.query.get("q") ?? "").slice(0, limits.queryCharsMax)
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
      {query.trim() === "" ? <Ranked /> : <Hits query={query} />}
    </>
  )
}

function Ranked() {
  const wanted = currentLocation.value.query.get("sort")
  const sort = orders.find(({ name }) => name === wanted)?.name ?? "trend"
  const list = { privacy: "public", sort, ...withoutTexts } as const
  const vals = usePages("listVals", list, limits.hitsAtOnce)
  return (
    <>
      <Segments
        label="Order"
        choices={orders}
        current={sort}
        onChange={(name) => setQuery({ sort: name === "trend" ? undefined : name })}
      />
      <LoadedPages
        of={vals}
        rows={8}
        empty={
          <EmptyState icon="explore" title="Nothing is public yet">
            <p>Make a val public in its settings, and all users of this server find it here.</p>
          </EmptyState>
        }
      >
        {(items) => <ValList vals={items} />}
      </LoadedPages>
    </>
  )
}

function Hits({ query }: { query: string }) {
  const hits = usePages("searchVals", { query }, limits.hitsAtOnce)
  return (
    <LoadedPages
      of={hits}
      rows={8}
      empty={
        <EmptyState icon="search" title="No val matches">
          <p>The search covers names, code and readmes of public vals and of your own.</p>
        </EmptyState>
      }
    >
      {(items) => <SearchHits vals={items} query={query} />}
    </LoadedPages>
  )
}
