import { describe, expect, test } from "bun:test"
import { toCursorText } from "@hamlet/contract"
import fc from "fast-check"
import { createLinks } from "./links.ts"
import { page } from "./page.ts"

const links = createLinks("https://hamlet.example/base", "vals.example")

interface PageLinks {
  readonly self: string
  readonly next?: string
  readonly prev?: string
}

/** The links of the page at this URL. */
async function linksOf(
  url: string,
  limit: number,
  offset: number,
  hasMore: boolean,
): Promise<PageLinks> {
  const request = new Request(new URL(url, "http://somewhere.else:1234"))
  return JSON.parse(
    String(
      (await page(links, { request, query: { limit, offset } }, { items: [], hasMore }, () => 1))
        .body,
    ),
  ).links
}

describe("page", () => {
  test("contains the view of each item, in order", async () => {
    const response = await page(
      links,
      { request: new Request("http://x/v1/vals"), query: { limit: 20, offset: 0 } },
      { items: [1, 2, 3], hasMore: false },
      (item, its) => [item, its.baseUrl],
    )
    expect(response.status).toBe(200)
    expect(JSON.parse(String(response.body)).data).toEqual(
      [1, 2, 3].map((item) => [item, "https://hamlet.example/base"]),
    )
  })

  const at = (query: string) => `https://hamlet.example/base/v1/vals?${query}`
  const table: readonly [string, number, number, boolean, Record<string, string>][] = [
    ["/v1/vals", 20, 0, false, { self: at("offset=0&limit=20") }],
    ["/v1/vals", 20, 0, true, { self: at("offset=0&limit=20"), next: at("offset=20&limit=20") }],
    [
      "/v1/vals?limit=5&offset=5",
      5,
      5,
      false,
      { self: at("limit=5&offset=5"), prev: at("limit=5&offset=0") },
    ],
    [
      "/v1/vals?offset=3",
      5,
      3,
      true,
      { self: at("offset=3&limit=5"), next: at("offset=8&limit=5"), prev: at("offset=0&limit=5") },
    ],
    ["/v1/vals/", 20, 0, false, { self: at("offset=0&limit=20") }],
    ["/v1/vals?a=b%20c&d=%26", 1, 0, false, { self: at("a=b+c&d=%26&offset=0&limit=1") }],
    [
      "/v1/vals?source=api&x=&source=http",
      1,
      0,
      false,
      { self: at("source=api%2Chttp&x=&offset=0&limit=1") },
    ],
    ["/v1/vals?limit=7&limit=7", 7, 0, false, { self: at("limit=7&offset=0") }],
  ]
  test.each(table)(
    "links from %s with limit %i, offset %i, more: %p",
    async (url, limit, offset, hasMore, expected) => {
      expect(await linksOf(url, limit, offset, hasMore)).toEqual(expected as unknown as PageLinks)
    },
  )

  test("has a cursor in the links next and self, and not in prev", async () => {
    const cursor = { keys: [5, "b"] }
    const request = new Request(
      `http://x/v1/vals?offset=2&cursor=${encodeURIComponent("https://hamlet.example/?cursor=x")}`,
    )
    const response = await page(
      links,
      { request: request, query: { limit: 2, offset: 2, cursor } },
      { items: [1, 2], hasMore: true, next: [3, "a"] },
      () => 1,
    )
    expect(JSON.parse(String(response.body)).links).toEqual({
      self: at(`offset=2&cursor=${toCursorText([5, "b"])}&limit=2`),
      next: at(`offset=4&cursor=${toCursorText([3, "a"])}&limit=2`),
      prev: at("offset=0&limit=2"),
    })
  })

  test("never uses the host of the request", async () => {
    for (const host of [
      "http://evil.example",
      "http://evil.example:8080",
      "https://hamlet.example.evil",
    ]) {
      const { body } = await page(
        links,
        { request: new Request(`${host}/v1/vals`), query: { limit: 1, offset: 1 } },
        { items: [], hasMore: true },
        () => 1,
      )
      expect(String(body)).not.toContain("evil")
    }
  })

  test("leads with next to the end of any list, with prev back to its start, and keeps filters", async () => {
    const filter = fc.dictionary(
      fc
        .string({ unit: "binary", minLength: 1 })
        .filter((name) => !["limit", "offset", "cursor"].includes(name)),
      fc.string({ unit: "binary" }),
      { maxKeys: 4 },
    )
    await fc.assert(
      fc.asyncProperty(
        filter,
        fc.integer({ min: 1, max: 100 }),
        fc.nat(300),
        async (filters, limit, count) => {
          const visit = async (url: string) => {
            const query = new URL(url, "http://x").searchParams
            const offset = Number(query.get("offset"))
            expect(Object.fromEntries(query)).toEqual({
              ...filters,
              limit: String(limit),
              offset: String(offset),
            })
            return { offset, ...(await linksOf(url, limit, offset, offset + limit < count)) }
          }
          let here = await visit(
            `/v1/vals?${new URLSearchParams({ ...filters, limit: String(limit), offset: "0" })}`,
          )
          const seen = [here.offset]
          while (here.next) {
            here = await visit(here.next)
            seen.push(here.offset)
          }
          expect(seen).toEqual(
            Array.from(
              { length: Math.max(1, Math.ceil(count / limit)) },
              (_, index) => index * limit,
            ),
          )
          while (here.prev) here = await visit(here.prev)
          expect(here.offset).toBe(0)
        },
      ),
      { numRuns: 50 },
    )
  })
})
