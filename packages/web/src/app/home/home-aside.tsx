import type { ComponentChildren } from "preact"
import { Bars } from "../../ui/page-states.tsx"
import { Loaded } from "../data/loaded.tsx"
import { type UsedPages, usePages, withoutTexts } from "../data/pages.ts"
import { usePoll } from "../data/poll.ts"
import { Section } from "../parts/section.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import { RunResult } from "../runs/list/run-result.tsx"
import { type RunItem, toRunTitle } from "../runs/list/run-title.ts"
import { ScheduleBadge } from "../schedules/schedule-marks.tsx"
import { acting } from "../session/owners.ts"

const limits = { shownMax: 6, pollMs: 3_000, schedules: 100, schedulesMs: 30_000 }

/** Recent activity: runs, importers of the user's vals, liked vals. */
export function HomeAside() {
  const runs = usePages("listMyRuns", {}, limits.shownMax)
  const references = usePages("listMyReferences", {}, limits.shownMax)
  const likes = usePages("listMyLikes", withoutTexts, limits.shownMax)
  usePoll(limits.pollMs, runs.poll)
  return (
    <aside class="home-aside" aria-label="Recent activity">
      <FailingSchedules />
      <AsideList
        title="Latest runs"
        end={<a href="/runs">All</a>}
        of={runs}
        empty="Run a val, or open its web address: each run appears here."
        toHref={({ id }) => `/runs/${id}`}
      >
        {(run) => (
          <>
            <span class="ellipsis aside-name">{run.val.name}</span>
            <span class="ellipsis aside-what">{toRunTitle(run).what}</span>
            <Ending run={run} />
            <TimeAgo at={run.runStartAt} class="quiet" />
          </>
        )}
      </AsideList>
      <AsideList
        title={`Who imports ${acting.value ? "its" : "your"} vals`}
        of={references}
        empty="Vals that import one of yours appear here."
        toHref={({ reference }) => `/u/${reference.username}/${reference.name}`}
      >
        {({ reference, dependsOn, referencedAt }) => (
          <>
            <span class="ellipsis aside-name">
              {reference.username}/{reference.name}
            </span>
            <span class="quiet ellipsis aside-name">uses {dependsOn.name}</span>
            <TimeAgo at={referencedAt} class="quiet" />
          </>
        )}
      </AsideList>
      <AsideList
        title="Liked vals"
        of={likes}
        empty="Vals that you like appear here."
        toHref={({ author, name }) => `/u/${author.username}/${name}`}
      >
        {({ author, name }) => (
          <span class="ellipsis aside-name">
            {author.username}/{name}
          </span>
        )}
      </AsideList>
    </aside>
  )
}

/** A success of a run without a response is a word too: nothing else of the row says it. */
function Ending({ run }: { readonly run: RunItem }) {
  return toRunTitle(run).result === null ? (
    <span class="run-result-good">succeeded</span>
  ) : (
    <RunResult run={run} />
  )
}

function AsideList<Element>(props: {
  readonly title: string
  readonly end?: ComponentChildren
  readonly of: UsedPages<Element>
  readonly empty: string
  readonly toHref: (item: Element) => string
  readonly children: (item: Element) => ComponentChildren
}) {
  const { title, end, of, empty, toHref, children } = props
  return (
    <Section title={title} kind="aside-block" end={end}>
      <Loaded of={of} skeleton={<Bars count={3} />}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="quiet">{empty}</p>
          ) : (
            <ul>
              {items.map((item, index) => (
                <li key={index}>
                  <a class="row aside-row" href={toHref(item)}>
                    {children(item)}
                  </a>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  )
}

/** The schedules that need their owner; nothing while all is well. */
function FailingSchedules() {
  const schedules = usePages("listMySchedules", {}, limits.schedules)
  usePoll(limits.schedulesMs, schedules.poll)
  const { state } = schedules
  const failing =
    state.kind === "ready"
      ? state.data.items.filter(({ isFailing, pausedReason }) => isFailing || pausedReason !== null)
      : []
  if (failing.length === 0) return null
  return (
    <Section title="Failing schedules" kind="aside-block" end={<a href="/schedules">All</a>}>
      <ul>
        {failing.map((schedule) => (
          <li key={schedule.file.id}>
            <a
              class="row aside-row"
              href={`/u/${schedule.val.username}/${schedule.val.name}/schedule`}
            >
              <span class="ellipsis aside-name">{schedule.val.name}</span>
              <ScheduleBadge schedule={schedule} />
            </a>
          </li>
        ))}
      </ul>
    </Section>
  )
}
