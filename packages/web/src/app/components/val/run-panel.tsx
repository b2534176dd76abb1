import { Icon } from "../../../ui/icon.tsx"
import { toDuration } from "../../model/time.ts"
import { sayFailed } from "../../state/toasts.ts"
import type { ValRun } from "../../state/val-run.ts"
import { StatusBadge } from "../badges.tsx"
import { LogView } from "../log-view.tsx"
import { EmptyState, Failure } from "../page-states.tsx"
import { RunErrorView } from "../run-error-view.tsx"
import { ValueView } from "../value-view.tsx"

/** Runs the val with arguments and shows what comes of it while it runs. */
export function RunPanel(props: {
  readonly run: ValRun
  readonly isDirty: boolean
  readonly onStart: () => void
  readonly onGoTo: (line: number) => void
}) {
  const { run, isDirty, onStart } = props
  const isGoing = run.state.kind === "starting" || run.state.kind === "running"
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
        {isGoing ? (
          <button
            type="button"
            class="button button-quiet"
            disabled={run.state.kind === "starting"}
            onClick={() => void run.cancel().catch(sayFailed)}
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
          What it logs appears here while it runs, then what it returns. <kbd>Ctrl</kbd>{" "}
          <kbd>Enter</kbd> runs it from the editor.
        </p>
      </EmptyState>
    )
  if (state.kind === "refused") return <Failure error={state.error} />
  if (state.kind === "starting") return <p class="run-line quiet">Starting…</p>
  const run = state.kind === "ended" ? state.run : undefined
  return (
    <div class="run-outcome">
      <p class="run-line">
        <StatusBadge status={run?.status ?? "running"} />
        {run ? <span class="quiet">{toDuration(run.durationMs)}</span> : null}
        {state.kind === "running" && state.isLost ? (
          <span class="quiet">The server does not answer; trying again…</span>
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
      <section class="run-logs" aria-label="Logs">
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
