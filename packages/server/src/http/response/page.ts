import { type CursorKeys, toCursorText } from "@hamlet/contract"
import type { Page, PageRequest } from "../../domain/paging.ts"
import { toOwnJson } from "../../shared/hostile-input/bounded.ts"
import { createTimeSlice } from "../../shared/time-slice.ts"
import { parseRequestUrl } from "../request/request-url.ts"
import { type ApiResponse, jsonText } from "./api-response.ts"
import type { Links } from "./links.ts"

/** A request for a page of a list. */
export interface PageCall {
  readonly request: Request
  readonly query: PageRequest
}

/** A handler that responds with a page of the list. */
export function listOf<OneCall extends PageCall, Item, View>(
  links: Links,
  find: (call: OneCall) => Promise<Page<Item>>,
  toView: (item: Item, links: Links) => View,
) {
  return async (call: OneCall) => page(links, call, await find(call), toView)
}

/**
 * A page of a list, with links to itself, the next and the previous page. The next link has a
 * cursor, so that no item is skipped or repeated when items are added or deleted in between.
 * `parameters` are those of the links that the request need not have.
 */
export async function page<Item, View>(
  links: Links,
  { request, query: at }: PageCall,
  slice: Page<Item>,
  toView: (item: Item, links: Links) => View,
  parameters: Readonly<Record<string, string>> = {},
): Promise<ApiResponse> {
  const linkTo = (offset: number, cursor?: CursorKeys) =>
    toLink(links, request, {
      ...parameters,
      offset: String(offset),
      limit: String(at.limit),
      cursor: cursor && toCursorText(cursor),
    })
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

/** The URL of the request with other parameters; those that are undefined are left out. */
export function toLink(
  links: Links,
  request: Request,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const url = parseRequestUrl(request.url)
  const pairs = new Map(toPairs(url.searchParams))
  for (const [name, value] of Object.entries(parameters))
    if (value === undefined) pairs.delete(name)
    else pairs.set(name, value)
  return `${links.baseUrl}${url.pathname.replace(/\/$/, "")}?${new URLSearchParams([...pairs])}`
}

/** The query parameters, each once: the official client keeps only the last of repeated ones. */
function toPairs(params: URLSearchParams): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>()
  for (const [name, value] of params) {
    const previous = pairs.get(name)
    pairs.set(name, previous === undefined ? value : `${previous},${value}`)
  }
  return pairs
}

/** Above this size, a list is also encoded to bytes item by item, since that takes long too. */
const plainCharsMax = 262_144

/**
 * Writes `{"data": [...], ...rest}` item by item and yields to the event loop in between: a page may
 * contain a hundred vals of the maximum size.
 */
export async function toListBody<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  toView: (item: Item) => unknown,
  rest?: Readonly<Record<string, unknown>>,
): Promise<string | Uint8Array> {
  const yieldIfDue = createTimeSlice()
  const parts: string[] = []
  let chars = 0
  for await (const item of items) {
    const part = toOwnJson(toView(item))
    parts.push(part)
    chars += part.length
    await yieldIfDue()
  }
  const [start, end] = ['{"data":[', `]${rest ? `,${toOwnJson(rest).slice(1)}` : "}"}`]
  if (chars <= plainCharsMax) return `${start}${parts.join(",")}${end}`
  const bytes: Uint8Array[] = [Buffer.from(start)]
  for (const [index, part] of parts.entries()) {
    bytes.push(Buffer.from(index === 0 ? part : `,${part}`))
    await yieldIfDue()
  }
  return Buffer.concat([...bytes, Buffer.from(end)])
}
