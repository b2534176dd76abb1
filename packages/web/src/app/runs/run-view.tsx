import { toDuration } from "../../ui/units.ts"
import { EmailList } from "../mail/email-list.tsx"
import { IncomingMail } from "../mail/incoming-mail.tsx"
import { StatusBadge } from "../parts/badges.tsx"
import { Section } from "../parts/section.tsx"
import { toMoment } from "../parts/time.ts"
import { EgressList } from "./egress-list.tsx"
import { ExchangeView } from "./exchange-view.tsx"
import type { RunDetail } from "./followed-run.ts"
import { isOfVal, sourceNames } from "./list/run-kinds.ts"
import { LogView } from "./log-view.tsx"
import { RunActions } from "./run-actions.tsx"
import { RunErrorView } from "./run-error-view.tsx"
import { ValueView } from "./value-view.tsx"

/** All details of a run. */
export function RunView({ run, onChange }: { run: RunDetail; onChange: () => void }) {
  const isRunning = run.status === "running" || run.status === "queued"
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
          <RunActions run={run} onChange={onChange} />
        </div>
      </div>
      <dl class="facts">
        {run.status === "queued" ? (
          <Fact name="Queued" value={toMoment(run.runStartAt)} />
        ) : (
          <>
            <Fact name="Started" value={toMoment(run.runStartAt)} />
            <Fact name="Took" value={isRunning ? "still running" : toDuration(run.durationMs)} />
          </>
        )}
        {run.attempt > 1 ? <Fact name="Attempt" value={String(run.attempt)} /> : null}
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
        {run.request?.status ? <Fact name="Response" value={String(run.request.status)} /> : null}
        {run.parentId ? (
          <Fact name="Replay of" value={run.parentId.slice(-8)} href={`/runs/${run.parentId}`} />
        ) : null}
      </dl>
      {run.email ? <IncomingMail mail={run.email} /> : null}
      {run.error ? (
        <section class="section">
          <RunErrorView error={run.error} />
        </section>
      ) : null}
      <Section title="Logs">
        <LogView
          lines={run.logs}
          isLive={isRunning}
          isTruncated={run.logsTruncated}
          omitted={run.logsOmitted}
        />
      </Section>
      {run.request ? (
        <Section title="Request and response">
          <ExchangeView run={run} />
        </Section>
      ) : null}
      {(Array.isArray(run.args) ? run.args.length > 0 : (run.args ?? null) !== null) ? (
        <Section title="Arguments">
          <ValueView value={run.args} />
        </Section>
      ) : null}
      {run.status === "succeeded" && run.request === null ? (
        <Section title="Returned">
          <ValueView value={run.returnValue} />
        </Section>
      ) : null}
      {run.emails.length > 0 ? <EmailList emails={run.emails} onChange={onChange} /> : null}
      {run.egress ? <EgressList egress={run.egress} /> : null}
    </>
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
