import { type CursorKeys, toCursorText } from "@hamlet/contract"
import type { Page, PageRequest } from "../../domain/paging.ts"
import { parseTarget } from "../request/request-url.ts"
import { type ApiResponse, jsonText } from "./api-response.ts"
import type { Links } from "./links.ts"
import { toListBody } from "./list-body.ts"

/**
 * A page of a list, with the addresses of itself and of its neighbours. That of the next one has a
 * cursor, so that it begins where this one ended, whatever is saved and deleted meanwhile.
 */
export async function page<Item, View>(
  links: Links,
  request: Request,
  at: PageRequest,
  slice: Page<Item>,
  toView: (item: Item, links: Links) => View,
): Promise<ApiResponse> {
  const url = parseTarget(request.url)
  const query = toPairs(url.searchParams)
  const linkTo = (offset: number, cursor?: CursorKeys) => {
    const pairs = new Map(query).set("offset", String(offset)).set("limit", String(at.limit))
    if (cursor) pairs.set("cursor", toCursorText(cursor))
    else pairs.delete("cursor")
    return `${links.baseUrl}${url.pathname.replace(/\/$/, "")}?${new URLSearchParams([...pairs])}`
  }
  const neighbours = {
    self: linkTo(at.offset, at.cursor?.keys),
    ...(slice.hasMore ? { next: linkTo(at.offset + at.limit, slice.next) } : {}),
    ...(at.offset > 0 ? { prev: linkTo(Math.max(0, at.offset - at.limit)) } : {}),
  }
  return jsonText(
    200,
    await toListBody(slice.items, (item) => toView(item, links), { links: neighbours }),
  )
}

/**
 * What was asked for, each parameter once: the official client keeps only the last of one that a
 * link repeats.
 */
function toPairs(params: URLSearchParams): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>()
  for (const [name, value] of params) {
    const known = pairs.get(name)
    pairs.set(name, known === undefined ? value : `${known},${value}`)
  }
  return pairs
}
