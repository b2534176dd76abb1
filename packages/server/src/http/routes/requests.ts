import { toHeaderPairs, valResponse } from "@hamlet/contract"
import type { BufferedResponse } from "../../domain/requests/buffered-response.ts"
import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { json } from "../response/api-response.ts"
import { createView, toTimeText } from "../response/view.ts"

/** Test requests to vals of type http, and previews of them. */
export function requestHandlers({ valRequests, previews }: Nouns) {
  return {
    sendValRequest: async ({ caller, params, body, request, address }) => {
      const { method, path, headers = [], body: text = "", bodyBase64 = "" } = body
      const bytes = bodyBase64 === "" ? Buffer.from(text) : Buffer.from(bodyBase64, "base64")
      const sender = { caller, address, signal: request.signal }
      const sent = { method, path, headers: toHeaderPairs(headers), body: bytes }
      const place = { path: body.file, branch: body.branch }
      const response = await valRequests.send(sender, params.val_id, place, sent)
      return json(200, toResponseView(response, await findStatusText(response.status)))
    },
    createPreview: async ({ caller, params, query }) => {
      const place = { path: query.file, branch: query.branch }
      const { url, expiresAt } = await previews.create(caller, params.val_id, place)
      // The URL contains a secret that opens a private val.
      return json(200, { url, expiresAt: toTimeText(expiresAt) }, { "cache-control": "no-store" })
    },
  } satisfies Partial<Handlers>
}

const toResponseView = createView(valResponse, (_: BufferedResponse, statusText: string) => ({
  statusText,
}))

async function findStatusText(status: number): Promise<string> {
  // Loaded here: the server needs the module for nothing else.
  const { STATUS_CODES } = await import("node:http")
  return STATUS_CODES[status] ?? ""
}
