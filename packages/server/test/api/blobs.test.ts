import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import { listen } from "../fuzz/listen.ts"
import { exchange, parseResponses } from "../fuzz/raw/raw-client.ts"
import { expectStatus, type TestUser, testBaseUrl } from "../support/api.ts"
import { FakeBucket } from "../support/fakes/fake-bucket.ts"
import { type ApiSuite, describeApi, nextMillisecond, refusalOf } from "./suite.ts"

const mega = 1024 ** 2

describeApi("api/blobs", (suite) => {
  describe("a key", () => defineKeys(suite))
  describe("the content", () => defineContents(suite))
  describe("GET /v1/blob/{key}", () => defineReads(suite))
  describe("POST and DELETE /v1/blob/{key}", () => defineWrites(suite))
  describe("GET /v1/blob", () => defineLists(suite))
  describe("over a socket", () => defineSockets(suite))
})

describeApi("api/blobs within limits", defineLimits, {
  HAMLET_BLOBS_MB_MAX: "1",
  HAMLET_BLOB_BYTES_MAX: "500000",
})

const bucket = new FakeBucket()
afterAll(() => bucket.stop())

describeApi("api/blobs in a bucket", defineBucket, { HAMLET_S3_URL: bucket.url })

const store = async (
  { call }: ApiSuite,
  as: TestUser,
  key: string,
  body: unknown,
  headers: Record<string, string> = {},
) =>
  expectStatus(
    await call("POST", `/v1/blob/${encodeURIComponent(key)}`, { as, body, headers }),
    201,
  )

/** The answer itself: what `call` gives is text. */
const fetchBlob = ({ api }: ApiSuite, as: TestUser, key: string, init: RequestInit = {}) =>
  api.hamlet.app.request(`${testBaseUrl}/v1/blob/${encodeURIComponent(key)}`, {
    ...init,
    headers: { authorization: `Bearer ${as.token}`, ...(init.headers as Record<string, string>) },
  })

function defineKeys(suite: ApiSuite): void {
  const { call, addUser: person } = suite
  const keys = [
    "a",
    "a/b",
    "a//b/",
    "/",
    "//",
    "a b",
    "+",
    "ä😀",
    "%",
    "100%",
    "%2F",
    "%252f",
    "?",
    "a?b=c",
    "#",
    "a#b",
    "a/../b",
    "../x",
    "x/..",
    "a/./b",
    "...",
    "\\",
    "\n",
    "\u007f",
    "\u{10ffff}",
    "__proto__",
    "constructor",
    "'; drop table blobs --",
    "vals",
    "a".repeat(512),
    "ü".repeat(512),
  ]

  test.each(keys)(
    "%j names the same blob encoded as a whole or between its slashes",
    async (key) => {
      const ada = await person()
      const parts = key.split("/")
      const whole = `/v1/blob/${encodeURIComponent(key)}`
      // A path with directions in it is another path before it is sent, and so is one of which
      // nothing is left.
      const isApart = parts.every((part) => part !== "." && part !== "..")
      const apart = isApart ? `/v1/blob/${parts.map(encodeURIComponent).join("/")}` : whole
      expectStatus(await call("POST", apart, { as: ada, body: `content of ${key}` }), 201)
      for (const path of [whole, apart])
        expect(expectStatus(await call("GET", path, { as: ada }), 200).text).toBe(
          `content of ${key}`,
        )
      expect((await call("GET", "/v1/blob", { as: ada })).json).toEqual([
        { key, size: Buffer.byteLength(`content of ${key}`), lastModified: expect.any(String) },
      ])
      expectStatus(await call("DELETE", whole, { as: ada }), 204)
      expect(refusalOf(await call("GET", apart, { as: ada }))).toEqual([404, "blob_not_found"])
    },
  )

  test.each([
    ["/v1/blob/100%", "100%"],
    ["/v1/blob/%zz", "%zz"],
    ["/v1/blob/a/b%", "a/b%"],
  ])("that is not encoded, as the official client sends it, is accepted: %s", async (path, key) => {
    const ada = await person()
    expectStatus(await call("POST", path, { as: ada, body: "x" }), 201)
    expect((await call("GET", "/v1/blob", { as: ada })).json).toMatchObject([{ key }])
  })

  test.each(["a".repeat(513), "%00", "a%00b"])(
    "is refused when it is too long or contains NUL: %j",
    async (path) => {
      const ada = await suite.sharedUser()
      for (const method of ["GET", "POST", "DELETE"])
        expect([method, ...refusalOf(await call(method, `/v1/blob/${path}`, { as: ada }))]).toEqual(
          [method, 400, "invalid_request"],
        )
    },
  )

  test("belongs to the user who stores something under it", async () => {
    const [ada, bob] = [await person(), await person()]
    await store(suite, ada, "same", "of ada")
    await store(suite, bob, "same", "of bob")
    expect((await call("GET", "/v1/blob/same", { as: ada })).text).toBe("of ada")
    expectStatus(await call("DELETE", "/v1/blob/same", { as: bob }), 204)
    expect((await call("GET", "/v1/blob/same", { as: ada })).text).toBe("of ada")
    expect([
      refusalOf(await call("GET", "/v1/blob/same", { as: bob })),
      (await call("GET", "/v1/blob", { as: bob })).json,
    ]).toEqual([[404, "blob_not_found"], []])
  })
}

/** Bytes that are different everywhere. */
function toBytes(size: number, seed = 0): Uint8Array {
  return Uint8Array.from(
    { length: size },
    (_, index) => (index * 7 + (index >> 8) * 13 + seed) & 255,
  )
}

function defineContents(suite: ApiSuite): void {
  const { addUser: person } = suite

  test.each([0, 1, 65_535, 65_536, 65_537, 262_144, 262_145, mega, mega + 1, 3 * mega + 7])(
    "of %i bytes is returned unchanged",
    async (size) => {
      const ada = await person()
      const content = toBytes(size)
      const stream = new Blob([content as Uint8Array<ArrayBuffer>]).stream()
      const lengths = { "content-length": String(size) }
      for (const init of [
        { body: content as BodyInit, headers: lengths },
        { body: content as BodyInit },
        { body: stream as BodyInit },
      ]) {
        expect((await fetchBlob(suite, ada, "a", { method: "POST", ...init })).status).toBe(201)
        const response = await fetchBlob(suite, ada, "a")
        expect([
          response.status,
          response.headers.get("content-length"),
          response.headers.get("content-type"),
        ]).toEqual([200, String(size), "application/octet-stream"])
        expect(Buffer.compare(await response.bytes(), content)).toBe(0)
      }
      expect((await suite.call("GET", "/v1/blob", { as: ada })).json).toMatchObject([{ size }])
    },
  )

  test.each(["text/plain; charset=utf-16", "application/json", "image/png", "x", ";"])(
    "keeps its content type: %s",
    async (type) => {
      const ada = await suite.sharedUser()
      await store(suite, ada, "typed", "{", { "content-type": type })
      expect((await fetchBlob(suite, ada, "typed")).headers.get("content-type")).toBe(type)
      await store(suite, ada, "typed", new Uint8Array(1))
      expect((await fetchBlob(suite, ada, "typed")).headers.get("content-type")).toBe(
        "application/octet-stream",
      )
    },
  )

  test("is refused when its content type is not a valid header value, or when it is compressed", async () => {
    const ada = await suite.sharedUser()
    const send = async (headers: Record<string, string>) =>
      refusalOf(await suite.call("POST", "/v1/blob/refused", { as: ada, body: "x", headers }))
    expect(await send({ "content-type": "x".repeat(256) })).toEqual([400, "invalid_request"])
    expect(await send({ "content-encoding": "gzip" })).toEqual([415, "unsupported_encoding"])
    expect((await suite.call("GET", "/v1/blob?prefix=refused", { as: ada })).json).toEqual([])
  })

  test("is sent so that a browser neither displays, sniffs nor runs it", async () => {
    const ada = await suite.sharedUser()
    for (const size of [10, 70_000, 2 * mega]) {
      await store(suite, ada, "page", `<script>alert(1)</script>${" ".repeat(size)}`, {
        "content-type": "text/html",
      })
      const { headers } = await fetchBlob(suite, ada, "page")
      expect(headers.get("content-security-policy")).toBe("sandbox; default-src 'none'")
      expect([headers.get("x-content-type-options"), headers.get("content-disposition")]).toEqual([
        "nosniff",
        "attachment",
      ])
    }
  })
}

function defineReads(suite: ApiSuite): void {
  const { call, addUser: person } = suite

  describe.each([
    ["small", 1000],
    ["large", 100_000],
    ["very large", 2 * mega],
  ])("of a %s blob", (_, size) => {
    const content = toBytes(size)

    test("with a range returns that part", async () => {
      const ada = await person()
      await store(suite, ada, "a", content)
      for (const [range, start, end] of [
        ["bytes=0-0", 0, 1],
        ["bytes=10-99", 10, 100],
        [`bytes=${size - 5}-`, size - 5, size],
        ["bytes=-5", size - 5, size],
        ["bytes=1-", 1, size],
        [`bytes=500-${size * 2}`, 500, size],
      ] as const) {
        const response = await fetchBlob(suite, ada, "a", { headers: { range } })
        const { headers } = response
        expect([
          response.status,
          headers.get("content-range"),
          headers.get("content-length"),
        ]).toEqual([206, `bytes ${start}-${end - 1}/${size}`, String(end - start)])
        expect(Buffer.compare(await response.bytes(), content.subarray(start, end))).toBe(0)
      }
      const refused = await call("GET", "/v1/blob/a", {
        as: ada,
        headers: { range: `bytes=${size}-` },
      })
      expect([...refusalOf(refused), refused.headers.get("content-range")]).toEqual([
        416,
        "range_not_satisfiable",
        `bytes */${size}`,
      ])
      expect(
        (await fetchBlob(suite, ada, "a", { headers: { range: "bytes=0-1,3-4" } })).status,
      ).toBe(200)
    })

    test("sends Last-Modified and an ETag, and 304 to a client that has the blob", async () => {
      const ada = await person()
      const before = Date.now()
      await store(suite, ada, "a", content)
      const first = await call("GET", "/v1/blob/a", { as: ada })
      const etag = first.headers.get("etag") ?? ""
      const modified = Date.parse(first.headers.get("last-modified") ?? "")
      expect([
        modified >= before - 1000,
        modified <= Date.now(),
        first.headers.get("accept-ranges"),
      ]).toEqual([true, true, "bytes"])
      for (const headers of [
        { "if-none-match": etag },
        { "if-none-match": etag, range: "bytes=0-1" },
      ]) {
        const again = await call("GET", "/v1/blob/a", {
          as: ada,
          headers: headers as Record<string, string>,
        })
        expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag])
      }
      await nextMillisecond()
      await store(suite, ada, "a", content)
      expectStatus(
        await call("GET", "/v1/blob/a", { as: ada, headers: { "if-none-match": etag } }),
        200,
      )
    })

    test("with HEAD sends the same headers without the content", async () => {
      const ada = await person()
      await store(suite, ada, "a", content, { "content-type": "x/y" })
      const [got, head] = [
        await fetchBlob(suite, ada, "a"),
        await fetchBlob(suite, ada, "a", { method: "HEAD" }),
      ]
      await got.bytes()
      const withoutId = ({ headers }: Response) =>
        Object.fromEntries([...headers].filter(([name]) => name !== "x-request-id"))
      expect([head.status, withoutId(head), await head.text()]).toEqual([200, withoutId(got), ""])
    })
  })

  test("finishes with the old content when the blob is replaced during the read", async () => {
    const ada = await person()
    const [old, next] = [toBytes(3 * mega, 1), toBytes(3 * mega, 2)]
    await store(suite, ada, "a", old)
    const reader = (await fetchBlob(suite, ada, "a")).body?.getReader()
    const pieces = [await reader?.read()]
    await store(suite, ada, "a", next)
    expect(Buffer.compare(await (await fetchBlob(suite, ada, "a")).bytes(), next)).toBe(0)
    expectStatus(await call("DELETE", "/v1/blob/a", { as: ada }), 204)
    while (!pieces.at(-1)?.done) pieces.push(await reader?.read())
    expect(Buffer.compare(Buffer.concat(pieces.flatMap((piece) => piece?.value ?? [])), old)).toBe(
      0,
    )
  })
}

function defineWrites(suite: ApiSuite): void {
  const { call, addUser: person } = suite

  test('POST responds with the JSON string "ok", and DELETE of a missing blob is 404', async () => {
    const ada = await person()
    expect((await store(suite, ada, "a", "x")).text).toBe('"ok"')
    expectStatus(await call("DELETE", "/v1/blob/a", { as: ada }), 204)
    for (const method of ["DELETE", "GET", "HEAD"])
      expect((await call(method, "/v1/blob/a", { as: ada })).status).toBe(404)
    expect((await call("DELETE", "/v1/blob/a", { as: ada })).json).toMatchObject({
      code: "blob_not_found",
      message: 'Cannot delete blob "a": you have none with that key',
    })
  })

  test("POST replaces a small or large blob", async () => {
    const ada = await person()
    for (const size of [10, 100_000, 200_000, 20, 0]) {
      await store(suite, ada, "a", toBytes(size, size))
      expect(
        Buffer.compare(await (await fetchBlob(suite, ada, "a")).bytes(), toBytes(size, size)),
      ).toBe(0)
    }
    expect((await call("GET", "/v1/blob", { as: ada })).json).toHaveLength(1)
  })

  test("POST ignores Idempotency-Key: the last request wins", async () => {
    const ada = await person()
    for (const content of ["first", "second"])
      await store(suite, ada, "a", content, { "idempotency-key": "same" })
    expect((await call("GET", "/v1/blob/a", { as: ada })).text).toBe("second")
  })

  test("many simultaneous POSTs to one key leave one whole blob that is counted once", async () => {
    const ada = await person()
    const sizes = [10, 70_000, 300_000, 20, 80_000, 400_000]
    await Promise.all(sizes.map((size) => store(suite, ada, "a", toBytes(size, size))))
    const content = await (await fetchBlob(suite, ada, "a")).bytes()
    expect(sizes).toContain(content.length)
    expect(Buffer.compare(content, toBytes(content.length, content.length))).toBe(0)
    expect(await usageOf(suite, ada)).toEqual([content.length, 1])
  })
}

async function usageOf({ database }: ApiSuite, { id }: TestUser): Promise<readonly number[]> {
  const [row] = await database.db.read<Record<"bytes" | "count", unknown>>(
    sql`select blob_bytes as bytes, blob_count as count from users where id = ${id}`,
  )
  return [Number(row?.bytes), Number(row?.count)]
}

function defineLists(suite: ApiSuite): void {
  const { call, addUser: person } = suite
  const odd = ["%", "_", "a", "a%", "a_", "b", "é", "\uffff", "😀", "😀!", "\u{10ffff}"]

  test("is an array sorted by key, filtered by prefix", async () => {
    const ada = await person()
    for (const key of odd.toReversed()) await store(suite, ada, key, key)
    for (const prefix of ["", ...odd, "nothing", "'"]) {
      const { json } = expectStatus(
        await call("GET", `/v1/blob?prefix=${encodeURIComponent(prefix)}`, { as: ada }),
        200,
      )
      expect([prefix, json.map((blob: { key: string }) => blob.key)]).toEqual([
        prefix,
        odd.filter((key) => key.startsWith(prefix)),
      ])
    }
    expect((await call("GET", "/v1/blob/", { as: ada })).json).toHaveLength(odd.length)
  })

  test("has a Link header to the next page that keeps the prefix", async () => {
    const ada = await person()
    const keys = Array.from({ length: 25 }, (_, index) => `p&=/ü>${String(index).padStart(2, "0")}`)
    for (const key of [...keys, "other"]) await store(suite, ada, key, "x")
    const seen: string[] = []
    const asked: string[] = []
    let path: string | undefined = `/v1/blob?prefix=${encodeURIComponent("p&=/ü>")}&limit=10`
    while (path !== undefined) {
      asked.push(path)
      const response = expectStatus(await call("GET", path, { as: ada }), 200)
      seen.push(...response.json.map((blob: { key: string }) => blob.key))
      const link = /^<([^>]*)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1]
      if (link !== undefined) expect(link).toStartWith(`${testBaseUrl}/v1/blob?`)
      path = link?.slice(testBaseUrl.length)
    }
    expect([seen, asked.length]).toEqual([keys, 3])
  })

  test.each([
    "limit=0",
    "limit=10001",
    "limit=x",
    "limit=-1",
    `prefix=${"a".repeat(513)}`,
    "prefix=%00",
    `after=${"a".repeat(513)}`,
    "prefix=a&prefix=b",
  ])("is refused with %s", async (query) => {
    expect(
      refusalOf(await call("GET", `/v1/blob?${query}`, { as: await suite.sharedUser() })),
    ).toEqual([400, "invalid_request"])
  })
}

function defineSockets(suite: ApiSuite): void {
  let server: Bun.Server<undefined>
  beforeAll(() => {
    server = listen(suite.api)
  })
  afterAll(() => server.stop(true))
  const ask = (as: TestUser, key: string, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${server.port}/v1/blob/${key}`, {
      ...init,
      headers: { authorization: `Bearer ${as.token}` },
    })

  test("content is streamed in both directions, and HEAD returns its length", async () => {
    const ada = await suite.addUser()
    const content = toBytes(5 * mega)
    for (const body of [
      content as BodyInit,
      new Blob([content as Uint8Array<ArrayBuffer>]).stream() as BodyInit,
    ]) {
      expect((await ask(ada, "a", { method: "POST", body })).status).toBe(201)
      expect(Buffer.compare(await (await ask(ada, "a")).bytes(), content)).toBe(0)
    }
    const head = await ask(ada, "a", { method: "HEAD" })
    expect([head.status, head.headers.get("content-length")]).toEqual([200, String(content.length)])
    await store(suite, ada, "b", "small")
    const [got, headed] = [await ask(ada, "b"), await ask(ada, "b", { method: "HEAD" })]
    expect([
      got.headers.get("content-length"),
      await got.text(),
      headed.headers.get("content-length"),
    ]).toEqual(["5", "small", "5"])
  })

  test.each([
    ["with a length", "Content-Length: 100000\r\n\r\nhello"],
    ["with a small length", "Content-Length: 10\r\n\r\nhello"],
    ["in chunks", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"],
    [
      "in many chunks",
      `Transfer-Encoding: chunked\r\n\r\n${`2710\r\n${"x".repeat(10_000)}\r\n`.repeat(40)}`,
    ],
  ])("an upload that is aborted changes nothing, %s", async (_, rest) => {
    const ada = await suite.addUser()
    await store(suite, ada, "a", "old")
    for (const leaving of ["end", "cut"] as const) {
      await exchange(
        server.port ?? 0,
        `POST /v1/blob/a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ada.token}\r\n${rest}`,
        leaving,
      )
      await waitUntil(() => server.pendingRequests === 0)
      expect((await suite.call("GET", "/v1/blob/a", { as: ada })).text).toBe("old")
    }
    expect(await usageOf(suite, ada)).toEqual([3, 1])
    // The received part is deleted by the node that received it.
    const objects = sql`select id from objects where owner_id = ${ada.id}`
    await waitUntil(async () => (await suite.database.db.read(objects)).length === 0)
  })

  test("dot segments in a path are resolved before the key is read, so a key that contains some must be encoded", async () => {
    const ada = await suite.addUser()
    await store(suite, ada, "b", "of b")
    const get = async (target: string) => {
      const bytes = await exchange(
        server.port ?? 0,
        `GET ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ada.token}\r\nConnection: close\r\n\r\n`,
      )
      return parseResponses(bytes)[0]
    }
    expect(await get("/v1/blob/a/../b")).toMatchObject({ status: 200, text: "of b" })
    expect(await get("/v1/blob/a%2F..%2Fb")).toMatchObject({ status: 404 })
    expect(JSON.parse((await get("/v1/blob/.."))?.text ?? "")).toMatchObject({
      code: "route_not_found",
    })
  })
}

function defineLimits(suite: ApiSuite): void {
  const { call, addUser: person } = suite
  const all = mega
  const one = 500_000

  test("a blob over the size limit is refused, with or without content-length", async () => {
    const ada = await person()
    const content = toBytes(one + 1)
    const send = (init: RequestInit) => fetchBlob(suite, ada, "a", { method: "POST", ...init })
    const stream = () => new Blob([content as Uint8Array<ArrayBuffer>]).stream()
    for (const init of [
      { body: "", headers: { "content-length": String(one + 1) } },
      { body: content as BodyInit },
      { body: stream() as BodyInit },
    ]) {
      const response = await send(init)
      expect([response.status, await response.json()]).toEqual([
        413,
        expect.objectContaining({
          code: "body_too_large",
          message: `Cannot store blob "a": it has more than ${one} bytes`,
        }),
      ])
    }
    expect((await send({ body: content.subarray(1) as BodyInit })).status).toBe(201)
    expect(await usageOf(suite, ada)).toEqual([one, 1])
  })

  test("a body whose content-length is over the limit is not read", async () => {
    const ada = await person()
    await store(suite, ada, "a", toBytes(one))
    await store(suite, ada, "b", toBytes(one))
    for (const [size, code] of [
      [one + 1, "body_too_large"],
      [one, "quota_exceeded"],
    ] as const) {
      let isRead = false
      const pull = () => {
        isRead = true
      }
      const body = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 })
      const response = await fetchBlob(suite, ada, "c", {
        method: "POST",
        body,
        headers: { "content-length": String(size) },
      })
      expect([response.status, await response.json(), isRead]).toEqual([
        413,
        expect.objectContaining({ code }),
        false,
      ])
    }
  })

  test("the total size of a user's blobs is limited, and a refused blob leaves nothing behind", async () => {
    const ada = await person()
    await store(suite, ada, "a", toBytes(one))
    await store(suite, ada, "b", toBytes(one))
    const room = all - 2 * one
    for (const size of [room + 1, 60_000, 70_000]) {
      for (const headers of [{}, { "content-length": String(size) }] as Record<string, string>[]) {
        const refused = await call("POST", "/v1/blob/c", { as: ada, body: toBytes(size), headers })
        expect([size, ...refusalOf(refused)]).toEqual([size, 413, "quota_exceeded"])
      }
    }
    await store(suite, ada, "c", toBytes(room))
    expect(refusalOf(await call("POST", "/v1/blob/d", { as: ada, body: "x" }))).toEqual([
      413,
      "quota_exceeded",
    ])
    // In the place of another there is its room.
    await store(suite, ada, "b", toBytes(one))
    expectStatus(await call("DELETE", "/v1/blob/c", { as: ada }), 204)
    await store(suite, ada, "d", "x")
    expect(await usageOf(suite, ada)).toEqual([2 * one + 1, 3])
    const unlinked = await suite.database.db.read(
      sql`select id from objects where owner_id = ${ada.id} and size is null`,
    )
    expect(unlinked).toEqual([])
  })

  test("twenty simultaneous uploads never exceed the total, and the rest are refused", async () => {
    const ada = await person()
    const sizes = Array.from({ length: 20 }, (_, index) =>
      index % 2 === 0 ? 60_000 + index : 100_000 + index,
    )
    const responses = await Promise.all(
      sizes.map((size, index) =>
        call("POST", `/v1/blob/k${index}`, { as: ada, body: toBytes(size) }),
      ),
    )
    const stored = sizes.filter((_, index) => responses[index]?.status === 201)
    const bytes = stored.reduce((sum, size) => sum + size, 0)
    const others = responses.filter(({ status }) => status !== 201)
    // Running uploads count separately, so a client that uploads too much at once is asked to
    // retry.
    for (const response of others)
      expect(["413 quota_exceeded", "429 rate_limited"]).toContain(refusalOf(response).join(" "))
    expect([bytes <= all, others.length > 0, stored.length > 0]).toEqual([true, true, true])
    expect(await usageOf(suite, ada)).toEqual([bytes, stored.length])
    expect(
      await suite.database.db.read(
        sql`select id from objects where owner_id = ${ada.id} and unused_since is not null`,
      ),
    ).toEqual([])
  })

  test("replaced content is kept for a while, up to the user's quota", async () => {
    const ada = await person()
    for (let turn = 0; turn < 8; turn += 1) await store(suite, ada, "a", toBytes(one, turn))
    const rows = await suite.database.db.read<{ size: unknown }>(
      sql`select size from objects where owner_id = ${ada.id} and unused_since is not null`,
    )
    expect([rows.length > 0, rows.length <= 3]).toEqual([true, true])
    expect(Buffer.compare(await (await fetchBlob(suite, ada, "a")).bytes(), toBytes(one, 7))).toBe(
      0,
    )
  })

  test("the quota of one user does not affect another user", async () => {
    const [ada, bob] = [await person(), await person()]
    await store(suite, ada, "a", toBytes(one))
    await store(suite, ada, "b", toBytes(one))
    await store(suite, bob, "a", toBytes(one))
    expect(await usageOf(suite, bob)).toEqual([one, 1])
  })
}

function defineBucket(suite: ApiSuite): void {
  const { call, addUser: person } = suite
  afterEach(() => {
    bucket.fault = undefined
  })

  test("large blobs are stored in the bucket, small ones are not, and all are returned unchanged", async () => {
    const ada = await person()
    const before = bucket.files.size
    for (const size of [10, 65_536, 65_537, 2 * mega, 6 * mega]) {
      await store(suite, ada, `of ${size}`, toBytes(size))
      expect(
        Buffer.compare(await (await fetchBlob(suite, ada, `of ${size}`)).bytes(), toBytes(size)),
      ).toBe(0)
    }
    expect(bucket.files.size).toBe(before + 3)
    const part = await fetchBlob(suite, ada, `of ${6 * mega}`, {
      headers: { range: `bytes=${5 * mega}-${5 * mega + 9}` },
    })
    expect(
      Buffer.compare(await part.bytes(), toBytes(6 * mega).subarray(5 * mega, 5 * mega + 10)),
    ).toBe(0)
  })

  test("while the bucket is unavailable, large blobs are 503 with retry-after, and everything else works", async () => {
    const ada = await person()
    await store(suite, ada, "large", toBytes(100_000))
    await store(suite, ada, "very large", toBytes(3 * mega))
    bucket.fault = () =>
      new Response("<Error><Code>InternalError</Code><Message>away</Message></Error>", {
        status: 500,
      })
    const refused = [
      await call("GET", "/v1/blob/large", { as: ada }),
      await call("GET", "/v1/blob/very%20large", { as: ada }),
      await call("POST", "/v1/blob/large", { as: ada, body: toBytes(200_000) }),
    ]
    for (const response of refused)
      expect([...refusalOf(response), response.headers.get("retry-after")]).toEqual([
        503,
        "storage_unavailable",
        "1",
      ])
    expect(
      (await fetchBlob(suite, ada, "large", { method: "HEAD" })).headers.get("content-length"),
    ).toBe("100000")
    await store(suite, ada, "small", "x")
    expectStatus(await call("DELETE", "/v1/blob/very%20large", { as: ada }), 204)
    expect((await call("GET", "/v1/blob", { as: ada })).json).toMatchObject([
      { key: "large", size: 100_000 },
      { key: "small" },
    ])
    expect(await usageOf(suite, ada)).toEqual([100_001, 2])
  })

  test("a truncated response of the bucket is not served as the whole blob", async () => {
    const ada = await person()
    await store(suite, ada, "a", toBytes(9 * mega))
    bucket.fault = ({ range }) =>
      range?.startsWith("bytes=0-") ? undefined : new Response("", { status: 500 })
    const response = await fetchBlob(suite, ada, "a")
    expect(response.status).toBe(200)
    let isBroken = false
    await response.bytes().catch(() => {
      isBroken = true
    })
    expect(isBroken).toBe(true)
  })
}
