import { useTitle } from "../../ui/page-title.ts"
import { api } from "../api.ts"
import { Loaded } from "../data/loaded.tsx"
import { useResource } from "../data/resource.ts"
import type { PageProps } from "../page-props.ts"
import { toTarget } from "../webhooks/events.ts"
import { WebhookView } from "../webhooks/webhook-view.tsx"

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
