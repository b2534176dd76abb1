import { EmptyState } from "../../ui/page-states.tsx"
import { useTitle } from "../../ui/page-title.ts"
import { LoadedPages } from "../data/loaded.tsx"
import { usePages } from "../data/pages.ts"
import { currentLocation, setQuery } from "../frame/location.ts"
import { ValList } from "../parts/val-list.tsx"
import { SearchBox } from "../search/search-box.tsx"
import { SearchHits } from "../search/search-hits.tsx"

const limits = { hitsAtOnce: 30, queryCharsMax: 512 }

/** Finds vals by name, code or readme; without a query it shows the latest public vals. */
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
      {query.trim() === "" ? <Latest /> : <Hits query={query} />}
    </>
  )
}

function Latest() {
  const vals = usePages("listVals", { privacy: "public" }, limits.hitsAtOnce)
  return (
    <LoadedPages
      of={vals}
      rows={8}
      empty={
        <EmptyState icon="globe" title="Nothing is public yet">
          <p>Make a val public in its settings, and all users of this server find it here.</p>
        </EmptyState>
      }
    >
      {(items) => <ValList vals={items} />}
    </LoadedPages>
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
