import { describe, expect, test } from "bun:test"
import { startScriptedServer } from "../../test/support/scripted-server.ts"
import { createClient, LinkError } from "../client.ts"

/** Three pages of two numbers each, the last one of one; `link` writes the link to a page. */
function startPages(link: (path: string) => string = (path) => path) {
  const server = startScriptedServer(({ query }) => {
    const offset = Number(query.get("offset") ?? 0)
    const data = [0, 1, 2, 3, 4].slice(offset, offset + 2)
    const next = link(`${server.url}/v1/vals?limit=2&offset=${offset + 2}`)
    return Response.json({ data, links: { self: "self", ...(offset < 4 ? { next } : {}) } })
  })
  return server
}

async function collect(source: AsyncIterable<unknown>): Promise<unknown[]> {
  return Array.fromAsync(source)
}

describe("pages and items", () => {
  test("follow the links to the last page with the token", async () => {
    await using server = startPages()
    const client = createClient({ baseUrl: server.url, token: "secret" })
    const pages = await Array.fromAsync(client.pages("listVals", { limit: 2, privacy: "public" }))
    expect(pages.map((page) => page.data as unknown)).toEqual([[0, 1], [2, 3], [4]])
    expect(server.seen.map((seen) => seen.query.toString())).toEqual([
      "limit=2&privacy=public",
      "limit=2&offset=2",
      "limit=2&offset=4",
    ])
    expect(server.seen.map((seen) => seen.headers.get("authorization"))).toEqual(
      Array(3).fill("Bearer secret"),
    )
    expect(await collect(client.items("listVals"))).toEqual([0, 1, 2, 3, 4])
  })

  test("ask for a page only when it is wanted", async () => {
    await using server = startPages()
    for await (const item of createClient({ baseUrl: server.url }).items("listVals")) {
      if ((item as unknown) === 1) break
    }
    expect(server.seen).toHaveLength(1)
  })

  test("stop at the caller's signal", async () => {
    await using server = startPages()
    const controller = new AbortController()
    const pages = createClient({ baseUrl: server.url }).pages(
      "listVals",
      {},
      { signal: controller.signal },
    )
    await pages.next()
    controller.abort(new Error("enough"))
    expect(await pages.next().catch((cause: Error) => cause.message)).toBe("enough")
    expect(server.seen).toHaveLength(1)
  })

  test("follow a relative link to the same server", async () => {
    await using server = startPages((url) => new URL(url).pathname + new URL(url).search)
    expect(await collect(createClient({ baseUrl: server.url }).items("listVals"))).toEqual([
      0, 1, 2, 3, 4,
    ])
  })

  test("never follow a link to another server", async () => {
    await using elsewhere = startScriptedServer(() => Response.json({ data: [], links: {} }))
    const foreign: ((url: string) => string)[] = [
      (url) => elsewhere.url + new URL(url).pathname,
      (url) => url.replace("127.0.0.1", "localhost"),
      (url) => url.replace("http:", "https:"),
      (url) => `blob:${url}`,
      (url) => url.replace("http://", `${elsewhere.url}/`),
      (url) => url.replace("http://", `//${new URL(elsewhere.url).host}\\@`),
      (url) => url.replace("http://127.0.0.1:", `http://127.0.0.1@${new URL(elsewhere.url).host}/`),
      () => "http://",
      () => "javascript:alert(1)",
      () => "data:application/json,{}",
    ]
    for (const link of foreign) {
      await using server = startPages(link)
      const pages = createClient({ baseUrl: server.url, token: "secret" }).pages("listVals")
      expect((await pages.next()).done).toBe(false)
      const error = await pages.next().catch((cause: unknown) => cause)
      expect(error).toBeInstanceOf(LinkError)
      expect((error as LinkError).name).toBe("LinkError")
      expect((error as LinkError).message).toEndWith(`: it does not lead to "${server.url}"`)
      expect(server.seen).toHaveLength(1)
    }
    expect(elsewhere.seen).toHaveLength(0)
  })

  test("take the name and password out of a link to the same server, with which a browser would not fetch it", async () => {
    await using server = startPages((url) => url.replace("http://", "http://eve:pw@"))
    const urls: string[] = []
    const notingFetch = (url: string, init: RequestInit) => {
      urls.push(url)
      return fetch(url, init)
    }
    expect(
      await collect(
        createClient({ baseUrl: server.url, token: "secret", fetch: notingFetch }).items(
          "listVals",
        ),
      ),
    ).toEqual([0, 1, 2, 3, 4])
    expect(urls[1]).toBe(`${server.url}/v1/vals?limit=2&offset=2`)
    expect(server.seen[1]?.headers.get("authorization")).toBe("Bearer secret")
  })
})
