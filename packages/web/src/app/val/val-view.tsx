import { useComputed } from "@preact/signals"
import { useEffect, useMemo } from "preact/hooks"
import { NotFound } from "../data/loaded.tsx"
import { guardNavigation } from "../frame/location.ts"
import { LinkTabs } from "../parts/link-tabs.tsx"
import { session } from "../session/session.ts"
import { CodeTab } from "./code/code-tab.tsx"
import { type Val, ValEditing } from "./code/val-editing.ts"
import { useValRun } from "./code/val-run.ts"
import { DiscussionTab } from "./discussion-tab.tsx"
import { EmailTab } from "./email-tab.tsx"
import { GraphTab } from "./graph-tab.tsx"
import { ReadmeEditing } from "./readme/readme-editing.ts"
import { ReadmeTab } from "./readme/readme-tab.tsx"
import { RunsTab } from "./runs-tab.tsx"
import { ScheduleTab } from "./schedule-tab.tsx"
import { SettingsTab } from "./settings-tab.tsx"
import { ValHead } from "./val-head.tsx"
import { VersionsTab } from "./versions/versions-tab.tsx"

const tabs = {
  "": CodeTab,
  readme: ReadmeTab,
  versions: VersionsTab,
  runs: RunsTab,
  discussion: DiscussionTab,
  graph: GraphTab,
  schedule: ScheduleTab,
  mail: EmailTab,
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
  const { editing, readme } = useMemo(() => open(loaded, isOwn), [loaded.id, isOwn])
  const run = useValRun(editing, isOwn)
  useEffect(
    () => () => {
      editing.stop()
      readme.stop()
    },
    [editing, readme],
  )
  useEffect(
    () =>
      guardNavigation(
        (path) => isWithin(editing, path) || !(editing.mayLose() || readme.mayLose()),
      ),
    [editing, readme],
  )
  const { name, author, referenceCount, type } = editing.val.value
  const base = `/u/${author.username}/${name}`
  if (!isTab(tab) || (["schedule", "settings"].includes(tab) && !isOwn)) return <NotFound />
  const Tab = tabs[tab]
  return (
    <div class={`val-page ${tab === "" ? "val-page-code" : ""}`}>
      <ValHead editing={editing} />
      <LinkTabs
        label="Val"
        current={tab === "" ? base : `${base}/${tab}`}
        tabs={[
          { href: base, label: "Code", icon: "script" },
          ...(type === "interval" && isOwn
            ? [{ href: `${base}/schedule`, label: "Schedule", icon: "timer" as const }]
            : []),
          ...(type === "email"
            ? [{ href: `${base}/mail`, label: "Mail", icon: "mail" as const }]
            : []),
          { href: `${base}/readme`, label: "Readme", icon: "comment" },
          { href: `${base}/versions`, label: "Versions", icon: "history" },
          { href: `${base}/runs`, label: "Runs", icon: "play" },
          { href: `${base}/discussion`, label: "Discussion", icon: "comment" },
          { href: `${base}/graph`, label: "Graph", icon: "branch", count: referenceCount },
          ...(isOwn
            ? [{ href: `${base}/settings`, label: "Settings", icon: "settings" as const }]
            : []),
        ]}
      />
      <div class={tab === "" ? "val-code" : "val-part"}>
        <Tab editing={editing} readme={readme} run={run} isOwn={isOwn} base={base} />
      </div>
    </div>
  )
}

function open(loaded: Val, isOwn: boolean) {
  const editing = new ValEditing(loaded, isOwn)
  return { editing, readme: new ReadmeEditing(editing, isOwn) }
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
