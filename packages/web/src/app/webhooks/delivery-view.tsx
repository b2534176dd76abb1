import type { Output } from "@hamlet/contract/client"
import { CodeBlock } from "../../ui/code/code-block.tsx"
import { formatBody } from "../../ui/code/print-json.ts"
import { Icon } from "../../ui/icon.tsx"
import { HeaderList, StatusCode } from "../../ui/response-view.tsx"
import { toDuration } from "../../ui/units.ts"
import { api } from "../api.ts"
import { showDone } from "../frame/toast-list.ts"
import { DataTable } from "../parts/data-table.tsx"
import { Section } from "../parts/section.tsx"
import { toMoment } from "../parts/time.ts"
import { TimeAgo } from "../parts/time-ago.tsx"
import { useAction } from "../parts/use-action.ts"
import { DeliveryBadge } from "./webhook-marks.tsx"

type DeliveryDetail = Output<"getDelivery">

/** A delivery: the request, the response of the last attempt, and all attempts. */
export function DeliveryView(props: { delivery: DeliveryDetail; onChange: () => void }) {
  const { delivery, onChange } = props
  const { request, response, runId } = delivery
  const { isBusy, run } = useAction()
  const send = async () => {
    await api.retryDelivery({ webhook_id: delivery.webhookId, delivery_id: delivery.id })
    showDone("The event is sent again")
    onChange()
  }
  return (
    <>
      <div class="page-head">
        <h1>{delivery.type}</h1>
        <DeliveryBadge status={delivery.status} />
        <div class="page-head-end">
          <a class="button button-quiet" href={`/webhooks/${delivery.webhookId}`}>
            All deliveries
          </a>
          <button type="button" class="button" disabled={isBusy} onClick={() => void run(send)}>
            <Icon name="refresh" /> Send again
          </button>
        </div>
      </div>
      {delivery.error === null ? null : <p class="bad reason">{delivery.error}</p>}
      <dl class="facts">
        <Fact name="Created" text={toMoment(delivery.createdAt)} />
        {delivery.endedAt ? <Fact name="Ended" text={toMoment(delivery.endedAt)} /> : null}
        {delivery.nextAttemptAt ? (
          <Fact name="Next attempt" text={toMoment(delivery.nextAttemptAt)} />
        ) : null}
        {runId ? <Fact name="Run" text={runId.slice(-8)} href={`/runs/${runId}`} /> : null}
      </dl>
      <Section title="Request">
        {request ? (
          <>
            <p class="delivery-line">
              <strong>POST</strong> {request.url}
            </p>
            <HeaderList headers={request.headers} />
          </>
        ) : null}
        <Body text={delivery.payload} type="application/json" label="Request body" />
      </Section>
      {response ? (
        <Section title="Response">
          <p class="run-line">
            <StatusCode status={response.status} statusText="" />
            <span class="quiet">{toDuration(response.durationMs)}</span>
          </p>
          <HeaderList headers={response.headers} />
          <Body text={response.body} type={findType(response.headers)} label="Response body" />
          {response.isTruncated ? <p class="quiet">The rest is not stored.</p> : null}
        </Section>
      ) : null}
      <Attempts attempts={delivery.attemptList} />
    </>
  )
}

function findType(headers: readonly (readonly [string, string])[]): string {
  return headers.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? ""
}

function Attempts({ attempts }: { attempts: DeliveryDetail["attemptList"] }) {
  if (attempts.length === 0) return null
  return (
    <Section title="Attempts">
      <DataTable columns={{ At: "", Outcome: "", Took: "table-number" }}>
        {attempts.map(({ at, status, error, durationMs }, index) => (
          <tr key={index}>
            <td class="quiet">
              <TimeAgo at={at} />
            </td>
            <td class="table-wide">
              {status === null ? null : <StatusCode status={status} statusText="" />}{" "}
              {error === null ? null : <span class="bad">{error}</span>}
            </td>
            <td class="table-number quiet">{toDuration(durationMs)}</td>
          </tr>
        ))}
      </DataTable>
    </Section>
  )
}

function Body({ text, type, label }: { text: string; type: string; label: string }) {
  if (text === "") return <p class="quiet">No body</p>
  const { text: shown, kind } = formatBody(text, type)
  return (
    <div class="delivery-body">
      <CodeBlock code={shown} language={kind} label={label} isWrapped />
    </div>
  )
}

function Fact({ name, text, href }: { name: string; text: string; href?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{href ? <a href={href}>{text}</a> : text}</dd>
    </div>
  )
}
