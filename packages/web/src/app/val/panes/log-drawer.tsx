import { useSignal } from "@preact/signals"
import { useEffect, useLayoutEffect } from "preact/hooks"
import { Icon } from "../../../ui/icon.tsx"
import { toDuration } from "../../../ui/units.ts"
import { usePoll } from "../../data/poll.ts"
import { TimeAgo } from "../../parts/time-ago.tsx"
import { isFailure, toRunText } from "../../runs/list/run-title.ts"
import { LogView, RunLog } from "../../runs/log-view.tsx"
import type { ValTabProps } from "../val-tab-props.ts"
import type { ListedRun } from "./recent-runs.ts"
import { RunLogs } from "./run-logs.tsx"

export const drawerId = "log-drawer"

/**
 * Polled, instead of following the log of the account: that has no runs of other accounts, and a
 * stream in each tab would take the few connections that a browser opens to a server.
 */
const pollMs = 2_000

type Props = Pick<ValTabProps, "editing" | "run" | "requests" | "recent"> & {
  readonly isOpen: boolean
  readonly onToggle: (isOpen: boolean) => void
}

/** The latest runs of the val, and the logs of one of them, below the code. */
export function LogDrawer(props: Props) {
  const { editing, run, requests, recent, isOpen, onToggle } = props
  const selected = useSignal<string | undefined>(undefined)
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
  }, [newest, run.state.kind, isOpen])
  usePoll(pollMs, () => (isOpen ? recent.refresh() : undefined))
  const runs = recent.runs.value
  const shown = selected.value ?? newest ?? runs[0]?.id
  // The request whose status is beside the code, which other requests may follow.
  const marked = runs.find(({ id }) => id === requests.run.value?.id) ?? runs[0]
  const what = editing.files.started.value?.type.value === "http" ? "Requests" : "Runs"
  return (
    <section id={drawerId} class="log-drawer" aria-label={`${what} and logs`}>
      <div class="row drawer-bar">
        <button
          type="button"
          class="bare drawer-toggle"
          aria-expanded={isOpen}
          aria-controls={`${drawerId}-body`}
          onClick={() => onToggle(!isOpen)}
        >
          <Icon name="chevron" /> {what} and logs
        </button>
        {marked && !isOpen ? <RunMarks run={marked} /> : null}
      </div>
      <div id={`${drawerId}-body`} class="fill drawer-body" hidden={!isOpen}>
        {runs.length === 0 && shown === undefined ? (
          <p class="quiet drawer-empty">
            {what === "Requests" ? "Requests to the val" : "Runs of the val"} appear here, with
            their logs.
          </p>
        ) : null}
        <ol class="drawer-runs">
          {runs.map((listed) => (
            <li key={listed.id}>
              <button
                type="button"
                class="bare drawer-run"
                aria-pressed={listed.id === shown}
                onClick={() => {
                  selected.value = listed.id
                }}
              >
                <RunMarks run={listed} />
              </button>
            </li>
          ))}
        </ol>
        {isOpen && shown !== undefined ? (
          <div class="column drawer-logs">
            <Logs run={run} id={shown} />
          </div>
        ) : null}
      </div>
    </section>
  )
}

function RunMarks({ run }: { run: ListedRun }) {
  const { durationMs, runStartAt, error, lastLine } = run
  const line = error ? `${error.name}: ${error.message}` : (lastLine ?? "")
  return (
    <span class="row drawer-marks">
      <span class={isFailure(run) ? "drawer-what bad" : "drawer-what"}>{toRunText(run)}</span>
      <span class="drawer-line quiet" title={line}>
        {line}
      </span>
      <span class="quiet">{durationMs === null ? "" : toDuration(durationMs)}</span>
      <TimeAgo at={runStartAt} class="quiet" />
    </span>
  )
}

/** The run that was started here is followed already. */
function Logs({ run: { state }, id }: Pick<Props, "run"> & { id: string }) {
  if (state.kind === "running" && state.id === id)
    return <LogView lines={state.logs} isLive isTruncated={false} />
  if (state.kind === "ended" && state.run.id === id) return <RunLog run={state.run} />
  return <RunLogs key={id} runId={id} />
}
