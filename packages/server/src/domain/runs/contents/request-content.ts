import type { Caller } from "../../access/caller.ts"
import { rightsOn } from "../../access/rights.ts"
import { openMask, type SecretOpener } from "../../secrets/open-secrets.ts"
import { isRequestInput, type RunDetail, type RunMessage, type RunStore } from "../runs.ts"
import { keepHeaders, toText } from "./response-keeper.ts"

/** Reads the requests that started runs. */
export type RequestContents = ReturnType<typeof createRequestContents>

/** Creates the reader of stored requests. */
export function createRequestContents(store: Pick<RunStore, "findInput">, secrets: SecretOpener) {
  return {
    /**
     * The request that started a run of an http val, for those who may change the val. It is stored as it came,
     * for a replay, but without credentials; the values of the val's secrets are masked here. Null if
     * it was too large to be stored.
     */
    async get(caller: Caller, run: RunDetail): Promise<RunMessage | null> {
      if (run.request === null || !rightsOn(run.val, caller).change) return null
      const input = await store.findInput(run.id)
      if (!input || !isRequestInput(input)) return null
      const mask = await openMask(secrets, run.val)
      const bytes = Buffer.from(input.body, "base64")
      const text = toText(bytes, bytes.length, mask)
      return {
        headers: keepHeaders(input.headers, Number.POSITIVE_INFINITY, mask),
        body: bytes.length === 0 ? null : (text ?? null),
        bytes: bytes.length,
        isBinary: text === undefined,
        isTruncated: false,
      }
    },
  }
}
