import { Bars } from "../../ui/page-states.tsx"
import { Loaded } from "../data/loaded.tsx"
import { ExchangeView } from "./exchange-view.tsx"
import { type RunDetail, useFollowedRun } from "./followed-run.ts"
import { LogView } from "./log-view.tsx"
import { RunActions } from "./run-actions.tsx"
import { RunErrorView } from "./run-error-view.tsx"
import { ValueView } from "./value-view.tsx"

/** A run in place: its error, its logs, its request and response, and what can be done with it. */
export function RunDetails(props: {
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
  const isLive = run.status === "queued" || run.status === "running"
  const hasLogs = run.logs.length > 0 || isLive
  return (
    <div class="run-details">
      {run.error ? <RunErrorView error={run.error} /> : null}
      {hasLogs || !run.error ? (
        <LogView
          lines={run.logs}
          isLive={isLive}
          isTruncated={run.logsTruncated}
          omitted={run.logsOmitted}
        />
      ) : null}
      <ExchangeView run={run} />
      {Array.isArray(run.args) && run.args.length > 0 ? (
        <Value title="Arguments" value={run.args} />
      ) : null}
      {run.status === "succeeded" && run.request === null ? (
        <Value title="Returned" value={run.returnValue} />
      ) : null}
      <div class="run-actions">
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
      <h3 class="message-title">{title}</h3>
      <ValueView value={value} />
    </section>
  )
}
