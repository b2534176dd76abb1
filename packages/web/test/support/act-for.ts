import { type Client, createClient, ownerHeader } from "@hamlet/contract/client"
import type { AppStage, Person } from "../../dev/app-stage.ts"

/** A client of a user who acts for an organisation. */
export function actFor({ url }: AppStage, { token }: Person, owner: string): Client {
  return createClient({
    baseUrl: url,
    token,
    fetch: (address, init) => {
      const headers = new Headers(init?.headers)
      headers.set(ownerHeader, owner)
      return fetch(address, { ...init, headers })
    },
  })
}
