import type { Caller } from "../../domain/access.ts"
import type { Page, PageRequest } from "../../domain/paging.ts"
import type { Val } from "../../domain/vals/vals.ts"
import { withEtag } from "../request/preconditions.ts"
import { type ApiResponse, json } from "./api-response.ts"
import type { Links } from "./links.ts"
import { page } from "./page.ts"
import { toValView } from "./views.ts"

type Viewer = Pick<Caller, "userId"> | undefined

/** A val as JSON, with an ETag that begins with its version. */
export function toValResponse(val: Val, links: Links, viewer: Viewer): ApiResponse {
  return withEtag(json(200, toValView(val, links, viewer)), val.version)
}

/** A page of vals. */
export function toValPage(
  links: Links,
  request: Request,
  at: PageRequest,
  vals: Page<Val>,
  viewer: Viewer,
): Promise<ApiResponse> {
  return page(links, request, at, vals, (val) => ({
    ...toValView(val, links, viewer),
    ...(at.omit?.includes("code") ? { code: "" } : {}),
    ...(at.omit?.includes("readme") ? { readme: null } : {}),
  }))
}
