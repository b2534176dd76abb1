import type { Page, Slice } from "../domain/paging.ts"
import { type Answer, json } from "./answer.ts"
import type { Links } from "./links.ts"
import { parseTarget } from "./request-url.ts"

/** A page of a list, with the addresses of itself and of its neighbours. */
export function page<Item, View>(
  links: Links,
  request: Request,
  at: Page,
  slice: Slice<Item>,
  toView: (item: Item, links: Links) => View,
): Answer {
  const url = parseTarget(request.url)
  const linkTo = (offset: number) => {
    const query = new URLSearchParams(url.search)
    // The official client keeps only the last of a parameter that a link repeats.
    for (const name of new Set(query.keys())) query.set(name, query.getAll(name).join(","))
    query.set("offset", String(offset))
    query.set("limit", String(at.limit))
    return `${links.baseUrl}${url.pathname.replace(/\/$/, "")}?${query}`
  }
  return json(200, {
    data: slice.items.map((item) => toView(item, links)),
    links: {
      self: linkTo(at.offset),
      ...(slice.hasMore ? { next: linkTo(at.offset + at.limit) } : {}),
      ...(at.offset > 0 ? { prev: linkTo(Math.max(0, at.offset - at.limit)) } : {}),
    },
  })
}
