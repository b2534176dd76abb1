import { EmptyState } from "../../ui/page-states.tsx"
import { api } from "../api.ts"
import { LoadedPages } from "../data/loaded.tsx"
import { usePages, withoutTexts } from "../data/pages.ts"
import { usePoll } from "../data/poll.ts"
import { useResource } from "../data/resource.ts"
import { currentLocation, setQuery } from "../frame/location.ts"
import { privacyChoices, typeChoices } from "../parts/badges.tsx"
import { Button } from "../parts/buttons/button.tsx"
import { QuerySelect, readChoice } from "../parts/forms/query-choice.tsx"
import { SearchBox } from "../search/search-box.tsx"
import { acting, canChangeOwn } from "../session/owners.ts"
import { starters } from "../templates/starters.ts"
import { TemplateCards } from "../templates/template-cards.tsx"
import { HomeAside } from "./home-aside.tsx"
import { InvitationNotices } from "./invitation-notices.tsx"
import { MyVals, type ValNews } from "./my-vals.tsx"

const limits = {
  valsAtOnce: 100,
  queryCharsMax: 512,
  activityMs: 5_000,
  schedulesMs: 30_000,
  newsMax: 100,
  dayMs: 86_400_000,
}

const sorts = [
  { value: "updated", label: "Last changed" },
  { value: "run", label: "Last run" },
  { value: "name", label: "Name" },
  { value: "created", label: "Newest" },
  { value: "likes", label: "Most liked" },
] as const

/** The vals of the owner and their recent activity. The address contains the filters. */
export function MyHome({ username }: { username: string }) {
  const isOrg = acting.value !== undefined
  const filter = readFilter()
  const vals = usePages("listMyVals", { ...filter, ...withoutTexts }, limits.valsAtOnce)
  const news = useValNews()
  const isFiltered =
    filter.query !== undefined || filter.privacy !== undefined || filter.type !== undefined
  return (
    <div class="home">
      <section class="home-main" aria-labelledby="vals-title">
        <InvitationNotices />
        <div class="row wrap page-head">
          <h1 id="vals-title">{isOrg ? `Vals of ${username}` : "Your vals"}</h1>
        </div>
        {isFiltered || vals.state.kind !== "ready" || vals.state.data.items.length > 0 ? (
          <Filters />
        ) : null}
        <LoadedPages
          of={vals}
          rows={8}
          empty={isFiltered ? <NoMatches /> : <FirstSteps name={username} isOrg={isOrg} />}
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
      <Button
        kind="quiet"
        onClick={() => setQuery({ q: undefined, privacy: undefined, type: undefined })}
      >
        Show all vals
      </Button>
    </EmptyState>
  )
}

function FirstSteps({ name, isOrg }: { name: string; isOrg: boolean }) {
  if (!canChangeOwn())
    return (
      <EmptyState icon="script" title="No vals">
        <p>{name} has no vals yet. As a viewer, you see them when there are some.</p>
      </EmptyState>
    )
  return (
    <div class="first-steps">
      <h2>{isOrg ? `${name} has no vals yet` : `Welcome, ${name}`}</h2>
      <p>
        A val is a small program with a name. Start with one of these and change it, or read{" "}
        <a href="/guide">your first hour</a>.
      </p>
      <TemplateCards templates={starters} />
      <p>
        <a href="/templates">All templates</a>
      </p>
    </div>
  )
}

const privacies = [{ value: "", label: "Any privacy" }, ...privacyChoices] as const
const types = [{ value: "", label: "Any type" }, ...typeChoices] as const

function Filters() {
  return (
    <search class="row wrap toolbar">
      <SearchBox
        label="Filter by name"
        value={currentLocation.value.query.get("q") ?? ""}
        onChange={(q) => setQuery({ q })}
      />
      <QuerySelect name="privacy" label="Privacy" choices={privacies} />
      <QuerySelect name="type" label="Type" choices={types} />
      <QuerySelect name="sort" label="Order" choices={sorts} />
    </search>
  )
}

/** Reads the filters from the address; unknown values are ignored. */
function readFilter() {
  const { value: privacy } = readChoice("privacy", privacies)
  const { value: type } = readChoice("type", types)
  const query = (currentLocation.value.query.get("q") ?? "").slice(0, limits.queryCharsMax)
  return {
    sort: readChoice("sort", sorts).value,
    ...(query === "" ? {} : { query }),
    ...(privacy === "" ? {} : { privacy }),
    ...(type === "" ? {} : { type }),
  }
}

/** What has happened since yesterday. Three small requests for all vals together. */
function useValNews(): ValNews {
  const activity = useResource("activity", (signal) =>
    api.listMyActivity({ hours: 24, buckets: 24 }, { signal }),
  )
  const schedules = usePages("listMySchedules", {}, limits.newsMax)
  const comments = useResource("comments", (signal) => {
    const since = new Date(Date.now() - limits.dayMs).toISOString()
    return api.listMyComments(
      { relationship: "received", since, limit: limits.newsMax },
      { signal },
    )
  })
  usePoll(limits.activityMs, activity.poll)
  usePoll(limits.schedulesMs, () => {
    comments.poll()
    return schedules.poll()
  })
  return {
    activity: toMap(activity.state, ({ data }) => data.map((row) => [row.valId, row])),
    schedules: toMap(schedules.state, ({ items }) =>
      items.filter(({ val, branch }) => branch.id === val.id).map((row) => [row.val.id, row]),
    ),
    hasAllSchedules: schedules.state.kind === "ready" && schedules.state.data.next === undefined,
    comments:
      comments.state.kind === "ready"
        ? countBy(comments.state.data.data.map(({ val }) => val.id))
        : undefined,
  }
}

type State<Data> = { readonly kind: string; readonly data?: Data }

function toMap<Data, Row>(
  { kind, data }: State<Data>,
  toEntries: (data: Data) => readonly (readonly [string, Row])[],
): ReadonlyMap<string, Row> | undefined {
  return kind === "ready" && data !== undefined ? new Map(toEntries(data)) : undefined
}

function countBy(ids: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1)
  return counts
}
