import { route } from "../route.ts"
import { params, sendValRequestBody } from "../schemas/inputs.ts"
import { preview, valResponse } from "../schemas/records.ts"

/** Requests to the web addresses of vals. */
export const requestRoutes = {
  sendValRequest: route({
    method: "post",
    path: "/v1/vals/{val_id}/requests",
    tag: "Runs",
    summary: "Send a request to the val's web address as the caller; returns the val's response",
    auth: "required",
    scope: "run:write",
    valAccess: "see",
    params: params.val,
    body: sendValRequestBody,
    responses: { 200: valResponse },
    errors: ["not_http", "call_too_deep"],
  }),
  createPreview: route({
    method: "post",
    path: "/v1/vals/{val_id}/preview",
    tag: "Vals",
    summary:
      "A URL at which a browser can open the val without a token; for a private val it expires after an hour",
    auth: "required",
    scope: "val:read",
    valAccess: "see",
    params: params.val,
    responses: { 200: preview },
    errors: ["not_http"],
  }),
}
