import { route } from "../route.ts"
import { sendValRequestBody } from "../schemas/inputs.ts"
import { preview, valResponse } from "../schemas/records.ts"

/** Requests to the web addresses of vals. */
export const requestRoutes = {
  sendValRequest: route("Runs", "post /v1/vals/{val_id}/requests", {
    summary: "Send a request to the val's web address as the caller; returns the val's response",
    scope: "run:write",
    valAccess: "see",
    body: sendValRequestBody,
    responses: { 200: valResponse },
    errors: ["not_http", "call_too_deep"],
  }),
  createPreview: route("Vals", "post /v1/vals/{val_id}/preview", {
    summary:
      "A URL at which a browser can open the val without a token; for a private val it expires after an hour",
    scope: "val:read",
    valAccess: "see",
    responses: { 200: preview },
    errors: ["not_http"],
  }),
}
