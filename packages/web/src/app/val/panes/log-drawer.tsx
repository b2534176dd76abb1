import { type Signal, useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect, useLayoutEffect, useMemo } from "preact/hooks"
import { setTo } from "../../../ui/bind.ts"
import { Icon } from "../../../ui/icon.tsx"
import { toDuration } from "../../../ui/units.ts"
import { usePoll } from "../../data/poll.ts"
import { TimeAgo } from "../../parts/time-ago.tsx"
import { RunResult } from "../../runs/list/run-result.tsx"
import { toRunTitle } from "../../runs/list/run-title.ts"
import { LogView } from "../../runs/log-view.tsx"
import { ConsolePanel } from "../console/console-panel.tsx"
import { ProblemList } from "../problems/problem-list.tsx"
import type { ValTabProps } from "../val-tab-props.ts"
import { isNarrow } from "./narrow.ts"
import { type ListedRun, RecentRuns } from "./recent-runs.ts"
import { RunEnd, RunReport } from "./run-logs.tsx"

export const drawerId = "log-drawer"

/**
 * Polled, instead of following the log of the account: that has no runs of other accounts, and a
 * stream in each tab would take the few connections that a browser opens to a server.
 */
const pollMs = 2_000

type Props = Pick<
  ValTabProps,
  "editing" | "run" | "requests" | "recent" | "problems" | "actions" | "isOwn"
> & {
  readonly isOpen: boolean
  readonly onToggle: (isOpen: boolean) => void
}

type View = "runs" | "console" | "problems"

/**
 * Below the code: the latest runs of the val and the logs of one of them, the console of its page, or
 * its problems.
 */
export function LogDrawer(props: Props) {
  const { editing, requests, recent, problems, isOwn, isOpen, onToggle } = props
  const view = useSignal<View>("runs")
  const runs = recent.runs.value
  // The request whose status is beside the code, which other requests may follow.
  const marked = runs.find(({ id }) => id === requests.run.value?.id) ?? runs[0]
  const isHttp = editing.files.started.value?.type.value === "http"
  const what = isHttp ? "Requests" : "Runs"
  const errorCount = requests.console.errorCount.value
  // The console is that of the page of an http file.
  const shown = view.value === "console" && !isHttp ? "runs" : view.value
  const count = problems.all.value.length
  const toggle = (wanted: View) => {
    // In a narrow window the drawer is a part of its own, which stays open.
    if (!isNarrow.value) onToggle(!(isOpen && shown === wanted))
    view.value = wanted
  }
  return (
    <section id={drawerId} class="column log-drawer" aria-label={`${what} and logs`}>
      <div class="row nowrap drawer-bar">
        <DrawerToggle isOpen={isOpen && shown === "runs"} onClick={() => toggle("runs")}>
          <Icon name="chevron" /> {what} and logs
        </DrawerToggle>
        {isHttp ? (
          <DrawerToggle isOpen={isOpen && shown === "console"} onClick={() => toggle("console")}>
            Console
            {errorCount === 0 ? null : <span class="tiny count bad">{errorCount}</span>}
          </DrawerToggle>
        ) : null}
        {isOwn ? (
          <DrawerToggle isOpen={isOpen && shown === "problems"} onClick={() => toggle("problems")}>
            Problems
            {count === 0 ? null : <span class="tiny count bad">{count}</span>}
          </DrawerToggle>
        ) : null}
        {marked && !isOpen ? <RunMarks run={marked} /> : null}
      </div>
      {isOpen && shown === "console" ? <ConsolePanel {...props} /> : null}
      {isOpen && shown === "problems" ? (
        <div id={`${drawerId}-problems`} class="fill drawer-problems">
          <ProblemList {...props} />
        </div>
      ) : null}
      <Runs {...props} what={what} isOpen={isOpen && shown === "runs"} />
    </section>
  )
}

function DrawerToggle(props: {
  readonly isOpen: boolean
  readonly onClick: () => void
  readonly children: ComponentChildren
}) {
  return (
    <button
      type="button"
      class="row small drawer-toggle"
      aria-expanded={props.isOpen}
      aria-controls={drawerId}
      onClick={props.onClick}
    >
      {props.children}
    </button>
  )
}

function Runs(props: Props & { readonly what: string }) {
  const { editing, run, requests, actions, isOpen, what } = props
  const selected = useSignal<string | undefined>(undefined)
  const fileId = useSignal<string>("")
  const recent = useRecent(props, fileId)
  const current =
    run.state.kind === "ended"
      ? run.state.run.id
      : run.state.kind === "running"
        ? run.state.id
        : undefined
  const newest = current ?? requests.run.value?.id
  const exchange = requests.exchange.value
  const sentAt = exchange.kind === "sending" ? exchange.startedAt : undefined
  const isStarting = run.state.kind === "starting"
  // What the user starts is shown. Its id arrives later: it must not replace a selection made then.
  // A layout effect: a later one would undo a selection that is made before it runs.
  useLayoutEffect(() => {
    if (isStarting || sentAt !== undefined) selected.value = undefined
  }, [isStarting, sentAt])
  useEffect(() => {
    if (isOpen) void recent.refresh().catch(() => {})
  }, [newest, run.state.kind, isOpen, recent])
  usePoll(pollMs, () => (isOpen ? recent.refresh() : undefined))
  const runs = recent.runs.value
  const hasFiles = editing.files.present.value.filter((file) => file.isCode).length > 1
  const shown = selected.value ?? (fileId.value === "" ? newest : undefined) ?? runs[0]?.id
  return (
    <div id={`${drawerId}-body`} class="fill drawer-body" hidden={!isOpen}>
      {runs.length === 0 && shown === undefined ? (
        <p class="quiet drawer-empty">
          {what === "Requests" ? "Requests to the val" : "Runs of the val"} appear here, with their
          logs.
        </p>
      ) : null}
      <div class="column drawer-side">
        {runs.length === 0 && fileId.value === "" ? null : (
          <FileFilter editing={editing} fileId={fileId} onChange={setTo(selected, undefined)} />
        )}
        <ol class="drawer-runs">
          {runs.map((listed) => (
            <li key={listed.id}>
              <button
                type="button"
                class="pick drawer-run"
                aria-pressed={listed.id === shown}
                onClick={() => {
                  selected.value = listed.id
                }}
              >
                <RunMarks run={listed} hasFile={hasFiles} />
              </button>
            </li>
          ))}
        </ol>
      </div>
      {isOpen && shown !== undefined ? (
        <div class="column drawer-logs">
          <Logs run={run} id={shown} actions={actions} />
        </div>
      ) : null}
    </div>
  )
}

/** The runs of the whole val, or of the chosen file alone. */
function useRecent({ editing, recent }: Props, fileId: Signal<string>): RecentRuns {
  const { id } = editing.val.value
  const ofFile = useMemo(
    () => (fileId.value === "" ? undefined : new RecentRuns(id, fileId.value)),
    [id, fileId.value],
  )
  return ofFile ?? recent
}

/** A val with one file of code has nothing to choose. */
function FileFilter(props: {
  readonly editing: Props["editing"]
  readonly fileId: Signal<string>
  readonly onChange: () => void
}) {
  const { editing, fileId, onChange } = props
  const saved = editing.files.present.value
    .filter((file) => file.isCode)
    .flatMap((file) => file.saved.value ?? [])
  if (saved.length < 2) return null
  return (
    <select
      class="input drawer-filter"
      aria-label="Runs of"
      value={fileId.value}
      onChange={(event) => {
        fileId.value = event.currentTarget.value
        onChange()
      }}
    >
      <option value="">All files</option>
      {saved.map(({ id, path }) => (
        <option key={id} value={id}>
          {path}
        </option>
      ))}
    </select>
  )
}

function RunMarks({ run, hasFile = false }: { run: ListedRun; hasFile?: boolean }) {
  const { durationMs, runStartAt, error, lastLine, file } = run
  const line = error ? `${error.name}: ${error.message}` : (lastLine ?? "")
  return (
    <span class="row small nowrap drawer-marks">
      <span class="row nowrap drawer-what">
        <span class="ellipsis">{toRunTitle(run).what}</span>
        <RunResult run={run} />
      </span>
      {hasFile && file ? <span class="ellipsis drawer-file quiet">{file.path}</span> : null}
      <span class="ellipsis drawer-line quiet" title={line}>
        {line}
      </span>
      <span class="quiet">{durationMs === null ? "" : toDuration(durationMs)}</span>
      <TimeAgo at={runStartAt} class="quiet" />
    </span>
  )
}

/** The run that was started here is followed already. */
function Logs({ run: { state }, id, actions }: Pick<Props, "run" | "actions"> & { id: string }) {
  if (state.kind === "running" && state.id === id)
    return <LogView lines={state.logs} isLive isTruncated={false} />
  if (state.kind === "ended" && state.run.id === id)
    return <RunEnd run={state.run} onGoTo={actions.goToStack} />
  return <RunReport key={id} runId={id} onGoTo={actions.goToStack} />
}
