import { type CursorKeys, toCursorText } from "@hamlet/contract"
import type { Page, PageRequest, PageRoom } from "@hamlet/database/page"
import { createTimeSlice, toOwnJson } from "@hamlet/kit"
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
 * A page of a list, with links to itself, the next and the previous page. It ends before `limit` items
 * when these are too large. The next link has a cursor, so that no item is skipped or repeated when
 * items are added or deleted in between. `parameters` are those of the links that the request need not
 * have.
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
  const { items, hasMore, isCut = false } = slice
  const list = await writeList(items, (item) => toView(item, links), at.room)
  const next = list.isCut
    ? linkTo(at.offset + list.count, slice.toCursor?.(list.count - 1))
    : linkTo(at.offset + (isCut ? items.length : at.limit), slice.next)
  return list.end({
    links: {
      self: linkTo(at.offset, at.cursor?.keys),
      ...(hasMore || list.isCut ? { next } : {}),
      ...(at.offset > 0 ? { prev: linkTo(Math.max(0, at.offset - at.limit)) } : {}),
    },
  })
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

/** Above this size, a page takes room, and is encoded to bytes item by item, since that takes long too. */
const plainBytesMax = 262_144

/** The items of a list as JSON. */
export interface WrittenList<Item> {
  /** How many there are. */
  readonly count: number
  readonly last: Item | undefined
  /** Whether there are more, which would make it too long. */
  readonly isCut: boolean
  /** The response `{"data": [...], ...rest}`. */
  end(rest: Readonly<Record<string, unknown>>): Promise<ApiResponse>
}

/**
 * Writes a list item by item and yields to the event loop in between. Where it has room, it ends
 * before the item with which it would be too long, unless that is the first one.
 */
export async function writeList<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  toView: (item: Item) => unknown,
  room?: PageRoom,
): Promise<WrittenList<Item>> {
  const yieldIfDue = createTimeSlice()
  const bytesMax = room?.bytesMax ?? Number.POSITIVE_INFINITY
  const parts: string[] = []
  let bytes = 0
  let last: Item | undefined
  let isCut = false
  for await (const item of items) {
    const part = toOwnJson(toView(item))
    const size = Buffer.byteLength(part) + 1
    isCut = parts.length > 0 && bytes + size > bytesMax
    if (isCut) break
    if (room && bytes + size > plainBytesMax) await room.take()
    parts.push(part)
    bytes += size
    last = item
    await yieldIfDue()
  }
  return {
    count: parts.length,
    last,
    isCut,
    async end(rest) {
      const fields = toOwnJson(rest)
      const end = fields === "{}" ? "]}" : `],${fields.slice(1)}`
      const start = '{"data":['
      if (bytes <= plainBytesMax) return jsonText(200, `${start}${parts.join(",")}${end}`)
      const whole = Buffer.allocUnsafeSlow(start.length + bytes + Buffer.byteLength(end))
      let at = whole.write(start)
      for (const [index, part] of parts.entries()) {
        at += whole.write(index === 0 ? part : `,${part}`, at)
        await yieldIfDue()
      }
      at += whole.write(end, at)
      return jsonText(200, whole.subarray(0, at))
    },
  }
}
