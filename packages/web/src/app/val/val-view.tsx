import { useComputed } from "@preact/signals"
import { useEffect, useMemo } from "preact/hooks"
import { NotFound } from "../data/loaded.tsx"
import { guardNavigation } from "../frame/location.ts"
import { session } from "../session/session.ts"
import { useCodeActions } from "./code/code-actions.ts"
import { CodeButtons } from "./code/code-buttons.tsx"
import { CodeTab } from "./code/code-tab.tsx"
import { type Val, ValEditing } from "./code/val-editing.ts"
import { useValRun } from "./code/val-run.ts"
import { DiscussionTab } from "./discussion-tab.tsx"
import { GraphTab } from "./graph-tab.tsx"
import { RecentRuns } from "./panes/recent-runs.ts"
import { ValRequests } from "./preview/val-requests.ts"
import { ReadmeEditing } from "./readme/readme-editing.ts"
import { ReadmeTab } from "./readme/readme-tab.tsx"
import { RunsTab } from "./runs-tab.tsx"
import { SettingsTab } from "./settings-tab.tsx"
import { ValBar } from "./val-bar.tsx"
import { VersionsTab } from "./versions/versions-tab.tsx"

const tabs = {
  "": CodeTab,
  readme: ReadmeTab,
  versions: VersionsTab,
  runs: RunsTab,
  discussion: DiscussionTab,
  graph: GraphTab,
  // The code stays; the pane beside it shows them.
  schedule: CodeTab,
  mail: CodeTab,
  settings: SettingsTab,
} as const

/** A val with its tabs. Unsaved input stays when the tab changes. */
export function ValView({ loaded, tab }: { loaded: Val; tab: string }) {
  const isOwn = useComputed(() => {
    const { value } = session
    return (
      (value.kind === "signed-in" || value.kind === "ended") && value.me.id === loaded.author.id
    )
  }).value
  const { editing, readme, recent, requests } = useMemo(
    () => open(loaded, isOwn),
    [loaded.id, isOwn],
  )
  const run = useValRun(editing, isOwn)
  const actions = useCodeActions({ editing, run, requests, isOwn })
  useEffect(
    () => () => {
      editing.stop()
      readme.stop()
      requests.stop()
    },
    [editing, readme, requests],
  )
  useEffect(
    () =>
      guardNavigation(
        (path) => isWithin(editing, path) || !(editing.mayLose() || readme.mayLose()),
      ),
    [editing, readme],
  )
  const { name, author } = editing.val.value
  const base = `/u/${author.username}/${name}`
  if (!isTab(tab) || (["schedule", "settings"].includes(tab) && !isOwn)) return <NotFound />
  const Tab = tabs[tab]
  const props = { editing, readme, run, requests, recent, actions, isOwn, base, tab }
  const isCode = Tab === CodeTab
  return (
    <div class={`val-page ${isCode ? "val-page-code" : ""}`}>
      <ValBar {...props} tab={isCode ? "" : tab}>
        {isCode ? <CodeButtons {...props} /> : null}
      </ValBar>
      {isCode ? (
        <Tab {...props} />
      ) : (
        <div class="val-part">
          <Tab {...props} />
        </div>
      )}
    </div>
  )
}

function open(loaded: Val, isOwn: boolean) {
  const editing = new ValEditing(loaded, isOwn)
  const recent = new RecentRuns(loaded.id)
  return {
    editing,
    readme: new ReadmeEditing(editing, isOwn),
    recent,
    requests: new ValRequests(editing, isOwn ? recent : undefined),
  }
}

/** Whether a path belongs to the same val, where unsaved input stays. */
function isWithin(editing: ValEditing, path: string | undefined): boolean {
  const { author, name } = editing.val.peek()
  const base = `/u/${author.username}/${name}`
  return path === base || path?.startsWith(`${base}/`) === true
}

function isTab(tab: string): tab is keyof typeof tabs {
  return Object.hasOwn(tabs, tab)
}
