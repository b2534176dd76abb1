import { useTitle } from "../../../ui/page-states.tsx"
import { toBytes, toDuration } from "../../../ui/units.ts"
import { Loaded } from "../../data/loaded.tsx"
import { EmailTable } from "../../mail/email-list.tsx"
import type { PageProps } from "../../page-props.ts"
import { StatusBadge } from "../../parts/badges.tsx"
import { DataTable } from "../../parts/lists/data-table.tsx"
import { type Fact, Facts } from "../../parts/lists/facts.tsx"
import { Section } from "../../parts/section.tsx"
import { toMoment } from "../../parts/time.ts"
import { ExchangeView } from "../../runs/exchange-view.tsx"
import { type RunDetail, useFollowedRun } from "../../runs/followed-run.ts"
import { isGoingOn, isOfVal, sourceNames } from "../../runs/list/run-kinds.ts"
import { RunLog } from "../../runs/log-view.tsx"
import { RunActions } from "../../runs/run-actions.tsx"
import { RunErrorView } from "../../runs/run-error-view.tsx"
import { ValueView } from "../../runs/value-view.tsx"

/** One run with all recorded details. */
export function Page({ runId = "" }: PageProps) {
  const run = useFollowedRun(runId)
  useTitle(run.state.kind === "ready" ? `Run of ${run.state.data.val.name}` : "Run")
  return <Loaded of={run}>{(data) => <RunView run={data} onChange={run.reload} />}</Loaded>
}

function RunView({ run, onChange }: { run: RunDetail; onChange: () => void }) {
  const { val } = run
  return (
    <>
      <div class="row wrap page-head">
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
        <div class="row wrap page-head-end">
          <RunActions run={run} onChange={onChange} />
        </div>
      </div>
      <Facts facts={toFacts(run)} />
      {run.email ? <IncomingMail mail={run.email} /> : null}
      {run.error ? (
        <section class="section">
          <RunErrorView error={run.error} />
        </section>
      ) : null}
      <Section title="Logs">
        <RunLog run={run} />
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
      {run.emails.length > 0 ? (
        <Section title="Outgoing mail">
          <EmailTable emails={run.emails} onChange={onChange} />
        </Section>
      ) : null}
      {run.egress ? <EgressList egress={run.egress} /> : null}
    </>
  )
}

function toFacts(run: RunDetail): readonly Fact[] {
  const { val, request, parentId } = run
  const startedAt = toMoment(run.runStartAt)
  const took = isGoingOn(run) ? "still running" : toDuration(run.durationMs)
  return [
    ...(run.status === "queued"
      ? ([["Queued", startedAt]] as const)
      : ([
          ["Started", startedAt],
          ["Took", took],
        ] as const)),
    ["Attempt", run.attempt > 1 ? String(run.attempt) : null],
    ["Source", sourceNames[run.source]],
    [
      "Version",
      isOfVal(run) ? `v${val.version}` : null,
      `/u/${val.username}/${val.name}/versions?to=${val.version}`,
    ],
    ["Request", request && `${request.method} ${request.url}`],
    ["Response", request?.status ? String(request.status) : null],
    ["Replay of", parentId?.slice(-8), `/runs/${parentId}`],
  ]
}

/** The mail that started a run, and what the checks of its sender found. */
function IncomingMail({ mail }: { mail: NonNullable<RunDetail["email"]> }) {
  const { from, to, subject, bytes, attachments, isTest, auth } = mail
  const { spf, dkim, dmarc, isFromVerified } = auth
  return (
    <Section title={isTest ? "Test message" : "Incoming mail"}>
      <Facts
        facts={[
          ["From", isTest || isFromVerified ? from : `${from} (not verified)`],
          ["To", to],
          ["Subject", subject ?? "(no subject)"],
          ["Size", toBytes(bytes)],
          ["Attachments", attachments > 0 ? String(attachments) : null],
          ["Sender checks", isTest ? null : `SPF ${spf}, DKIM ${dkim}, DMARC ${dmarc}`],
        ]}
      />
    </Section>
  )
}

/** The requests that a run sent. */
function EgressList({ egress }: { egress: NonNullable<RunDetail["egress"]> }) {
  const { requests, blocked, bytesSent, bytesReceived, list } = egress
  const count = `${requests} sent${blocked > 0 ? `, ${blocked} blocked` : ""}`
  const size = `${toBytes(bytesSent)} out, ${toBytes(bytesReceived)} in`
  const rows = list.map((request, index) => ({ ...request, id: index }))
  return (
    <Section
      title="Outgoing requests"
      end={
        <span class="quiet">
          {count}; {size}
        </span>
      }
    >
      <DataTable
        rows={rows}
        columns={[
          [
            "Request",
            "table-wide",
            ({ method, url, blocked }) => (
              <span title={url}>
                <strong>{method}</strong> {url}
                {blocked === null ? null : <span class="small run-reason">{blocked}</span>}
              </span>
            ),
          ],
          [
            "Response",
            "",
            ({ method, status, blocked }) =>
              blocked === null ? (
                (status ?? (method === "CONNECT" ? "connected" : "none"))
              ) : (
                <span class="bad">blocked</span>
              ),
          ],
          ["Sent", "only-wide table-number quiet", (request) => toBytes(request.bytesSent)],
          ["Received", "only-wide table-number quiet", (request) => toBytes(request.bytesReceived)],
          ["Took", "table-number quiet", ({ durationMs }) => toDuration(durationMs)],
        ]}
        isScrolling
      />
      {list.length < requests ? (
        <p class="quiet">The first {list.length} of them are shown.</p>
      ) : null}
    </Section>
  )
}
