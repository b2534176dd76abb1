import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { setTo } from "../../../ui/bind.ts"
import { Icon } from "../../../ui/icon.tsx"
import { EmptyState, useTitle } from "../../../ui/page-states.tsx"
import { api } from "../../api.ts"
import { Loaded } from "../../data/loaded.tsx"
import { usePages } from "../../data/pages.ts"
import { usePoll } from "../../data/poll.ts"
import { useResource } from "../../data/resource.ts"
import { navigate } from "../../frame/location.ts"
import { showDone } from "../../frame/toast-list.ts"
import type { PageProps } from "../../page-props.ts"
import { AddressText } from "../../parts/address-text.tsx"
import { Button } from "../../parts/buttons/button.tsx"
import { Menu, MenuItem } from "../../parts/buttons/menu.tsx"
import { QuerySelect, readChoice } from "../../parts/forms/query-choice.tsx"
import { type Fact, Facts } from "../../parts/lists/facts.tsx"
import { LoadedTable } from "../../parts/lists/loaded-table.tsx"
import { Section } from "../../parts/section.tsx"
import { toMoment } from "../../parts/time.ts"
import { TimeAgo } from "../../parts/time-ago.tsx"
import { type NewWebhook, toTarget, type Webhook } from "../../webhooks/events.ts"
import { WebhookForm } from "../../webhooks/webhook-form.tsx"
import { DeliveryBadge, SecretBox, WebhookBadge } from "../../webhooks/webhook-marks.tsx"

/** One webhook with its deliveries. */
export function Page({ webhookId = "" }: PageProps) {
  const webhook = useResource(webhookId, (signal) =>
    api.getWebhook({ webhook_id: webhookId }, { signal }),
  )
  useTitle(webhook.state.kind === "ready" ? toTarget(webhook.state.data) : "Webhook")
  return (
    <Loaded of={webhook}>{(data) => <WebhookView webhook={data} onChange={webhook.set} />}</Loaded>
  )
}

interface WebhookProps {
  readonly webhook: Webhook
  readonly onChange: (webhook: Webhook) => void
}

/** A webhook: its state, what it sends, and its deliveries. */
function WebhookView({ webhook, onChange }: WebhookProps) {
  const isFormOpen = useSignal(false)
  const rotated = useSignal<NewWebhook | undefined>(undefined)
  const sentCount = useSignal(0)
  return (
    <>
      <div class="row wrap page-head">
        <h1 class="webhook-title">
          <AddressText text={toTarget(webhook)} />
        </h1>
        <WebhookBadge webhook={webhook} />
        <div class="row wrap page-head-end">
          <WebhookActions
            webhook={webhook}
            onChange={onChange}
            onEdit={setTo(isFormOpen, true)}
            onTest={() => {
              sentCount.value += 1
            }}
            onRotate={(webhook) => {
              rotated.value = webhook
              onChange(webhook)
            }}
          />
        </div>
      </div>
      {rotated.value ? <SecretBox webhook={rotated.value} /> : null}
      {webhook.disabledReason === null ? null : <p class="bad reason">{webhook.disabledReason}</p>}
      <WebhookFacts webhook={webhook} />
      {isFormOpen.value ? (
        <WebhookForm
          webhook={webhook}
          onClose={setTo(isFormOpen, false)}
          onDone={(saved) => {
            isFormOpen.value = false
            onChange(saved)
            showDone("Saved")
          }}
        />
      ) : null}
      <Deliveries webhookId={webhook.id} sentCount={sentCount.value} />
    </>
  )
}

function WebhookFacts({ webhook }: { webhook: Webhook }) {
  const { description, events, val, targetVal, failingSince, droppedEvents } = webhook
  const { previousSecretUntil, createdAt } = webhook
  const toVal = (name: string, found: Webhook["val"]): Fact => {
    const path = found && `${found.username}/${found.name}`
    return [name, path, `/u/${path}`]
  }
  const facts: readonly Fact[] = [
    ["Description", description],
    ["Events", events.join(", ")],
    toVal("Only of", val),
    toVal("Calls", targetVal),
    ["Failing since", failingSince && toMoment(failingSince)],
    ["Events lost", droppedEvents > 0 ? droppedEvents.toLocaleString("en") : null],
    ["The previous secret is valid until", previousSecretUntil && toMoment(previousSecretUntil)],
    ["Created", toMoment(createdAt)],
  ]
  return <Facts facts={facts} />
}

function WebhookActions(
  props: WebhookProps & {
    readonly onEdit: () => void
    readonly onTest: () => void
    readonly onRotate: (webhook: NewWebhook) => void
  },
) {
  const { webhook, onChange, onEdit, onTest, onRotate } = props
  const input = { webhook_id: webhook.id }
  const isActive = webhook.status === "active"
  const test = async () => {
    await api.testWebhook(input)
    showDone("A test event is on its way")
    onTest()
  }
  const pause = async () => {
    onChange(await api.updateWebhook({ ...input, isPaused: isActive }))
    showDone(isActive ? "The webhook is paused" : "The webhook is active")
  }
  const rotate = async () => {
    if (!confirm("Create a new secret? The old one signs too, for another day.")) return
    onRotate(await api.rotateWebhookSecret(input))
  }
  const remove = async () => {
    if (!confirm("Delete the webhook and the record of its deliveries?")) return
    await api.deleteWebhook(input)
    showDone("The webhook is deleted")
    navigate("/webhooks")
  }
  return (
    <>
      <Button action={test}>Send a test event</Button>
      <Menu label="More actions" button={<Icon name="more" />} buttonClass="button button-quiet">
        <MenuItem icon="settings" label="Change…" onClick={onEdit} />
        <MenuItem
          icon={isActive ? "pause" : "play"}
          label={isActive ? "Pause" : "Resume"}
          onClick={pause}
        />
        <MenuItem icon="key" label="New secret…" onClick={rotate} />
        <hr />
        <MenuItem icon="trash" label="Delete…" onClick={remove} />
      </Menu>
    </>
  )
}

const pollMs = 2_000

const statuses = [
  { value: "", label: "Any outcome" },
  { value: "waiting", label: "Waiting" },
  { value: "delivered", label: "Delivered" },
  { value: "failed", label: "Failed" },
] as const

/** The events that a webhook has sent, the newest first. They appear by themselves. */
function Deliveries(props: {
  readonly webhookId: string
  /** A new number fetches the list at once. */
  readonly sentCount: number
}) {
  const { webhookId, sentCount } = props
  const { value: status } = readChoice("status", statuses)
  const deliveries = usePages("listDeliveries", {
    webhook_id: webhookId,
    ...(status === "" ? {} : { status }),
  })
  usePoll(pollMs, deliveries.poll)
  useEffect(() => {
    if (sentCount > 0) void deliveries.poll()
  }, [sentCount])
  return (
    <Section
      title="Deliveries"
      end={<QuerySelect name="status" label="Outcome" choices={statuses} />}
    >
      <LoadedTable
        of={deliveries}
        rows={4}
        empty={
          <EmptyState icon="history" title={status === "" ? "Nothing sent yet" : "None of these"}>
            <p>Each event appears here with the request and the response.</p>
          </EmptyState>
        }
        columns={[
          ["Outcome", "", (delivery) => <DeliveryBadge status={delivery.status} />],
          [
            "Event",
            "table-wide",
            ({ id, type, error }) => (
              <>
                <a class="table-name row-link" href={`/webhooks/${webhookId}/${id}`}>
                  {type}
                </a>
                {error === null ? null : <span class="small run-reason">{error}</span>}
              </>
            ),
          ],
          ["Response", "only-wide quiet", ({ responseStatus }) => responseStatus ?? "—"],
          ["Attempts", "only-wide table-number quiet", ({ attempts }) => attempts],
          ["Created", "table-number quiet", ({ createdAt }) => <TimeAgo at={createdAt} />],
        ]}
      />
    </Section>
  )
}
