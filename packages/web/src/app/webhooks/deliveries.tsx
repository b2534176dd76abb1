import type { Item } from "@hamlet/contract/client"
import { useEffect } from "preact/hooks"
import { EmptyState } from "../../ui/page-states.tsx"
import { LoadedPages } from "../data/loaded.tsx"
import { usePages } from "../data/pages.ts"
import { usePoll } from "../data/poll.ts"
import { currentLocation, setQuery } from "../frame/location.ts"
import { DataTable } from "../parts/data-table.tsx"
import { Select } from "../parts/field.tsx"
import { Section } from "../parts/section.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import { DeliveryBadge } from "./webhook-marks.tsx"

type Delivery = Item<"listDeliveries">

const pollMs = 2_000

const statuses = [
  { value: "", label: "Any outcome" },
  { value: "waiting", label: "Waiting" },
  { value: "delivered", label: "Delivered" },
  { value: "failed", label: "Failed" },
] as const

/** The events that a webhook has sent, the newest first. They appear by themselves. */
export function Deliveries(props: {
  readonly webhookId: string
  /** A new number fetches the list at once. */
  readonly sentCount: number
}) {
  const { webhookId, sentCount } = props
  const wanted = currentLocation.value.query.get("status")
  const status = statuses.find(({ value }) => value === wanted)?.value ?? ""
  const deliveries = usePages("listDeliveries", {
    webhook_id: webhookId,
    ...(status === "" ? {} : { status }),
  })
  usePoll(pollMs, deliveries.refresh)
  useEffect(() => {
    if (sentCount > 0) void deliveries.refresh()
  }, [sentCount])
  return (
    <Section
      title="Deliveries"
      end={
        <Select
          label="Outcome"
          isLabelHidden
          value={status}
          choices={statuses}
          onChange={(status) => setQuery({ status })}
        />
      }
    >
      <LoadedPages
        of={deliveries}
        rows={4}
        empty={
          <EmptyState icon="history" title={status === "" ? "Nothing sent yet" : "None of these"}>
            <p>Each event appears here with the request and the response.</p>
          </EmptyState>
        }
      >
        {(items) => (
          <DataTable
            columns={{
              Outcome: "",
              Event: "",
              Response: "only-wide",
              Attempts: "only-wide table-number",
              Created: "table-number",
            }}
          >
            {items.map((delivery) => (
              <Row key={delivery.id} delivery={delivery} />
            ))}
          </DataTable>
        )}
      </LoadedPages>
    </Section>
  )
}

function Row({ delivery }: { delivery: Delivery }) {
  const { id, webhookId, type, status, attempts, responseStatus, error, createdAt } = delivery
  return (
    <tr>
      <td>
        <DeliveryBadge status={status} />
      </td>
      <td class="table-wide">
        <a class="table-name row-link" href={`/webhooks/${webhookId}/${id}`}>
          {type}
        </a>
        {error === null ? null : <span class="run-reason">{error}</span>}
      </td>
      <td class="only-wide quiet">{responseStatus ?? "—"}</td>
      <td class="only-wide table-number quiet">{attempts}</td>
      <td class="table-number quiet">
        <TimeAgo at={createdAt} />
      </td>
    </tr>
  )
}
