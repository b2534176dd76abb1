/** A request as the server saw it. */
export interface Seen {
  readonly method: string
  /** The path as it came, encoded. */
  readonly path: string
  readonly query: string
  readonly authorization: string | null
  readonly type: string | null
  readonly body: string
}

/**
 * What stands for the server: blobs in memory, and answers to statements that a test has thought
 * of.
 */
export interface FakeStorage extends AsyncDisposable {
  readonly url: string
  readonly seen: Seen[]
  /** What `/v1/sqlite/…` answers. */
  answer: () => Response
}

/** How many blobs a list has at most. */
const pageMax = 2

/** Starts it on a port of its own. */
export function startFakeStorage(): FakeStorage {
  const blobs = new Map<
    string,
    { readonly bytes: Uint8Array<ArrayBuffer>; readonly type: string }
  >()
  const storage = { seen: [] as Seen[], answer: () => Response.json({}) }
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { method, headers } = request
      const { pathname: path, search: query, searchParams } = new URL(request.url)
      const bytes = await request.bytes()
      const type = headers.get("content-type")
      const body = new TextDecoder().decode(bytes)
      storage.seen.push({
        method,
        path,
        query,
        authorization: headers.get("authorization"),
        type,
        body,
      })
      if (path.startsWith("/base/v1/sqlite/")) return storage.answer()
      if (path === "/base/v1/blob") return list([...blobs.keys()], searchParams)
      const key = decodeURIComponent(path.slice("/base/v1/blob/".length))
      const found = blobs.get(key)
      if (method === "POST") {
        blobs.set(key, { bytes, type: type ?? "application/octet-stream" })
        return new Response(null, { status: 201 })
      }
      if (!found)
        return Response.json(
          { code: "blob_not_found", message: `Cannot find blob "${key}"` },
          { status: 404 },
        )
      if (method === "GET")
        return new Response(found.bytes, { headers: { "content-type": found.type } })
      blobs.delete(key)
      return new Response(null, { status: 204 })
    },
  })
  return Object.assign(storage, {
    url: `http://127.0.0.1:${server.port}/base`,
    [Symbol.asyncDispose]: () => server.stop(true),
  })
}

function list(keys: readonly string[], query: URLSearchParams): Response {
  const [prefix, after] = [query.get("prefix") ?? "", query.get("after") ?? ""]
  const all = keys.filter((key) => key.startsWith(prefix) && key > after).sort()
  const page = all
    .slice(0, pageMax)
    .map((key) => ({ key, size: 1, lastModified: "2026-01-01T00:00:00.000Z" }))
  return Response.json(page, {
    headers: all.length > pageMax ? { link: '<http://elsewhere.test/>; rel="next"' } : {},
  })
}
