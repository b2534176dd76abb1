import { useSignal } from "@preact/signals"
import { setTo } from "../../../ui/bind.ts"
import { EmptyState } from "../../../ui/page-states.tsx"
import { usePages } from "../../data/pages.ts"
import { Button } from "../../parts/buttons/button.tsx"
import { LoadedTable } from "../../parts/lists/loaded-table.tsx"
import { PageHead } from "../../parts/page-head.tsx"
import { TimeAgo } from "../../parts/time-ago.tsx"
import { canChangeOwn } from "../../session/owners.ts"
import { type NewWebhook, toTarget } from "../../webhooks/events.ts"
import { WebhookForm } from "../../webhooks/webhook-form.tsx"
import { SecretBox, WebhookBadge } from "../../webhooks/webhook-marks.tsx"

/** The webhooks of the account. */
export function Page() {
  const webhooks = usePages("listWebhooks", {})
  const isFormOpen = useSignal(false)
  const created = useSignal<NewWebhook | undefined>(undefined)
  const end = canChangeOwn() ? (
    <Button icon="plus" onClick={setTo(isFormOpen, true)}>
      New webhook
    </Button>
  ) : null
  return (
    <>
      <PageHead title="Webhooks" end={end} />
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
      <LoadedTable
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
        columns={[
          ["State", "", (webhook) => <WebhookBadge webhook={webhook} />],
          [
            "Receiver",
            "table-wide",
            (webhook) => (
              <>
                <a class="table-name row-link" href={`/webhooks/${webhook.id}`}>
                  {toTarget(webhook)}
                </a>{" "}
                <span class="quiet">{webhook.description}</span>
              </>
            ),
          ],
          [
            "Events",
            "only-wide quiet",
            ({ events }) => (
              <span title={events.join(" ")}>
                {events.length === 1 ? events[0] : `${events.length} kinds`}
              </span>
            ),
          ],
          ["Created", "only-wide quiet", ({ createdAt }) => <TimeAgo at={createdAt} />],
        ]}
      />
    </>
  )
}
