import { useSignal } from "@preact/signals"
import { Icon } from "../../ui/icon.tsx"
import { api } from "../api.ts"
import { navigate } from "../frame/location.ts"
import { sayDone, sayFailed } from "../frame/toast-list.ts"
import { StatusBadge } from "../parts/badges.tsx"
import { toDuration, toMoment } from "../parts/time.ts"
import { EgressList } from "./egress-list.tsx"
import type { RunDetail } from "./followed-run.ts"
import { LogView } from "./log-view.tsx"
import { RunErrorView } from "./run-error-view.tsx"
import { isOfVal, sourceNames } from "./runs-table.tsx"
import { ValueView } from "./value-view.tsx"

/** Everything that is known of a run. */
export function RunView({ run, onChange }: { run: RunDetail; onChange: () => void }) {
  const isGoing = run.status === "running" || run.status === "queued"
  const { val } = run
  return (
    <>
      <div class="page-head">
        <h1>
          Run of{" "}
          {isOfVal(run) ? (
            <a href={`/u/${val.username}/${val.name}`}>
              {val.username === val.author.username ? val.name : `${val.username}/${val.name}`}
            </a>
          ) : (
            val.name
          )}
        </h1>
        <StatusBadge status={run.status} />
        <div class="page-head-end">
          <RunActions run={run} isGoing={isGoing} onChange={onChange} />
        </div>
      </div>
      <dl class="facts">
        <Fact name="Started" value={toMoment(run.runStartAt)} />
        <Fact name="Took" value={isGoing ? "still running" : toDuration(run.durationMs)} />
        <Fact name="Source" value={sourceNames[run.source]} />
        {isOfVal(run) ? (
          <Fact
            name="Version"
            value={`v${val.version}`}
            href={`/u/${val.username}/${val.name}/versions?to=${val.version}`}
          />
        ) : null}
        {run.request ? (
          <Fact name="Request" value={`${run.request.method} ${run.request.url}`} />
        ) : null}
        {run.request?.status ? <Fact name="Answer" value={String(run.request.status)} /> : null}
        {run.parentId ? (
          <Fact name="Called by" value={run.parentId.slice(-8)} href={`/runs/${run.parentId}`} />
        ) : null}
      </dl>
      {run.error ? (
        <section class="section">
          <RunErrorView error={run.error} />
        </section>
      ) : null}
      <section class="section" aria-labelledby="logs">
        <div class="section-head">
          <h2 id="logs">Logs</h2>
        </div>
        <LogView lines={run.logs} isLive={isGoing} isTruncated={run.logsTruncated} />
      </section>
      <Values run={run} />
      {run.egress ? <EgressList egress={run.egress} /> : null}
    </>
  )
}

function Values({ run }: { run: RunDetail }) {
  const hasArgs = Array.isArray(run.args)
    ? run.args.length > 0
    : run.args !== null && run.args !== undefined
  return (
    <>
      {hasArgs ? (
        <section class="section" aria-labelledby="args">
          <div class="section-head">
            <h2 id="args">Arguments</h2>
          </div>
          <ValueView value={run.args} />
        </section>
      ) : null}
      {run.status === "succeeded" && run.request === null ? (
        <section class="section" aria-labelledby="returned">
          <div class="section-head">
            <h2 id="returned">Returned</h2>
          </div>
          <ValueView value={run.returnValue} />
        </section>
      ) : null}
    </>
  )
}

function RunActions({
  run,
  isGoing,
  onChange,
}: {
  run: RunDetail
  isGoing: boolean
  onChange: () => void
}) {
  const isBusy = useSignal(false)
  const attempt = async (action: () => Promise<void>) => {
    isBusy.value = true
    try {
      await action()
    } catch (error) {
      sayFailed(error)
    } finally {
      isBusy.value = false
    }
  }
  const replay = () =>
    attempt(async () => {
      const { id } = await api.replayRun({ run_id: run.id }, { respondAsync: true })
      sayDone("The same version runs again with the same input")
      navigate(`/runs/${id}`)
    })
  const cancel = () =>
    attempt(async () => {
      const { found } = await api.cancelRun({ run_id: run.id })
      sayDone(found ? "Cancelled" : "It had ended already")
      onChange()
    })
  // The code that was run is not kept.
  if (!isGoing && !isOfVal(run)) return null
  return isGoing ? (
    <button
      type="button"
      class="button button-quiet"
      disabled={isBusy.value}
      onClick={() => void cancel()}
    >
      <Icon name="stop" /> Cancel
    </button>
  ) : (
    <button
      type="button"
      class="button button-quiet"
      disabled={isBusy.value}
      onClick={() => void replay()}
    >
      <Icon name="refresh" /> Replay
    </button>
  )
}

function Fact({ name, value, href }: { name: string; value: string; href?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{href ? <a href={href}>{value}</a> : value}</dd>
    </div>
  )
}
