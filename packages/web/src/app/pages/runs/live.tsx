import { useSignal } from "@preact/signals"
import { useMemo } from "preact/hooks"
import { EmptyState, FailureState } from "../../../ui/page-states.tsx"
import { explain } from "../../data/explain.ts"
import { currentLocation, setQuery } from "../../frame/location.ts"
import { Button } from "../../parts/buttons/button.tsx"
import { PageHead } from "../../parts/page-head.tsx"
import { toValName } from "../../runs/list/run-kinds.ts"
import { useChosenVal, ValFilter } from "../../runs/list/val-filter.tsx"
import { type LiveLogs, useLiveLogs } from "../../runs/live/follow-account.ts"
import type { LiveLine, LiveLog } from "../../runs/live/live-log.ts"
import { LogView } from "../../runs/log-view.tsx"

/** The logs of all runs of the account, as they are written. */
export function Page() {
  const logs = useLiveLogs()
  const paused = useSignal<LiveLog | undefined>(undefined)
  const name = currentLocation.value.query.get("val")
  const log = paused.value ?? logs.log.value
  const lines = useMemo(
    () => (name === null ? log.lines : log.lines.filter(({ val }) => toValName(val) === name)),
    [log, name],
  )
  const names = useValNames(log, name)
  const state = logs.state.value
  const newCount = paused.value ? logs.log.value.total - paused.value.total : 0
  return (
    <>
      <PageHead title="Live logs" end={<a href="/runs">All runs</a>} />
      <div class="row wrap toolbar">
        <ValFilter vals={names} name={name} />
        <Button
          kind="quiet"
          icon={paused.value ? "play" : "pause"}
          aria-pressed={paused.value !== undefined}
          onClick={() => {
            paused.value = paused.value ? undefined : logs.log.peek()
          }}
        >
          {paused.value ? "Resume" : "Pause"}
        </Button>
        {newCount > 0 ? <span class="quiet">{toLines(newCount)} waiting</span> : null}
        <Connection logs={logs} isPaused={paused.value !== undefined} />
      </div>
      {logs.skipped.value > 0 ? (
        <p class="quiet">
          {toLines(logs.skipped.value)} arrived too fast and are not shown here. They are in the
          logs of their runs.
        </p>
      ) : null}
      {state.kind === "failed" ? (
        <FailureState message={explain(state.error)} onRetry={() => logs.start()} />
      ) : lines.length > 0 ? (
        <div class="live-log">
          <LogView
            lines={lines}
            isLive={paused.value === undefined}
            isTruncated={false}
            toOrigin={toOrigin}
          />
        </div>
      ) : name === null ? (
        <EmptyState icon="logs" title="Nothing has been logged yet">
          <p>Lines appear here as soon as one of your vals logs them.</p>
        </EmptyState>
      ) : (
        <EmptyState icon="search" title={`Nothing from ${name} yet`}>
          <Button kind="quiet" onClick={() => setQuery({ val: undefined })}>
            Show all vals
          </Button>
        </EmptyState>
      )}
    </>
  )
}

/** Whether new lines arrive. */
function Connection({ logs, isPaused }: { readonly logs: LiveLogs; readonly isPaused: boolean }) {
  const { kind } = logs.state.value
  const isLive = kind === "open" && !isPaused
  return (
    <span class="quiet live" role="status">
      {isLive ? <span class="dot live-dot" /> : null}{" "}
      {isLive ? "live" : kind === "open" ? "paused" : kind === "failed" ? "" : "connecting…"}
    </span>
  )
}

/** The user's vals, and the others that have logged something. */
function useValNames(log: LiveLog, name: string | null) {
  const { vals } = useChosenVal(name, true)
  return useMemo(() => {
    const names = new Set(
      [...vals, ...log.lines.map(({ val }) => ({ name: toValName(val) }))].map((val) => val.name),
    )
    return [...names].sort().map((name) => ({ name }))
  }, [vals, log])
}

function toOrigin({ runId, val }: LiveLine) {
  const label = toValName(val)
  return { label, title: `Open the run of ${label}`, href: `/runs/${runId}` }
}

function toLines(count: number): string {
  return count === 1 ? "1 line" : `${count.toLocaleString("en")} lines`
}
