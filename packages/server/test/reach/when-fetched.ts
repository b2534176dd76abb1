import { waitUntil } from "@hamlet/kit/testing"
import type { AttackServer, SavedVal } from "../attacks/support/attack-server.ts"

/** How long a registry and a busy machine may need for some packages. */
const fetchMsMax = 180_000

/** Waits until the packages of a val are fetched, or cannot be. A run waits for them less long. */
export async function whenFetched(server: AttackServer, { id, owner }: SavedVal): Promise<void> {
  await waitUntil(
    async () => {
      const path = `/v1/vals/${id}/versions/1/lock`
      return (await server.call("GET", path, { as: owner })).json.state !== "pending"
    },
    { msMax: fetchMsMax },
  )
}
