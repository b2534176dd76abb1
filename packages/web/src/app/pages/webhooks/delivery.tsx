import type { Output } from "@hamlet/contract/client"
import { CodeBlock } from "../../../ui/code/code-block.tsx"
import { formatBody } from "../../../ui/code/print-json.ts"
import { useTitle } from "../../../ui/page-states.tsx"
import { findHeader, HeaderList, StatusCode } from "../../../ui/response-view.tsx"
import { toDuration } from "../../../ui/units.ts"
import { api } from "../../api.ts"
import { Loaded } from "../../data/loaded.tsx"
import { usePoll } from "../../data/poll.ts"
import { useResource } from "../../data/resource.ts"
import { showDone } from "../../frame/toast-list.ts"
import type { PageProps } from "../../page-props.ts"
import { Button } from "../../parts/buttons/button.tsx"
import { DataTable } from "../../parts/lists/data-table.tsx"
import { Facts } from "../../parts/lists/facts.tsx"
import { Section } from "../../parts/section.tsx"
import { toMoment } from "../../parts/time.ts"
import { TimeAgo } from "../../parts/time-ago.tsx"
import { DeliveryBadge } from "../../webhooks/webhook-marks.tsx"

const pollMs = 2_000

/** One event that a webhook has sent, with request and response. */
export function Page({ webhookId = "", deliveryId = "" }: PageProps) {
  useTitle("Delivery")
  const delivery = useResource(`${webhookId} ${deliveryId}`, (signal) =>
    api.getDelivery({ webhook_id: webhookId, delivery_id: deliveryId }, { signal }),
  )
  const { state, reload, poll } = delivery
  usePoll(pollMs, () => {
    if (state.kind === "ready" && state.data.status === "waiting") poll()
  })
  return (
    <Loaded of={delivery}>{(data) => <DeliveryView delivery={data} onChange={reload} />}</Loaded>
  )
}

type DeliveryDetail = Output<"getDelivery">

/** A delivery: the request, the response of the last attempt, and all attempts. */
function DeliveryView(props: { delivery: DeliveryDetail; onChange: () => void }) {
  const { delivery, onChange } = props
  const { request, response, runId } = delivery
  const send = async () => {
    await api.retryDelivery({ webhook_id: delivery.webhookId, delivery_id: delivery.id })
    showDone("The event is sent again")
    onChange()
  }
  return (
    <>
      <div class="row wrap page-head">
        <h1>{delivery.type}</h1>
        <DeliveryBadge status={delivery.status} />
        <div class="row wrap page-head-end">
          <a class="button button-quiet" href={`/webhooks/${delivery.webhookId}`}>
            All deliveries
          </a>
          <Button icon="refresh" action={send}>
            Send again
          </Button>
        </div>
      </div>
      {delivery.error === null ? null : <p class="bad reason">{delivery.error}</p>}
      <Facts
        facts={[
          ["Created", toMoment(delivery.createdAt)],
          ["Ended", delivery.endedAt && toMoment(delivery.endedAt)],
          ["Next attempt", delivery.nextAttemptAt && toMoment(delivery.nextAttemptAt)],
          ["Run", runId?.slice(-8), `/runs/${runId}`],
        ]}
      />
      <Section title="Request">
        {request ? (
          <>
            <p class="breaks">
              <strong>POST</strong> {request.url}
            </p>
            <HeaderList headers={request.headers} />
          </>
        ) : null}
        <Body text={delivery.payload} type="application/json" label="Request body" />
      </Section>
      {response ? (
        <Section title="Response">
          <p class="row run-line">
            <StatusCode status={response.status} statusText="" />
            <span class="quiet">{toDuration(response.durationMs)}</span>
          </p>
          <HeaderList headers={response.headers} />
          <Body
            text={response.body}
            type={findHeader(response.headers, "content-type")}
            label="Response body"
          />
          {response.isTruncated ? <p class="quiet">The rest is not stored.</p> : null}
        </Section>
      ) : null}
      <Attempts attempts={delivery.attemptList} />
    </>
  )
}

function Attempts({ attempts }: { attempts: DeliveryDetail["attemptList"] }) {
  if (attempts.length === 0) return null
  return (
    <Section title="Attempts">
      <DataTable
        rows={attempts}
        toKey={({ at }) => at}
        columns={[
          ["At", "quiet", ({ at }) => <TimeAgo at={at} />],
          [
            "Outcome",
            "table-wide",
            ({ status, error }) => (
              <>
                {status === null ? null : <StatusCode status={status} statusText="" />}{" "}
                {error === null ? null : <span class="bad">{error}</span>}
              </>
            ),
          ],
          ["Took", "table-number quiet", ({ durationMs }) => toDuration(durationMs)],
        ]}
      />
    </Section>
  )
}

function Body({ text, type, label }: { text: string; type: string; label: string }) {
  if (text === "") return <p class="quiet">No body</p>
  const { text: shown, kind } = formatBody(text, type)
  return (
    <div class="boxed delivery-body">
      <CodeBlock code={shown} language={kind} label={label} isWrapped />
    </div>
  )
}
