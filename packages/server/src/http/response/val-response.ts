import type { Val } from "../../domain/vals/vals.ts"
import { withEtag } from "../request/preconditions.ts"
import { type ApiResponse, json } from "./api-response.ts"
import type { Links } from "./links.ts"
import { toValView } from "./views.ts"

/** A val as JSON, with an ETag that begins with its version. */
export function toValResponse(val: Val, links: Links): ApiResponse {
  return withEtag(json(200, toValView(val, links)), val.version)
}
