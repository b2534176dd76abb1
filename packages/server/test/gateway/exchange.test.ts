import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import { asOwner } from "../../src/domain/access/rights.ts"
import { hashToken } from "../../src/domain/accounts/token-text.ts"
import { AppError } from "../../src/domain/app-error.ts"
import { toPageKey } from "../../src/shared/cookies.ts"
import { type GatewayFixture, openGatewayFixture } from "./support/gateway-fixture.ts"

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGatewayFixture(undefined, { HAMLET_VAL_BODY_BYTES_MAX: "200000" })
})
afterAll(() => fixture[Symbol.asyncDispose]())

const failure = (error: object) => Response.json(error, { headers: { "x-hamlet-failure": "1" } })
const asAda = (more: Record<string, string> = {}) => ({
  headers: { authorization: `Bearer ${fixture.ada.token}`, ...more },
})
const lastSeen = () => fixture.runner.seen.at(-1)?.headers as Headers

describe("a request through the gateway", () => {
  test("arrives with method, path, query and body", async () => {
    await fixture.addVal("mirror", async (request, path) =>
      Response.json([request.method, path, request.headers.get("host"), await request.text()]),
    )
    const host = `ada-mirror.localhost:${fixture.port}`
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"]) {
      const response = await fixture.request("mirror", "/a%20b/?c=d&c=%65", {
        method,
        body: "text",
      })
      expect(await response.json()).toEqual([method, "/a%20b/?c=d&c=%65", host, "text"])
    }
    expect(await (await fixture.request("mirror")).json()).toEqual(["GET", "/", host, ""])
  })

  test("has a small body stored with the run, but not a large one", async () => {
    const small = await fixture.request("mirror", "/", {
      method: "POST",
      body: "kept",
      headers: { "content-type": "text/x" },
    })
    const large = await fixture.request("mirror", "/", {
      method: "POST",
      body: "x".repeat(100_000),
    })
    expect(await large.text()).toContain("x".repeat(100_000))
    await fixture.runOf(small)
    await fixture.runOf(large)
    const inputOf = (response: Response) =>
      fixture.hamlet.stores.runs.findInput(response.headers.get("x-run-id") ?? "")
    expect(await inputOf(small)).toMatchObject({ body: btoa("kept") })
    expect(await inputOf(small)).toMatchObject({
      headers: expect.arrayContaining([["content-type", "text/x"]]),
    })
    expect(await inputOf(large)).toBeUndefined()
  })

  test("loses hop-by-hop headers, and gets forwarding headers", async () => {
    const text = await fixture.exchange(
      [
        "GET /mirror HTTP/1.1",
        `Host: ada-mirror.localhost:${fixture.port}`,
        "Connection: close, X-Hop, host",
        "X-Hop: 1",
        "Keep-Alive: 1",
        "TE: trailers",
        "Upgrade: h2c",
        "Proxy-Authorization: x",
        "Proxy-Connection: x",
        "Expect: 1",
        "X-Forwarded-For: 6.6.6.6",
        "X-Forwarded-Proto: gopher",
        "X-Forwarded-Port: 6",
        "Forwarded: for=6.6.6.6",
        "X-Real-IP: 6.6.6.6",
        "X-Hamlet-Failure: 1",
        "X-Run-Id: forged",
        "X-Request-Id: forged",
        "X-Mine: stays",
        "Cookie: a=b",
        "\r\n",
      ].join("\r\n"),
    )
    expect(text).toStartWith("HTTP/1.1 200")
    expect(lastSeen().toJSON()).toEqual({
      host: `ada-mirror.localhost:${fixture.port}`,
      cookie: "a=b",
      "x-mine": "stays",
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-host": `ada-mirror.localhost:${fixture.port}`,
      "x-forwarded-proto": "http",
    })
  })

  test("keeps an Authorization header for the val, but no token of this server in any encoding", async () => {
    const pass = async (authorization: string) => {
      await fixture.request("mirror", "/", { headers: { authorization } })
      return lastSeen().get("authorization")
    }
    expect(await pass("Bearer some-token-of-the-val")).toBe("Bearer some-token-of-the-val")
    expect(await pass("Basic YTpi")).toBe("Basic YTpi")
    expect(await pass(`Bearer ${"x".repeat(40)}`)).toBe(`Bearer ${"x".repeat(40)}`)
    expect(await pass(`Bearer ${fixture.bob.token}`)).toBeNull()
    expect(await pass(`token ${fixture.bob.token}`)).toBeNull()
    // Well-formed, but not a valid token.
    expect(await pass(`Bearer hamlet_${"A".repeat(36)}`)).toBeNull()
    expect(await pass(`Bearer hamlet_${"A".repeat(49)}`)).toBeNull()
    expect(await pass(`Bearer hamlet_session_${"A".repeat(49)}`)).toBeNull()
  })

  test("keeps basic credentials for the val, but no token of this server in either part", async () => {
    const chosen = "a-token-that-the-operator-has-chosen-0123456789"
    const record = {
      id: Bun.randomUUIDv7(),
      name: "chosen",
      scopes: [],
      createdAt: 0,
      expiresAt: null,
      lastUsedAt: null,
    }
    await fixture.hamlet.stores.tokens.add({
      ...record,
      userId: fixture.bob.id,
      hash: hashToken(chosen),
    })
    const pass = async (authorization: string) => {
      await fixture.request("mirror", "/", { headers: { authorization } })
      return lastSeen().get("authorization")
    }
    const basic = (text: string) => `Basic ${btoa(text)}`
    for (const own of [
      "ada:secret",
      "ada:",
      ":secret",
      "ada",
      `ada:${"p".repeat(60)}`,
      `ada:hamlet_${"A".repeat(10)}`,
    ])
      expect(await pass(basic(own))).toBe(basic(own))
    for (const token of [
      fixture.bob.token,
      chosen,
      `hamlet_${"A".repeat(49)}`,
      `hamlet_session_${"A".repeat(49)}`,
    ])
      for (const text of [`ada:${token}`, `${token}:`, `${token}:x`, `:${token}`, token])
        expect([
          text,
          await pass(basic(text)),
          await pass(basic(text).replace("Basic", "basic ")),
        ]).toEqual([text, null, null])
    const unusual = btoa(`>>>???:${fixture.bob.token}`)
    expect(
      await pass(`Basic ${unusual.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`),
    ).toBeNull()
    expect(await pass(`${basic("ada:secret")}, ${basic(`ada:${fixture.bob.token}`)}`)).toBeNull()
    expect(await pass(`Basic ${fixture.bob.token}`)).toBeNull()
  })

  test("with a body over the limit is refused, with or without content-length", async () => {
    const sized = await fixture.request("mirror", "/", {
      method: "POST",
      body: "x".repeat(200_001),
      headers: { accept: "application/json" },
    })
    expect([sized.status, await sized.json()]).toEqual([
      413,
      expect.objectContaining({ code: "body_too_large" }),
    ])
    const body = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(50_000))
      },
    })
    const endless = await fixture.request("mirror", "/", { method: "POST", body })
    expect(endless.status).toBe(413)
    expect(await fixture.runOf(endless)).toMatchObject({
      status: "failed",
      error: { name: "BodyTooLarge" },
    })
  })

  test("streams its body to the val while it is sent", async () => {
    const first = Promise.withResolvers<string>()
    await fixture.addVal("slurp", async (request) => {
      const reader = request.body?.getReader()
      first.resolve(new TextDecoder().decode((await reader?.read())?.value))
      while (!(await reader?.read())?.done);
      return new Response("all")
    })
    const pipe = new TransformStream<Uint8Array, Uint8Array>()
    const answer = fixture.request("slurp", "/", { method: "POST", body: pipe.readable })
    const writer = pipe.writable.getWriter()
    await writer.write(new TextEncoder().encode("first"))
    expect(await first.promise).toBe("first")
    await writer.close()
    expect(await (await answer).text()).toBe("all")
  })
})

describe("the cookie of a session", () => {
  const send = async (...lines: readonly string[]) => {
    const head = [
      "GET /mirror HTTP/1.1",
      `Host: ada-mirror.localhost:${fixture.port}`,
      "Connection: close",
      ...lines,
      "\r\n",
    ]
    expect(await fixture.exchange(head.join("\r\n"))).toStartWith("HTTP/1.1 200")
    return lastSeen().get("cookie")
  }

  test("reaches no val, at any position in the header", async () => {
    expect(await send("Cookie: hamlet_session=x")).toBeNull()
    expect(
      await send("Cookie: __Host-hamlet_session=x; hamlet_session=y;hamlet_session"),
    ).toBeNull()
    expect(await send("Cookie: a=b;  hamlet_session = x;c=d;__host-Hamlet_Session=y; e")).toBe(
      "a=b; c=d; e",
    )
    expect(await send("Cookie: a=b", "Cookie: hamlet_session=x", "cookie: c=d")).toBe("a=b; c=d")
  })

  test("is removed without other cookies", async () => {
    for (const cookie of [
      "a=hamlet_session; b=c",
      "hamlet_sessions=1; xhamlet_session=2",
      'a="x;y"; a=b',
    ])
      expect(await send(`Cookie: ${cookie}`)).toBe(cookie)
  })

  test("cannot be set by a val", async () => {
    await fixture.addVal("planter", () => {
      const headers = new Headers()
      for (const name of ["hamlet_session", "__Host-hamlet_session", "mine"])
        headers.append("set-cookie", `${name}=x; Path=/; Domain=localhost`)
      return new Response("x", { headers })
    })
    expect((await fixture.request("planter")).headers.getSetCookie()).toEqual(["mine=x; Path=/"])
  })

  test("gives no access to a private val", async () => {
    const { text } = await fixture.hamlet.nouns.sessions.signIn({
      token: fixture.ada.token,
      userAgent: null,
      replaced: undefined,
    })
    await fixture.addVal("hidden", undefined, { privacy: "private" })
    const status = async (headers: Record<string, string>) =>
      (await fixture.request("hidden", "/", { headers })).status
    expect(
      await status({ cookie: `hamlet_session=${text}`, "x-hamlet-session": toPageKey(text) }),
    ).toBe(404)
    expect(await status({ authorization: `Bearer ${text}` })).toBe(404)
    expect(await status({ authorization: `Bearer ${fixture.ada.token}` })).toBe(200)
  })
})

describe("a response through the gateway", () => {
  test("keeps its cookies separate and host-only, and loses hop-by-hop and reserved headers", async () => {
    await fixture.addVal("cookies", () => {
      const headers = new Headers({
        "clear-site-data": '"*"',
        "alt-svc": "h3=x",
        "x-hamlet-x": "1",
        "x-run-id": "forged",
        "x-mine": "stays",
      })
      headers.append("set-cookie", "a=1; Path=/; Domain=localhost; Secure")
      headers.append("set-cookie", "b=2;DOMAIN = .localhost")
      headers.append("set-cookie", "c=domain; Expires=Wed, 09 Jun 2100 10:18:14 GMT")
      return new Response("x", { headers })
    })
    const { headers } = await fixture.request("cookies")
    expect(headers.getSetCookie()).toEqual([
      "a=1; Path=/; Secure",
      "b=2",
      "c=domain; Expires=Wed, 09 Jun 2100 10:18:14 GMT",
    ])
    for (const name of ["clear-site-data", "alt-svc", "x-hamlet-x"])
      expect(headers.get(name)).toBeNull()
    expect(headers.get("x-mine")).toBe("stays")
    expect(headers.get("x-run-id")).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  })

  test("to HEAD has a length and no body", async () => {
    await fixture.addVal(
      "heads",
      () => new Response(null, { headers: { "content-length": "1000", "x-a": "b" } }),
    )
    const text = await fixture.exchange(
      `HEAD / HTTP/1.1\r\nHost: ada-heads.localhost\r\nConnection: close\r\n\r\n`,
    )
    expect(text.toLowerCase()).toContain("content-length: 1000\r\n")
    expect(text).toEndWith("\r\n\r\n<closed>")
  })

  test("to HEAD states no length where the val states none", async () => {
    await fixture.addVal("streaming", () => new Response(new ReadableStream()))
    const text = await fixture.exchange(
      `HEAD / HTTP/1.1\r\nHost: ada-streaming.localhost\r\nConnection: close\r\n\r\n`,
    )
    expect(text.toLowerCase()).not.toContain("content-length")
    expect(text).toEndWith("\r\n\r\n<closed>")
  })

  for (const status of [204, 304, 205]) {
    test(`with status ${status} has no body`, async () => {
      await fixture.addVal(
        `bodiless${status}`,
        () => new Response(null, { status, headers: { etag: '"x"' } }),
      )
      const response = await fixture.request(`bodiless${status}`)
      expect([response.status, response.headers.get("etag"), await response.text()]).toEqual([
        status,
        '"x"',
        "",
      ])
    })
  }

  test("is forwarded compressed, unchanged", async () => {
    const packed = Bun.gzipSync(new TextEncoder().encode("packed"))
    await fixture.addVal(
      "packed",
      () => new Response(packed, { headers: { "content-encoding": "gzip" } }),
    )
    const response = await fixture.request("packed")
    expect(response.headers.get("content-encoding")).toBe("gzip")
    expect(new TextDecoder().decode(Bun.gunzipSync(await response.bytes()))).toBe("packed")
  })

  test("gets no content type that the val did not set", async () => {
    await fixture.addVal("untyped", () => new Response(new Uint8Array([1, 2])))
    fixture.runner.serveRaw("ada/untyped", (socket) =>
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nab"),
    )
    const response = await fixture.request("untyped")
    expect([response.headers.get("content-type"), await response.text()]).toEqual([null, "ab"])
  })

  test("redirects the client, not the gateway", async () => {
    await fixture.addVal("away", () => Response.redirect("http://elsewhere.example/", 302))
    expect((await fixture.request("away")).headers.get("location")).toBe(
      "http://elsewhere.example/",
    )
  })

  test("is streamed: every event arrives before the next is created", async () => {
    const next = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await fixture.addVal("events", () => {
      const parts = async function* () {
        for (const [index, { promise }] of next.entries()) {
          yield new TextEncoder().encode(`data: ${index}\n\n`)
          await promise
        }
      }
      return new Response(parts() as unknown as BodyInit, {
        headers: { "content-type": "text/event-stream" },
      })
    })
    const response = await fixture.request("events")
    const reader = response.body?.getReader()
    const read = async () => new TextDecoder().decode((await reader?.read())?.value)
    expect(await read()).toBe("data: 0\n\n")
    expect(fixture.runner.taken.size).toBe(1)
    next[0]?.resolve()
    expect(await read()).toBe("data: 1\n\n")
    next[1]?.resolve()
    expect((await reader?.read())?.done).toBe(true)
    expect(await fixture.runOf(response)).toMatchObject({ status: "succeeded" })
    expect(fixture.runner.taken.size).toBe(0)
  })

  test("of any size arrives whole", async () => {
    const bytes = new Uint8Array(5_000_000).map((_, index) => index % 251)
    await fixture.addVal("large", () => new Response(bytes))
    expect(Bun.hash(await (await fixture.request("large")).bytes())).toBe(Bun.hash(bytes))
  })
})

describe("a client that disconnects", () => {
  test("before the response cancels the run and aborts the val's request", async () => {
    const asked = Promise.withResolvers<void>()
    const gone = Promise.withResolvers<void>()
    await fixture.addVal("waits", (request) => {
      request.signal.addEventListener("abort", () => gone.resolve())
      asked.resolve()
      return new Promise<Response>(() => {})
    })
    const client = new AbortController()
    const answer = fixture.request("waits", "/", { signal: client.signal }).catch(() => undefined)
    await asked.promise
    client.abort()
    await gone.promise
    await answer
    const { items } = await untilRun("waits")
    expect(items[0]).toMatchObject({ status: "cancelled" })
    expect(fixture.runner.taken.size).toBe(0)
  })

  test("during the response ends the val's stream, and the run succeeds", async () => {
    const gone = Promise.withResolvers<void>()
    await fixture.addVal("pours", () => {
      const stream = new ReadableStream({
        async pull(controller) {
          await new Promise((resolve) => setImmediate(resolve))
          controller.enqueue(new Uint8Array(1000))
        },
        cancel: () => gone.resolve(),
      })
      return new Response(stream)
    })
    const client = new AbortController()
    const response = await fixture.request("pours", "/", { signal: client.signal })
    await response.body?.getReader().read()
    client.abort()
    await gone.promise
    expect(await fixture.runOf(response)).toMatchObject({
      status: "succeeded",
      request: { status: 200 },
    })
    expect(fixture.runner.taken.size).toBe(0)
  })

  async function untilRun(name: string) {
    const val = await fixture.hamlet.stores.vals.findByName("ada", name, asOwner(fixture.ada.id))
    return waitUntil(async () => {
      const filter = { error: undefined, sources: undefined, since: undefined, until: undefined }
      const runs = await fixture.hamlet.stores.runs.listOfVal(val?.id ?? "", undefined, filter, {
        limit: 1,
        offset: 0,
      })
      return runs.items[0] && runs.items[0].endedAt !== null && runs
    })
  }
})

test("gets a broken response when the run is cancelled during it", async () => {
  const gone = Promise.withResolvers<void>()
  await fixture.addVal("endless", () => {
    const first = (controller: ReadableStreamDefaultController) =>
      controller.enqueue(new Uint8Array(10))
    return new Response(new ReadableStream({ start: first, cancel: () => gone.resolve() }))
  })
  const response = await fixture.request("endless")
  const reader = response.body?.getReader()
  await reader?.read()
  const id = response.headers.get("x-run-id")
  // A run is on disk, where it is looked for, a moment after it has begun.
  const cancel = () =>
    fetch(`http://127.0.0.1:${fixture.port}/v1/runs/${id}/cancel`, { method: "POST", ...asAda() })
  await waitUntil(async () => (await cancel()).ok)
  expect(await reader?.read().catch(() => "broken")).toBe("broken")
  await gone.promise
  expect(await fixture.runOf(response)).toMatchObject({
    status: "cancelled",
    request: { status: 200 },
  })
})

describe("a val that fails", () => {
  const thrown = {
    name: "TypeError",
    message: "<b>x</b> is not a function",
    stack: "TypeError: <b>x</b>\n    at ada/throws.tsx:1:2",
  }

  test("is a 502 that shows others only the run id", async () => {
    await fixture.addVal("throws", () => failure(thrown))
    const response = await fixture.request("throws")
    const text = await response.text()
    const id = response.headers.get("x-run-id") ?? ""
    expect([response.status, response.headers.get("content-type")]).toEqual([
      502,
      "text/html; charset=utf-8",
    ])
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'")
    expect(text).toContain(id)
    expect(text).not.toMatch(/TypeError|is not a function|throws\.tsx/)
    expect(await fixture.runOf(response)).toMatchObject({
      status: "failed",
      error: thrown,
      request: { status: 502 },
    })
  })

  test("shows its owner the error, escaped", async () => {
    const text = await (await fixture.request("throws", "/", asAda())).text()
    expect(text).toContain("at ada/throws.tsx:1:2")
    expect(text).toContain("&lt;b&gt;x&lt;/b&gt;")
    expect(text).not.toContain("<b>")
  })

  test("responds in JSON to a client that accepts it, with the error for the owner only", async () => {
    const strange = await fixture.request("throws", "/", {
      headers: { accept: "application/json, */*" },
    })
    const runId = strange.headers.get("x-run-id")
    const shape = {
      statusCode: 502,
      error: "Bad Gateway",
      code: "run_failed",
      message: expect.any(String),
      requestId: runId,
      runId,
    }
    expect(await strange.json()).toEqual(shape)
    const own = await fixture.request("throws", "/", asAda({ accept: "application/json" }))
    expect(await own.json()).toMatchObject({ code: "run_failed", runError: thrown })
    const other = await fixture.request("throws", "/", {
      headers: { accept: "application/json", authorization: `Bearer ${fixture.bob.token}` },
    })
    expect(await other.json()).not.toHaveProperty("runError")
  })

  for (const [code, status] of [
    ["too_many_runs", 429],
    ["overloaded", 503],
    ["sandbox_unavailable", 503],
  ] as const) {
    test(`or gets no process is ${status} for ${code}, with retry-after`, async () => {
      await fixture.addVal(`full${status}${code.length}`)
      fixture.runner.refusal = new AppError(code, "Cannot run the val: there are too many")
      try {
        const response = await fixture.request(`full${status}${code.length}`, "/", {
          headers: { accept: "application/json" },
        })
        expect([response.status, response.headers.get("retry-after")]).toEqual([status, "1"])
        expect(await response.json()).toMatchObject({ code })
        expect(await fixture.runOf(response)).toMatchObject({ status: "failed" })
      } finally {
        fixture.runner.refusal = undefined
      }
    })
  }

  test("by an internal error is a 500 without details, and leaves no run open", async () => {
    await fixture.addVal("unlucky")
    fixture.runner.refusal = new Error("a bug with a secret in it")
    try {
      const response = await fixture.request("unlucky", "/", asAda())
      expect([response.status, await response.text()]).toEqual([
        500,
        expect.not.stringContaining("secret"),
      ])
    } finally {
      fixture.runner.refusal = undefined
    }
    const val = await fixture.hamlet.stores.vals.findByName(
      "ada",
      "unlucky",
      asOwner(fixture.ada.id),
    )
    const filter = { error: undefined, sources: undefined, since: undefined, until: undefined }
    const list = () =>
      fixture.hamlet.stores.runs.listOfVal(val?.id ?? "", undefined, filter, {
        limit: 1,
        offset: 0,
      })
    const hasEnded = async () => typeof (await list()).items[0]?.endedAt === "number"
    await waitUntil(hasEnded)
    expect((await list()).items[0]?.status).toBe("crashed")
  })

  test("or takes too long is a 504", async () => {
    const asked = Promise.withResolvers<void>()
    await fixture.addVal("sleeps", () => {
      asked.resolve()
      return new Promise<Response>(() => {})
    })
    const answer = fixture.request("sleeps")
    await asked.promise
    for (const slot of fixture.runner.taken) slot.stop("timed_out")
    expect((await answer).status).toBe(504)
    expect(await fixture.runOf(await answer)).toMatchObject({
      status: "timed_out",
      request: { status: 504 },
    })
  })
})
