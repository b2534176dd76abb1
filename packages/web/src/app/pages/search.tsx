import type { Item } from "@hamlet/contract/client"
import { EmptyState, useTitle } from "../../ui/page-states.tsx"
import { LoadedPages } from "../data/loaded.tsx"
import { usePages, withoutTexts } from "../data/pages.ts"
import { currentLocation, setQuery } from "../frame/location.ts"
import { TypeBadge } from "../parts/badges.tsx"
import { readChoice } from "../parts/forms/query-choice.tsx"
import { QuerySegments } from "../parts/forms/segments.tsx"
import { ValList } from "../parts/lists/val-list.tsx"
import { ValPicture } from "../parts/lists/val-picture.tsx"
import { findHitLines, type HitLine, markHits } from "../search/find-hits.ts"
import { SearchBox } from "../search/search-box.tsx"

const limits = { hitsAtOnce: 30, queryCharsMax: 512 }

const orders = [
  { value: "trend", label: "Trending" },
  { value: "likes", label: "Most liked" },
  { value: "runs", label: "Most run" },
  { value: "created", label: "Newest" },
] as const

/** Finds vals by name, description or files; without a query it shows public vals by rank. */
export function Page() {
  const query = (currentLocation.value.query.get("q") ?? "").slice(0, limits.queryCharsMax)
  useTitle(query === "" ? "Explore" : `“${query}”`)
  return (
    <>
      <div class="row wrap page-head">
        <h1>Explore</h1>
      </div>
      <search class="row wrap toolbar">
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
  const { value: sort } = readChoice("sort", orders)
  const list = { privacy: "public", sort, ...withoutTexts } as const
  const vals = usePages("listVals", list, limits.hitsAtOnce)
  return (
    <>
      <QuerySegments name="sort" label="Order" choices={orders} />
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
          <p>The search covers names, descriptions and files of public vals and of your own.</p>
        </EmptyState>
      }
    >
      {(items) => <SearchHits vals={items} query={query} />}
    </LoadedPages>
  )
}

/** The vals that match a search, with the matching lines. */
function SearchHits(props: { vals: readonly Item<"searchVals">[]; query: string }) {
  const { vals, query } = props
  return (
    <ul class="val-list">
      {vals.map((val) => {
        const inReadme = findHitLines(val.readme ?? "", query)
        const inCode = findHitLines(val.code, query)
        return (
          <li key={val.id} class="ruled val-item">
            <div class="row wrap val-item-head">
              <ValPicture url={val.imageUrl} />
              <a class="table-name" href={`/u/${val.author.username}/${val.name}`}>
                <span class="quiet">{val.author.username}/</span>
                <Marked parts={markHits(val.name, query)} />
              </a>
              <TypeBadge type={val.type} />
              {val.file !== null && val.files > 1 ? <code class="quiet">{val.file}</code> : null}
            </div>
            {inReadme.map((line) => (
              <p key={line.number} class="breaks val-item-text">
                <Marked parts={line.parts} />
              </p>
            ))}
            {inCode.length > 0 ? (
              // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area needs keyboard access
              <pre class="boxed small hit-code" tabIndex={0}>
                {inCode.map((line) => (
                  <div key={line.number}>
                    <span class="hit-number">{line.number}</span>
                    <Marked parts={line.parts} />
                  </div>
                ))}
              </pre>
            ) : null}
          </li>
        )
      })}
    </ul>
  )
}

function Marked({ parts }: { parts: HitLine["parts"] }) {
  return parts.map(({ text, isHit }, index) => (isHit ? <mark key={index}>{text}</mark> : text))
}
