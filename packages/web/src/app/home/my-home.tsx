import { EmptyState } from "../../ui/page-states.tsx"
import { LoadedPages } from "../data/loaded.tsx"
import { usePages, withoutTexts } from "../data/pages.ts"
import { currentLocation, setQuery } from "../frame/location.ts"
import { privacyChoices, typeChoices } from "../parts/badges.tsx"
import { Select } from "../parts/field.tsx"
import { SearchBox } from "../search/search-box.tsx"
import type { Me } from "../session/session.ts"
import { templates } from "../templates/catalog.ts"
import { TemplateCards } from "../templates/template-cards.tsx"
import { HomeAside } from "./home-aside.tsx"
import { MyVals } from "./my-vals.tsx"
import { useValNews } from "./val-news.ts"

const limits = { valsAtOnce: 100, templatesFirst: 6, queryCharsMax: 512 }

const sorts = [
  { value: "updated", label: "Last changed" },
  { value: "run", label: "Last run" },
  { value: "name", label: "Name" },
  { value: "created", label: "Newest" },
  { value: "likes", label: "Most liked" },
] as const

/** The user's vals and their recent activity. The address contains the filters. */
export function MyHome({ me }: { me: Me }) {
  const filter = readFilter(currentLocation.value.query)
  const vals = usePages("listMyVals", { ...filter, ...withoutTexts }, limits.valsAtOnce)
  const news = useValNews()
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
        <LoadedPages
          of={vals}
          rows={8}
          empty={isFiltered ? <NoMatches /> : <FirstSteps name={me.username} />}
        >
          {(items) => <MyVals vals={items} news={news} />}
        </LoadedPages>
      </section>
      <HomeAside />
    </div>
  )
}

function NoMatches() {
  return (
    <EmptyState icon="search" title="No val matches">
      <button
        type="button"
        class="button button-quiet"
        onClick={() => setQuery({ q: undefined, privacy: undefined, type: undefined })}
      >
        Show all vals
      </button>
    </EmptyState>
  )
}

function FirstSteps({ name }: { name: string }) {
  return (
    <div class="first-steps">
      <h2>Welcome, {name}</h2>
      <p>
        A val is a small program with a name. Start with one of these and change it, or read{" "}
        <a href="/guide">your first hour</a>.
      </p>
      <TemplateCards templates={templates.slice(0, limits.templatesFirst)} />
      <p>
        <a href="/templates">All templates</a>
      </p>
    </div>
  )
}

function Filters() {
  const { query } = currentLocation.value
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
        choices={[{ value: "", label: "Any privacy" }, ...privacyChoices]}
        onChange={(privacy) => setQuery({ privacy })}
      />
      <Select
        label="Type"
        isLabelHidden
        value={query.get("type") ?? ""}
        choices={[{ value: "", label: "Any type" }, ...typeChoices]}
        onChange={(type) => setQuery({ type })}
      />
      <Select
        label="Order"
        isLabelHidden
        value={query.get("sort") ?? "updated"}
        choices={sorts}
        onChange={(sort) => setQuery({ sort: sort === "updated" ? undefined : sort })}
      />
    </search>
  )
}

/** Reads the filters from the address; unknown values are ignored. */
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
