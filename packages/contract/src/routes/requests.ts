import { route } from "../route.ts"
import { placeQuery } from "../schemas/inputs.ts"
import { preview, valResponse } from "../schemas/records.ts"
import { sendValRequestBody } from "../schemas/runs/request-inputs.ts"

/** Requests to the web addresses of vals. */
export const requestRoutes = {
  sendValRequest: route("Runs", "post /v1/vals/{val_id}/requests", {
    summary:
      "Send a request to the web address of a val, or of a file of it, as the caller; returns its response",
    scope: "run:write",
    valAccess: "see",
    body: sendValRequestBody,
    responses: { 200: valResponse },
    errors: ["branch_not_found", "file_not_found", "not_code", "not_http", "call_too_deep"],
  }),
  createPreview: route("Vals", "post /v1/vals/{val_id}/preview", {
    summary:
      "A URL at which a browser can open the val, or a file of it, without a token; for a private val it expires after an hour",
    scope: "val:read",
    valAccess: "see",
    query: placeQuery,
    responses: { 200: preview },
    errors: ["branch_not_found", "file_not_found", "not_code", "not_http"],
  }),
}
