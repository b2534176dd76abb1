import type { Client, Output } from "@hamlet/contract/client"

/** What the server says of a val without its code. */
export type ValState = Output<"listMyValStates">["data"][number]

/** What the server has. */
export interface RemoteVals {
  readonly vals: readonly ValState[]
  /** Whether these are not all: then one that is missing may be there all the same. */
  readonly hasMore: boolean
  /** Whether anything is different from the last time. */
  readonly isNew: boolean
}

/**
 * Asks for the vals of whoever is signed in. While nothing changes, that is one small answer
 * without a body.
 */
export function createRemoteVals(client: Client): { look(): Promise<RemoteVals> } {
  let etag: string | undefined
  let last: Output<"listMyValStates"> = { data: [], hasMore: false }
  return {
    async look() {
      const answer =
        etag === undefined
          ? await client.raw.listMyValStates()
          : await client.raw.listMyValStates({}, { ifNoneMatch: etag })
      if (answer.status === 304) return { vals: last.data, hasMore: last.hasMore, isNew: false }
      etag = answer.headers.get("etag") ?? undefined
      last = answer.body
      return { vals: last.data, hasMore: last.hasMore, isNew: true }
    },
  }
}
