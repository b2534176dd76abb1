import { useSignal } from "@preact/signals"
import { setTo } from "../../ui/bind.ts"
import { Icon } from "../../ui/icon.tsx"
import { EmptyState } from "../../ui/page-states.tsx"
import { useTitle } from "../../ui/page-title.ts"
import { LoadedPages } from "../data/loaded.tsx"
import { usePages } from "../data/pages.ts"
import { DataTable } from "../parts/data-table.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import { type NewWebhook, toTarget, type Webhook } from "../webhooks/events.ts"
import { WebhookForm } from "../webhooks/webhook-form.tsx"
import { SecretBox, WebhookBadge } from "../webhooks/webhook-marks.tsx"

/** The webhooks of the account. */
export function Page() {
  useTitle("Webhooks")
  const webhooks = usePages("listWebhooks", {})
  const isFormOpen = useSignal(false)
  const created = useSignal<NewWebhook | undefined>(undefined)
  return (
    <>
      <div class="page-head">
        <h1>Webhooks</h1>
        <div class="page-head-end">
          <button type="button" class="button" onClick={setTo(isFormOpen, true)}>
            <Icon name="plus" /> New webhook
          </button>
        </div>
      </div>
      {created.value ? <SecretBox webhook={created.value} /> : null}
      {isFormOpen.value ? (
        <WebhookForm
          onClose={setTo(isFormOpen, false)}
          onDone={(saved) => {
            isFormOpen.value = false
            created.value = "secret" in saved ? saved : undefined
            webhooks.reload()
          }}
        />
      ) : null}
      <LoadedPages
        of={webhooks}
        rows={3}
        empty={
          <EmptyState icon="webhook" title="No webhooks">
            <p>
              A webhook tells another program, or one of your vals, what happens to your vals: a run
              failed, a version was saved, a comment was written.
            </p>
          </EmptyState>
        }
      >
        {(items) => (
          <DataTable
            columns={{ State: "", Receiver: "", Events: "only-wide", Created: "only-wide" }}
          >
            {items.map((webhook) => (
              <Row key={webhook.id} webhook={webhook} />
            ))}
          </DataTable>
        )}
      </LoadedPages>
    </>
  )
}

function Row({ webhook }: { webhook: Webhook }) {
  const { id, events, description, createdAt } = webhook
  return (
    <tr>
      <td>
        <WebhookBadge webhook={webhook} />
      </td>
      <td class="table-wide">
        <a class="table-name row-link" href={`/webhooks/${id}`}>
          {toTarget(webhook)}
        </a>{" "}
        <span class="quiet">{description}</span>
      </td>
      <td class="only-wide quiet" title={events.join(" ")}>
        {events.length === 1 ? events[0] : `${events.length} kinds`}
      </td>
      <td class="only-wide quiet">
        <TimeAgo at={createdAt} />
      </td>
    </tr>
  )
}
