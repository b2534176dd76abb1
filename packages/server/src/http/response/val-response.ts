import type { Page } from "@hamlet/database/page"
import type { Viewer } from "../../domain/access/rights.ts"
import { findOrigin } from "../../domain/vals/forks.ts"
import type { Val, ValPageRequest } from "../../domain/vals/vals.ts"
import { withEtag } from "../request/preconditions.ts"
import { type ApiResponse, json } from "./api-response.ts"
import type { Links } from "./links.ts"
import { type PageCall, page } from "./page.ts"
import { toValView } from "./views.ts"

/** A val as JSON, with an ETag that begins with its version. */
export function toValResponse(val: Val, links: Links, viewer: Viewer | undefined): ApiResponse {
  return withEtag(json(200, toValView(val, links, viewer)), val.version)
}

/**
 * Creates responses for vals that the store may have cached. Such a val is the same object until
 * the database changes, so its response is written once, and is forgotten with it. All who may see
 * a val get the same, but for the original of a fork.
 */
export function createValResponses(
  links: Links,
): (val: Val, viewer: Viewer | undefined) => ApiResponse {
  type Origin = ReturnType<typeof findOrigin>
  const written = new WeakMap<Val, { readonly origin: Origin; readonly response: ApiResponse }>()
  return (val, viewer) => {
    const origin = findOrigin(val, viewer)
    const known = written.get(val)
    if (known?.origin === origin) return known.response
    const response = toValResponse(val, links, viewer)
    written.set(val, { origin, response })
    return response
  }
}

/** A handler that responds with a page of vals, and what `toMore` adds to each. */
export function listValsOf<
  OneCall extends PageCall & {
    readonly caller: Viewer | undefined | undefined
    readonly query: ValPageRequest
  },
  One extends Val = Val,
>(
  links: Links,
  find: (call: OneCall) => Promise<Page<One>>,
  toMore: (val: One) => object = () => ({}),
) {
  return async (call: OneCall): Promise<ApiResponse> => {
    const { omit } = call.query
    return page(links, call, await find(call), (val) => ({
      ...toValView(val, links, call.caller),
      ...(omit?.includes("code") ? { code: "" } : {}),
      ...(omit?.includes("readme") ? { readme: null } : {}),
      ...toMore(val),
    }))
  }
}
