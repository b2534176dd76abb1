import { useTitle } from "../../ui/page-title.ts"
import { api } from "../api.ts"
import { Loaded } from "../data/loaded.tsx"
import { usePoll } from "../data/poll.ts"
import { useResource } from "../data/resource.ts"
import type { PageProps } from "../page-props.ts"
import { DeliveryView } from "../webhooks/delivery-view.tsx"

const pollMs = 2_000

/** One event that a webhook has sent, with request and response. */
export function Page({ webhookId = "", deliveryId = "" }: PageProps) {
  useTitle("Delivery")
  const delivery = useResource(`${webhookId} ${deliveryId}`, (signal) =>
    api.getDelivery({ webhook_id: webhookId, delivery_id: deliveryId }, { signal }),
  )
  const { state, reload } = delivery
  usePoll(pollMs, () => {
    if (state.kind === "ready" && state.data.status === "waiting") reload()
  })
  return (
    <Loaded of={delivery}>{(data) => <DeliveryView delivery={data} onChange={reload} />}</Loaded>
  )
}
