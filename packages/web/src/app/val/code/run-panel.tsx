import { useSignal } from "@preact/signals"
import { EmptyState, FailureState } from "../../../ui/page-states.tsx"
import { toDuration } from "../../../ui/units.ts"
import { explain } from "../../data/explain.ts"
import { StatusBadge } from "../../parts/badges.tsx"
import { type GoToStack, RunErrorView } from "../../runs/run-error-view.tsx"
import { ValueView } from "../../runs/value-view.tsx"
import { ArgumentForm } from "../editor/argument-form.tsx"
import { ElapsedTime } from "../preview/elapsed-time.tsx"
import { toHref } from "../to-href.ts"
import type { ValEditing } from "./val-editing.ts"
import type { RunState, ValRun } from "./val-run.ts"

/** The arguments of a run, and its result. Its logs are below the code. */
export function RunPanel(props: {
  readonly run: ValRun
  readonly editing: ValEditing
  readonly isOwn: boolean
  readonly onStart: () => void
  readonly onGoTo: GoToStack
}) {
  const { run, editing, isOwn, onStart, onGoTo } = props
  const started = editing.files.started.value
  return (
    <div class="column fill side-body">
      <form
        class="run-form"
        onSubmit={(event) => {
          event.preventDefault()
          onStart()
        }}
      >
        <RunInput run={run} editing={editing} isOwn={isOwn} />
      </form>
      <Outcome state={run.file === started ? run.state : { kind: "none" }} onGoTo={onGoTo} />
    </div>
  )
}

function RunInput(props: Pick<Parameters<typeof RunPanel>[0], "run" | "editing" | "isOwn">) {
  const { run, editing, isOwn } = props
  const type = editing.files.started.value?.type.value
  if (type === "interval")
    return (
      <>
        <p class="quiet">A run from here gets the times of its schedule, as if it were due now.</p>
        <button type="submit" class="button button-quiet button-small run-now">
          Run now
        </button>
      </>
    )
  if (type === "email" && isOwn)
    return (
      <p class="quiet">
        Run sends the test message “{run.message.subject}”.{" "}
        <a href={toHref(editing, "mail")}>Change it</a>
      </p>
    )
  return <ArgumentForm editing={editing} value={run.args} onChange={(text) => run.setArgs(text)} />
}

function Outcome({ state, onGoTo }: { state: RunState; onGoTo: GoToStack }) {
  if (state.kind === "none")
    return (
      <EmptyState icon="play" title="Not run yet">
        <p>
          The returned value appears here, the logs below the code. <kbd>Ctrl</kbd> <kbd>Enter</kbd>{" "}
          saves and runs.
        </p>
      </EmptyState>
    )
  if (state.kind === "refused") return <FailureState message={explain(state.error)} />
  if (state.kind === "starting") return <p class="row run-line quiet">Starting…</p>
  const run = state.kind === "ended" ? state.run : undefined
  return (
    <div class="column fill run-outcome">
      <p class="row run-line">
        <StatusBadge status={run?.status ?? "running"} />
        {run ? <span class="quiet">{toDuration(run.durationMs)}</span> : null}
        {state.kind === "running" && state.isLost ? (
          <span class="quiet">The server does not respond; trying again…</span>
        ) : null}
        <a class="push small" href={`/runs/${state.kind === "ended" ? state.run.id : state.id}`}>
          Open the run
        </a>
      </p>
      {state.kind === "running" ? <Waiting key={state.id} /> : null}
      {run?.error ? <RunErrorView error={run.error} onGoTo={onGoTo} /> : null}
      {run?.status === "succeeded" ? (
        <section aria-label="Return value">
          <h2 class="run-label">Returned</h2>
          <ValueView value={run.returnValue} />
        </section>
      ) : null}
    </div>
  )
}

function Waiting() {
  const startedAt = useSignal(Date.now()).value
  return <ElapsedTime startedAt={startedAt} label="Running…" />
}
