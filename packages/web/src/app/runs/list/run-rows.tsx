import { useSignal } from "@preact/signals"
import { useId } from "preact/hooks"
import { Icon } from "../../../ui/icon.tsx"
import { Bars } from "../../../ui/page-states.tsx"
import { toDuration } from "../../../ui/units.ts"
import { Loaded } from "../../data/loaded.tsx"
import { TimeAgo } from "../../parts/time-ago.tsx"
import { ExchangeView } from "../exchange-view.tsx"
import { type RunDetail, useFollowedRun } from "../followed-run.ts"
import { RunLog } from "../log-view.tsx"
import { RunActions } from "../run-actions.tsx"
import { RunErrorView } from "../run-error-view.tsx"
import { ValueView } from "../value-view.tsx"
import { isGoingOn, isOfVal, toValName } from "./run-kinds.ts"
import { RunResult } from "./run-result.tsx"
import { isFailure, type RunItem, toRunTitle } from "./run-title.ts"

interface RunRowsProps {
  readonly runs: readonly RunItem[]
  /** Whether a row names its val. */
  readonly hasVal: boolean
  /** For narrow places: without file, version and time of the start. */
  readonly isCompact?: boolean
  /** Called when a run was cancelled. */
  readonly onChange?: () => void
}

/** Runs, the newest first. A row opens in place. Success is quiet, failure is loud. */
export function RunRows({ runs, ...rest }: RunRowsProps) {
  return (
    <ul class={rest.isCompact ? "run-rows run-rows-compact" : "run-rows"} aria-label="Runs">
      {runs.map((run) => (
        <RunRow key={run.id} run={run} {...rest} />
      ))}
    </ul>
  )
}

function RunRow(props: Omit<RunRowsProps, "runs"> & { readonly run: RunItem }) {
  const { run, hasVal, isCompact = false, onChange } = props
  const isOpen = useSignal(false)
  const bodyId = useId()
  const kind = isFailure(run) ? "run-bad" : run.status === "succeeded" ? "run-good" : "run-open"
  return (
    <li class={`run-row ${kind}`}>
      <button
        type="button"
        class="row nowrap run-head"
        aria-expanded={isOpen.value}
        aria-controls={bodyId}
        onClick={() => {
          isOpen.value = !isOpen.value
        }}
      >
        <Icon name="chevron" />
        <Title run={run} />
        {hasVal ? <span class="ellipsis run-val">{toValName(run.val)}</span> : null}
        {isCompact ? null : (
          <span class="ellipsis run-file" title={run.file?.path}>
            {run.file?.path}
          </span>
        )}
        {isCompact || !isOfVal(run) ? null : <span class="run-version">v{run.val.version}</span>}
        <LastLine run={run} />
        <span class="run-took">{run.runEndAt === null ? "" : toDuration(run.durationMs)}</span>
        {isCompact ? null : (
          <span class="run-time">
            <TimeAgo at={run.runStartAt} />
          </span>
        )}
      </button>
      <div id={bodyId} class="run-body" hidden={!isOpen.value}>
        {isOpen.value ? <RunDetails runId={run.id} onChange={onChange} /> : null}
      </div>
    </li>
  )
}

function Title({ run }: { readonly run: RunItem }) {
  const { what } = toRunTitle(run)
  return (
    <span class="mono small run-title">
      {run.parentId ? <span class="run-mark">Replay</span> : null}
      <span class="ellipsis run-what" title={what}>
        {what}
      </span>
      <RunResult run={run} />
      {run.attempt > 1 ? <span class="run-mark">attempt {run.attempt}</span> : null}
    </span>
  )
}

/** The error of a run, or the last line that it has logged. */
function LastLine({ run }: { readonly run: RunItem }) {
  const { error, lastLine } = run
  const text = error ? `${error.name}: ${error.message}` : (lastLine ?? "")
  return (
    <span class={`ellipsis small run-last ${error ? "run-last-error" : ""}`} title={text}>
      {text}
    </span>
  )
}

/** A run in place: its error, its logs, its request and response, and what can be done with it. */
function RunDetails(props: {
  readonly runId: string
  readonly onChange?: (() => void) | undefined
}) {
  const run = useFollowedRun(props.runId)
  const change = () => {
    run.reload()
    props.onChange?.()
  }
  return (
    <Loaded of={run} skeleton={<Bars count={3} />}>
      {(data) => <Details run={data} onChange={change} />}
    </Loaded>
  )
}

function Details({ run, onChange }: { readonly run: RunDetail; readonly onChange: () => void }) {
  const hasLogs = run.logs.length > 0 || isGoingOn(run)
  return (
    <div class="run-details">
      {run.error ? <RunErrorView error={run.error} /> : null}
      {hasLogs || !run.error ? <RunLog run={run} /> : null}
      <ExchangeView run={run} />
      {Array.isArray(run.args) && run.args.length > 0 ? (
        <Value title="Arguments" value={run.args} />
      ) : null}
      {run.status === "succeeded" && run.request === null ? (
        <Value title="Returned" value={run.returnValue} />
      ) : null}
      <div class="row wrap run-actions">
        <a href={`/runs/${run.id}`}>Open the run</a>
        {run.parentId ? (
          <a href={`/runs/${run.parentId}`}>Replay of {run.parentId.slice(-8)}</a>
        ) : null}
        <RunActions run={run} onChange={onChange} />
      </div>
    </div>
  )
}

function Value({ title, value }: { readonly title: string; readonly value: unknown }) {
  return (
    <section class="message" aria-label={title}>
      <h2 class="breaks message-title">{title}</h2>
      <ValueView value={value} />
    </section>
  )
}
