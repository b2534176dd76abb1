import { Icon } from "../../../ui/icon.tsx"
import { EmptyState, FailureState } from "../../../ui/page-states.tsx"
import { toDuration } from "../../../ui/units.ts"
import { explain } from "../../data/explain.ts"
import { showError } from "../../frame/toast-list.ts"
import { StatusBadge } from "../../parts/badges.tsx"
import { LogView } from "../../runs/log-view.tsx"
import { RunErrorView } from "../../runs/run-error-view.tsx"
import { ValueView } from "../../runs/value-view.tsx"
import type { ValRun } from "./val-run.ts"

/** Runs the val with arguments and shows its logs and its result. */
export function RunPanel(props: {
  readonly run: ValRun
  readonly isDirty: boolean
  readonly onStart: () => void
  readonly onGoTo: (line: number) => void
}) {
  const { run, isDirty, onStart } = props
  const isRunning = run.state.kind === "starting" || run.state.kind === "running"
  return (
    <div class="side-body">
      <form
        class="run-form"
        onSubmit={(event) => {
          event.preventDefault()
          onStart()
        }}
      >
        <input
          class="input input-mono"
          aria-label="Arguments as JSON"
          placeholder='Arguments as JSON: [6, 3] or "one"'
          spellcheck={false}
          autocomplete="off"
          value={run.args}
          onInput={(event) => run.setArgs(event.currentTarget.value)}
        />
        {isRunning ? (
          <button
            type="button"
            class="button button-quiet"
            disabled={run.state.kind === "starting"}
            onClick={() => void run.cancel().catch(showError)}
          >
            <Icon name="stop" /> Cancel
          </button>
        ) : (
          <button type="submit" class="button" title="Ctrl Enter">
            <Icon name="play" /> {isDirty ? "Save and run" : "Run"}
          </button>
        )}
      </form>
      <Outcome {...props} />
    </div>
  )
}

function Outcome({ run: { state }, onGoTo }: { run: ValRun; onGoTo: (line: number) => void }) {
  if (state.kind === "none")
    return (
      <EmptyState icon="play" title="Not run yet">
        <p>
          Its logs appear here while it runs, then the returned value. <kbd>Ctrl</kbd>{" "}
          <kbd>Enter</kbd> runs it from the editor.
        </p>
      </EmptyState>
    )
  if (state.kind === "refused") return <FailureState message={explain(state.error)} />
  if (state.kind === "starting") return <p class="run-line quiet">Starting…</p>
  const run = state.kind === "ended" ? state.run : undefined
  return (
    <div class="run-outcome">
      <p class="run-line">
        <StatusBadge status={run?.status ?? "running"} />
        {run ? <span class="quiet">{toDuration(run.durationMs)}</span> : null}
        {state.kind === "running" && state.isLost ? (
          <span class="quiet">The server does not respond; trying again…</span>
        ) : null}
        <a class="run-link" href={`/runs/${state.kind === "ended" ? state.run.id : state.id}`}>
          Open the run
        </a>
      </p>
      {run?.error ? <RunErrorView error={run.error} onGoTo={onGoTo} /> : null}
      {run?.status === "succeeded" ? (
        <section aria-label="Return value">
          <h3 class="run-label">Returned</h3>
          <ValueView value={run.returnValue} />
        </section>
      ) : null}
      <section aria-label="Logs">
        <h3 class="run-label">Logs</h3>
        <LogView
          lines={state.kind === "ended" ? state.run.logs : state.logs}
          isLive={!run}
          isTruncated={run?.logsTruncated ?? false}
        />
      </section>
    </div>
  )
}
