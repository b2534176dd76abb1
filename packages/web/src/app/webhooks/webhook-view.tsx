import { useSignal } from "@preact/signals"
import { setTo } from "../../ui/bind.ts"
import { Icon } from "../../ui/icon.tsx"
import { api } from "../api.ts"
import { navigate } from "../frame/location.ts"
import { showDone } from "../frame/toast-list.ts"
import { Menu } from "../parts/menu.tsx"
import { toMoment } from "../parts/time.ts"
import { useAction } from "../parts/use-action.ts"
import { Deliveries } from "./deliveries.tsx"
import { type NewWebhook, toTarget, type Webhook } from "./events.ts"
import { WebhookForm } from "./webhook-form.tsx"
import { SecretBox, WebhookBadge } from "./webhook-marks.tsx"

interface WebhookProps {
  readonly webhook: Webhook
  readonly onChange: (webhook: Webhook) => void
}

/** A webhook: its state, what it sends, and its deliveries. */
export function WebhookView({ webhook, onChange }: WebhookProps) {
  const isFormOpen = useSignal(false)
  const rotated = useSignal<NewWebhook | undefined>(undefined)
  const sentCount = useSignal(0)
  return (
    <>
      <div class="page-head">
        <h1 class="webhook-title">{toTarget(webhook)}</h1>
        <WebhookBadge webhook={webhook} />
        <div class="page-head-end">
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
      <Facts webhook={webhook} />
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

function Facts({ webhook }: { webhook: Webhook }) {
  const { description, events, val, targetVal, failingSince, droppedEvents } = webhook
  const { previousSecretUntil, createdAt } = webhook
  const rows = [
    ["Description", description],
    ["Events", events.join(", ")],
    ["Only of", val && `${val.username}/${val.name}`, val],
    ["Calls", targetVal && `${targetVal.username}/${targetVal.name}`, targetVal],
    ["Failing since", failingSince && toMoment(failingSince)],
    ["Events lost", droppedEvents > 0 ? droppedEvents.toLocaleString("en") : null],
    ["The previous secret is valid until", previousSecretUntil && toMoment(previousSecretUntil)],
    ["Created", toMoment(createdAt)],
  ] as const
  return (
    <dl class="facts">
      {rows.map(([name, text, link]) =>
        text === null || text === "" ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{link ? <a href={`/u/${link.username}/${link.name}`}>{text}</a> : text}</dd>
          </div>
        ),
      )}
    </dl>
  )
}

function WebhookActions(
  props: WebhookProps & {
    readonly onEdit: () => void
    readonly onTest: () => void
    readonly onRotate: (webhook: NewWebhook) => void
  },
) {
  const { webhook, onChange, onEdit, onTest, onRotate } = props
  const { isBusy, run } = useAction()
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
      <button type="button" class="button" disabled={isBusy} onClick={() => void run(test)}>
        Send a test event
      </button>
      <Menu label="More actions" button={<Icon name="more" />} buttonClass="button button-quiet">
        <button type="button" role="menuitem" onClick={onEdit}>
          <Icon name="settings" /> Change…
        </button>
        <button type="button" role="menuitem" onClick={() => void run(pause)}>
          <Icon name={isActive ? "pause" : "play"} /> {isActive ? "Pause" : "Resume"}
        </button>
        <button type="button" role="menuitem" onClick={() => void run(rotate)}>
          <Icon name="key" /> New secret…
        </button>
        <hr />
        <button type="button" role="menuitem" onClick={() => void run(remove)}>
          <Icon name="trash" /> Delete…
        </button>
      </Menu>
    </>
  )
}
