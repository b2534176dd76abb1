import type { ComponentChildren } from "preact"
import { Bars, Loaded } from "../data/page-states.tsx"
import { usePages } from "../data/pages.ts"
import { usePoll } from "../data/poll.ts"
import { StatusBadge } from "../parts/badges.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"

const limits = { shownMax: 6, pollMs: 3_000 }

/** What happened lately: runs, who imports what of mine, what I like. */
export function HomeAside() {
  return (
    <aside class="home-aside" aria-label="Lately">
      <LatestRuns />
      <Importers />
      <Liked />
    </aside>
  )
}

function LatestRuns() {
  const runs = usePages("listMyRuns", {}, limits.shownMax)
  usePoll(limits.pollMs, runs.refresh)
  return (
    <Block title="Latest runs" href="/runs">
      <Loaded of={runs.state} onRetry={runs.reload} skeleton={<Bars count={limits.shownMax} />}>
        {({ items }) => (
          <List
            empty="Run a val, or visit its web address: each run appears here."
            items={items.map((run) => (
              <a key={run.id} class="aside-row" href={`/runs/${run.id}`}>
                <span class="aside-name">{run.val.name}</span>
                <StatusBadge status={run.status} />
                <span class="quiet">
                  <TimeAgo at={run.runStartAt} />
                </span>
              </a>
            ))}
          />
        )}
      </Loaded>
    </Block>
  )
}

function Importers() {
  const references = usePages("listMyReferences", {}, limits.shownMax)
  return (
    <Block title="Who imports your vals">
      <Loaded of={references.state} onRetry={references.reload} skeleton={<Bars count={3} />}>
        {({ items }) => (
          <List
            empty="When a val imports one of yours, it is named here."
            items={items.map(({ reference, dependsOn, referencedAt }) => (
              <a
                key={reference.id + dependsOn.id}
                class="aside-row"
                href={`/u/${reference.username}/${reference.name}`}
              >
                <span class="aside-name">
                  {reference.username}/{reference.name}
                </span>
                <span class="quiet aside-name">uses {dependsOn.name}</span>
                <span class="quiet">
                  <TimeAgo at={referencedAt} />
                </span>
              </a>
            ))}
          />
        )}
      </Loaded>
    </Block>
  )
}

function Liked() {
  const likes = usePages("listMyLikes", {}, limits.shownMax)
  return (
    <Block title="What you like">
      <Loaded of={likes.state} onRetry={likes.reload} skeleton={<Bars count={3} />}>
        {({ items }) => (
          <List
            empty="Vals that you like are one click away from here."
            items={items.map((val) => (
              <a key={val.id} class="aside-row" href={`/u/${val.author.username}/${val.name}`}>
                <span class="aside-name">
                  {val.author.username}/{val.name}
                </span>
              </a>
            ))}
          />
        )}
      </Loaded>
    </Block>
  )
}

function Block({
  title,
  href,
  children,
}: {
  title: string
  href?: string
  children: ComponentChildren
}) {
  return (
    <section class="aside-block" aria-label={title}>
      <div class="section-head">
        <h2>{title}</h2>
        {href ? <a href={href}>All</a> : null}
      </div>
      {children}
    </section>
  )
}

function List({ items, empty }: { items: readonly ComponentChildren[]; empty: string }) {
  if (items.length === 0) return <p class="quiet">{empty}</p>
  return (
    <ul>
      {items.map((item, index) => (
        <li key={index}>{item}</li>
      ))}
    </ul>
  )
}
