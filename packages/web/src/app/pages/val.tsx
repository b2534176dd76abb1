import { ApiError } from "@hamlet/contract/client"
import { useComputed } from "@preact/signals"
import type { ComponentType } from "preact"
import { useEffect, useMemo, useRef } from "preact/hooks"
import { Bars, LoadFailure, useTitle } from "../../ui/page-states.tsx"
import { useLoaded } from "../../ui/use-loaded.ts"
import { Loaded, NotFound } from "../data/loaded.tsx"
import { useResource } from "../data/resource.ts"
import { currentLocation, guardNavigation, navigate } from "../frame/location.ts"
import type { PageProps } from "../page-props.ts"
import { canChange } from "../session/owners.ts"
import { viewer } from "../session/session.ts"
import { NoBranch } from "../val/branches/no-branch.tsx"
import { useCodeActions } from "../val/code/code-actions.ts"
import { CodeButtons } from "../val/code/code-buttons.tsx"
import { CodeTab } from "../val/code/code-tab.tsx"
import { prepareStart } from "../val/code/prepare-start.ts"
import { toDocumentPath } from "../val/code/type-documents.tsx"
import { ValEditing } from "../val/code/val-editing.ts"
import { useValRun } from "../val/code/val-run.ts"
import { DraftMode } from "../val/draft-mode/draft-mode.ts"
import { type LoadedVal, loadVal, mainBranch } from "../val/files/load-files.ts"
import { RecentRuns } from "../val/panes/recent-runs.ts"
import { ValRequests } from "../val/preview/val-requests.ts"
import { ValProblems } from "../val/problems/val-problems.ts"
import { ReadmeTab } from "../val/readme-tab.tsx"
import { ValBar } from "../val/val-bar.tsx"
import type { ValTabProps } from "../val/val-tab-props.ts"

/** The page of a val. */
export function Page({ username = "", valName = "", tab = "" }: PageProps) {
  const tabName = tab.charAt(0).toUpperCase() + tab.slice(1)
  useTitle(`${username}/${valName}${tab === "" ? "" : ` · ${tabName}`}`)
  // After signing in, a user may see more. After the session has ended, the val and the input stay.
  const branch = currentLocation.value.query.get("branch") ?? mainBranch
  const val = useResource(`${username}/${valName} ${branch} ${viewer()?.id ?? ""}`, (signal) =>
    loadVal({ username, val_name: valName }, branch, signal),
  )
  if (val.state.kind === "failed" && isMissingBranch(val.state.error))
    return <NoBranch name={branch} />
  return (
    <Loaded of={val}>
      {(loaded) => <ValView key={loaded.branch.id} loaded={loaded} tab={tab} />}
    </Loaded>
  )
}

const tabs = {
  "": CodeTab,
  readme: ReadmeTab,
  versions: lazy(async () => (await import("../val/versions/versions-tab.tsx")).VersionsTab),
  branches: lazy(async () => (await import("../val/branches/branches-tab.tsx")).BranchesTab),
  runs: lazy(async () => (await import("../val/runs-tab.tsx")).RunsTab),
  discussion: lazy(async () => (await import("../val/discussion-tab.tsx")).DiscussionTab),
  graph: lazy(async () => (await import("../val/graph-tab.tsx")).GraphTab),
  // The code stays; the pane beside it shows them.
  run: CodeTab,
  schedule: CodeTab,
  mail: CodeTab,
  settings: lazy(async () => (await import("../val/settings-tab.tsx")).SettingsTab),
} as const

/** A tab that is loaded when it is first shown: most visits are about the code. */
function lazy(load: () => Promise<ComponentType<ValTabProps>>): ComponentType<ValTabProps> {
  return (props) => {
    const { component: Tab, hasFailed } = useLoaded(load)
    if (Tab) return <Tab {...props} />
    return hasFailed ? <LoadFailure part="this part of the page" /> : <Bars count={6} />
  }
}

/** A val with its tabs. Unsaved input stays when the tab changes. */
function ValView({ loaded, tab }: { loaded: LoadedVal; tab: string }) {
  // The input stays when the role of the user ends meanwhile: saving it is refused with the reason.
  const wasOwn = useRef(false)
  const isOwn = useComputed(() => canChange(loaded.val)).value || wasOwn.current
  wasOwn.current = isOwn
  const { editing, recent, requests, problems, draftMode } = useMemo(
    () => open(loaded, isOwn),
    [loaded.branch.id, isOwn],
  )
  const prepare = () => prepareStart(editing, draftMode, isOwn)
  const run = useValRun(editing, prepare, isOwn)
  const { name, author } = editing.val.value
  const base = `/u/${author.username}/${name}`
  const pane = toPane(tab, editing, isOwn)
  const showRun = () => {
    if (pane !== "run") navigate(`${base}/run${location.search}`)
  }
  const actions = useCodeActions({ editing, run, requests, isOwn, prepare, showRun })
  useEffect(
    () => () => {
      editing.stop()
      requests.stop()
      problems.stop()
      draftMode.stop()
    },
    [editing, requests, problems, draftMode],
  )
  useEffect(
    () => guardNavigation((path) => isWithin(editing, path) || !editing.mayLose()),
    [editing],
  )
  if (!isTab(tab) || (["schedule", "settings"].includes(tab) && !isOwn)) return <NotFound />
  const Tab = tabs[tab]
  const props = {
    editing,
    run,
    requests,
    recent,
    problems,
    draftMode,
    actions,
    isOwn,
    base,
    tab,
    pane,
  }
  const isCode = Tab === CodeTab
  return (
    <div class={`column val-page ${isCode ? "val-page-code" : ""}`}>
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

function open(loaded: LoadedVal, isOwn: boolean) {
  const path = currentLocation.peek().query.get("file") ?? undefined
  const editing = new ValEditing(loaded, isOwn, path)
  const recent = new RecentRuns(loaded.val.id)
  return {
    editing,
    recent,
    requests: new ValRequests(editing, isOwn ? recent : undefined),
    problems: new ValProblems(editing, (path) => toDocumentPath(editing, path)),
    draftMode: new DraftMode(editing),
  }
}

/** What is beside the code: at first, what makes the file run. */
function toPane(tab: string, { files }: ValEditing, isOwn: boolean): ValTabProps["pane"] {
  const type = files.started.value?.type.value
  // The pane follows the file that Run starts, unless there is only one.
  const isOnly = files.present.value.filter((file) => file.isCode).length < 2
  if (tab === "run") return tab
  if (isOnly && (tab === "schedule" || tab === "mail")) return tab
  if (type === "interval" && isOwn) return "schedule"
  return type === "email" && (isOwn || tab === "mail") ? "mail" : "run"
}

/** Whether a path belongs to the same val, where unsaved input stays. */
function isWithin(editing: ValEditing, path: string | undefined): boolean {
  const { author, name } = editing.val.peek()
  const base = `/u/${author.username}/${name}`
  return path === base || path?.startsWith(`${base}/`) === true
}

function isMissingBranch(error: unknown): boolean {
  return error instanceof ApiError && error.code === "branch_not_found"
}

function isTab(tab: string): tab is keyof typeof tabs {
  return Object.hasOwn(tabs, tab)
}
