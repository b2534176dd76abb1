import type { Client, Output } from "@hamlet/contract/client"

/** The state of a val on the server, without its code. */
export type ValState = Output<"listMyValStates">["data"][number]

/** The vals on the server. */
export interface RemoteVals {
  readonly vals: readonly ValState[]
  /** Whether there are more vals than listed: one that is missing may still exist. */
  readonly hasMore: boolean
  /** Whether anything changed since the last call. */
  readonly isNew: boolean
}

/** Lists the vals of the signed-in user. While nothing changes, the response is 304. */
export function createRemoteVals(client: Client): { list(): Promise<RemoteVals> } {
  let etag: string | undefined
  let last: Output<"listMyValStates"> = { data: [], hasMore: false }
  return {
    async list() {
      const response =
        etag === undefined
          ? await client.raw.listMyValStates()
          : await client.raw.listMyValStates({}, { ifNoneMatch: etag })
      if (response.status === 304) return { vals: last.data, hasMore: last.hasMore, isNew: false }
      etag = response.headers.get("etag") ?? undefined
      last = response.body
      return { vals: last.data, hasMore: last.hasMore, isNew: true }
    },
  }
}
