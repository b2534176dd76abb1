import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { limits, type valResponse } from "@hamlet/contract"
import { waitUntil } from "@hamlet/kit/testing"
import type { z } from "zod"
import { asOwner } from "../../src/domain/access/rights.ts"
import { runScopes } from "../../src/domain/accounts/run-tokens.ts"
import { AppError } from "../../src/domain/app-error.ts"
import type { Val } from "../../src/domain/vals/vals.ts"
import type { TestUser } from "../support/api.ts"
import { describeSqlite } from "../support/databases.ts"
import { type GatewayFixture, openGatewayFixture } from "./support/gateway-fixture.ts"
import type { PlainVal } from "./support/plain-runner.ts"

type ValResponse = z.output<typeof valResponse>

/** What a val was sent, as it tells. */
interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string
}

const echo: PlainVal = async (request, path) => {
  const body = Buffer.from(await request.arrayBuffer()).toString("base64")
  return Response.json({
    method: request.method,
    path,
    headers: Object.fromEntries(request.headers),
    body,
  })
}

describeSqlite("sendValRequest", (open) => {
  let fixture: GatewayFixture
  let vals: Record<"echo" | "hidden" | "script" | "throws", Val>
  beforeAll(async () => {
    fixture = await openGatewayFixture(open)
    vals = {
      echo: await fixture.addVal("echo", echo),
      hidden: await fixture.addVal("hidden", echo, { privacy: "private" }),
      script: await fixture.addVal("script", echo, { type: "script" }),
      throws: await fixture.addVal("throws", () => {
        return Response.json(
          { name: "RangeError", message: "too far" },
          { headers: { "x-hamlet-failure": "1" } },
        )
      }),
    }
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const post = (
    val: Pick<Val, "id">,
    body: unknown,
    as: TestUser = fixture.ada,
    headers: Record<string, string> = {},
  ) =>
    fetch(`http://127.0.0.1:${fixture.port}/v1/vals/${val.id}/requests`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${as.token}`,
        "content-type": "application/json",
        ...headers,
      },
      body: JSON.stringify(body),
    })
  const send = async (
    val: Pick<Val, "id">,
    request: object = {},
    as?: TestUser,
  ): Promise<ValResponse> => {
    const response = await post(val, { method: "GET", path: "/", ...request }, as)
    const text = await response.text()
    expect(`${response.status} ${response.ok ? "" : text}`).toBe("200 ")
    return JSON.parse(text)
  }
  const see = async (val: Pick<Val, "id">, request: object = {}, as?: TestUser): Promise<Seen> =>
    JSON.parse((await send(val, request, as)).body)
  const codeOf = async (response: Response) => [
    response.status,
    ((await response.json()) as { code: string }).code,
  ]

  test("sends the request, and returns the response", async () => {
    const answer = await send(vals.echo, {
      method: "POST",
      path: "/a/b?c=d&c=%20",
      headers: [["X-Mine", "1"]],
      body: "é\0",
    })
    expect(answer).toMatchObject({
      status: 200,
      statusText: "OK",
      isBase64: false,
      isTruncated: false,
    })
    expect(answer.headers).toContainEqual(["content-type", "application/json;charset=utf-8"])
    expect(answer.headers).toContainEqual(["x-run-id", answer.runId ?? ""])
    const seen: Seen = JSON.parse(answer.body)
    expect(seen).toMatchObject({
      method: "POST",
      path: "/a/b?c=d&c=%20",
      body: Buffer.from("é\0").toString("base64"),
    })
    expect(seen.headers).toMatchObject({
      "x-mine": "1",
      host: `ada-echo.localhost:${fixture.port}`,
      "content-length": "3",
    })
    expect(seen.headers).toMatchObject({
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-host": `ada-echo.localhost:${fixture.port}`,
    })
    // Nothing is added that a visitor would not have sent.
    expect(Object.keys(seen.headers)).not.toContain("authorization")
    expect(Object.keys(seen.headers)).not.toContain("content-type")
  })

  test("the run is recorded before the response is returned", async () => {
    const { runId } = await send(vals.echo, { path: "/kept" })
    const run = await fixture.hamlet.stores.runs.find(asOwner(fixture.ada.id), runId ?? "")
    expect(run).toMatchObject({ status: "succeeded", source: "http", val: { name: "echo" } })
    expect(run?.request).toEqual({
      method: "GET",
      url: `http://ada-echo.localhost:${fixture.port}/kept`,
      status: 200,
    })
    expect(fixture.runner.taken.size).toBe(0)
  })

  test("accepts headers as an object, and bytes as base64", async () => {
    const seen = await see(vals.echo, {
      method: "PUT",
      headers: { "X-A": "1", "content-type": "image/png" },
      bodyBase64: "/wA=",
    })
    expect(seen).toMatchObject({
      headers: { "x-a": "1", "content-type": "image/png" },
      body: "/wA=",
    })
  })

  for (const method of [
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "PATCH",
    "DELETE",
    "OPTIONS",
    "QUERY",
    "delete",
  ])
    test(`sends ${method}`, async () => {
      const before = fixture.runner.seen.length
      const answer = await send(vals.echo, { method, path: `/${method}` })
      expect(answer.status).toBe(200)
      expect(fixture.runner.seen[before]?.path).toBe(`/${method}`)
      if (method === "HEAD")
        expect(answer).toMatchObject({ body: "", isBase64: false, isTruncated: false })
      else expect(JSON.parse(answer.body).method).toBe(method.toUpperCase())
    })

  test("a large body arrives whole", async () => {
    const body = "x".repeat(300_000)
    const seen = await see(vals.echo, { method: "POST", body })
    expect(Buffer.from(seen.body, "base64").toString()).toBe(body)
  })

  test("ignores hop-by-hop headers and content-length", async () => {
    const { headers } = await see(vals.echo, {
      method: "POST",
      body: "four",
      headers: [
        ["Host", "evil.example"],
        ["Content-Length", "1"],
        ["Transfer-Encoding", "chunked"],
        ["Upgrade", "websocket"],
        ["Connection", "upgrade, x-secret"],
        ["X-Secret", "1"],
        ["TE", "trailers"],
        ["Expect", "100-continue"],
        ["X-Forwarded-For", "6.6.6.6"],
        ["X-Real-IP", "6.6.6.6"],
        ["X-Run-Id", "mine"],
        ["X-Hamlet-Depth", "9"],
        ["X-Hamlet-Anything", "9"],
        ["X-Val-Town-User", "forged"],
        ["x-VAL-town-ACCESS", "forged"],
      ],
    })
    const names = Object.keys(headers)
    for (const name of [
      "transfer-encoding",
      "upgrade",
      "x-secret",
      "te",
      "expect",
      "x-real-ip",
      "x-run-id",
      "x-hamlet-anything",
      "x-val-town-user",
      "x-val-town-access",
    ])
      expect(names).not.toContain(name)
    expect(headers).toMatchObject({
      host: `ada-echo.localhost:${fixture.port}`,
      "content-length": "4",
      "x-forwarded-for": "127.0.0.1",
    })
    expect(headers["x-hamlet-depth"]).toBeUndefined()
  })

  test("a request without a body has no length, and cannot upgrade to a WebSocket", async () => {
    const headers = {
      "content-length": "5",
      "transfer-encoding": "chunked",
      upgrade: "websocket",
      connection: "upgrade",
    }
    const handshake = {
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      "sec-websocket-version": "13",
    }
    const seen = await see(vals.echo, { headers: { ...headers, ...handshake } })
    for (const name of Object.keys(headers).filter((name) => name !== "connection"))
      expect(seen.headers[name]).toBeUndefined()
    // Kept with the run, since it is known how much of it there is.
    const { runId } = await send(vals.echo, {
      method: "POST",
      headers: { "transfer-encoding": "chunked" },
      body: "kept",
    })
    expect(await fixture.hamlet.stores.runs.findInput(runId ?? "")).toMatchObject({
      body: Buffer.from("kept").toString("base64"),
    })
  })

  test("a path that looks like a URL stays a path", async () => {
    for (const path of [
      "//evil.example/x",
      "/http://evil.example/",
      "/@evil.example",
      "/?http://evil.example",
      "/;x\\y",
      "/%0d%0ax:%20y",
    ]) {
      const { path: seen, headers } = await see(vals.echo, { path })
      expect([seen.startsWith("/"), headers.host]).toEqual([
        true,
        `ada-echo.localhost:${fixture.port}`,
      ])
    }
  })

  describe("refuses", () => {
    const long = "x".repeat(limits.requestHeadCharsMax)
    const bad: Record<string, object> = {
      "a path without /": { path: "x" },
      "an address": { path: "http://evil.example/" },
      "no path": { path: "" },
      "a space in the path": { path: "/a b" },
      "a line in the path": { path: "/ HTTP/1.1\r\nx: y" },
      "a path that is no ASCII": { path: "/é" },
      "a fragment": { path: "/#x" },
      "a path that is too long": { path: `/${long}` },
      "a method with a space": { method: "GET /x" },
      "no method": { method: "" },
      "a method that no visitor can send": { method: "FOO" },
      CONNECT: { method: "CONNECT" },
      trace: { method: "trace" },
      "a name of a header with a colon": { headers: [["a:b", "1"]] },
      "a name of a header with a line": { headers: [["a\r\nb", "1"]] },
      "a header without a name": { headers: { "": "1" } },
      "a value with a line": { headers: [["a", "1\r\nb: 2"]] },
      "a value with a NUL": { headers: { a: "\0" } },
      "a value that is no ASCII": { headers: { a: "é" } },
      "half a header": { headers: [["a"]] },
      "too many headers": {
        headers: Array.from({ length: limits.requestHeadersMax + 1 }, (_, index) => [
          `a${index}`,
          "1",
        ]),
      },
      "headers that are too long together": {
        headers: [
          ["a", long.slice(0, -10)],
          ["b", "0123456789"],
        ],
      },
      "two bodies": { method: "POST", body: "a", bodyBase64: "YQ==" },
      "a body that is no base64": { method: "POST", bodyBase64: "!" },
      "a GET with a body": { body: "a" },
      "half a surrogate pair": { method: "POST", body: "\ud800" },
    }
    for (const [what, request] of Object.entries(bad))
      test(what, async () => {
        const before = fixture.runner.seen.length
        expect(
          await codeOf(await post(vals.echo, { method: "GET", path: "/", ...request })),
        ).toEqual([400, "invalid_request"])
        expect(fixture.runner.seen.length).toBe(before)
      })

    test("a val that is not of type http", async () => {
      expect(await codeOf(await post(vals.script, { method: "GET", path: "/" }))).toEqual([
        409,
        "not_http",
      ])
    })

    test("a chain of vals that is too long", async () => {
      const ask = (depth: string) =>
        post(vals.echo, { method: "GET", path: "/" }, fixture.ada, { "x-hamlet-depth": depth })
      expect(await codeOf(await ask("16"))).toEqual([508, "call_too_deep"])
      expect((await ask("15")).status).toBe(200)
    })

    test("a caller without run:write, such as a val", async () => {
      expect(runScopes).not.toContain("run:write")
      const token = fixture.hamlet.parts.accounts.runTokens.issue(fixture.ada)
      expect(
        await codeOf(
          await post(vals.echo, { method: "GET", path: "/" }, { ...fixture.ada, token }),
        ),
      ).toEqual([403, "missing_scope"])
    })
  })

  describe("access", () => {
    const bearer = (user: TestUser) => [["authorization", `Bearer ${user.token}`]]

    test("a private val responds to its owner only, whatever token is in the headers", async () => {
      expect((await send(vals.hidden)).status).toBe(200)
      expect((await send(vals.hidden, { headers: bearer(fixture.bob) })).status).toBe(200)
      const request = { method: "GET", path: "/", headers: bearer(fixture.ada) }
      expect(await codeOf(await post(vals.hidden, request, fixture.bob))).toEqual([
        404,
        "val_not_found",
      ])
    })

    test("only the owner gets the error, whatever token is in the headers", async () => {
      const json = [["accept", "application/json"]]
      const toOwner = await send(vals.throws, { headers: json })
      expect([toOwner.status, toOwner.statusText, toOwner.body]).toEqual([
        502,
        "Bad Gateway",
        expect.stringContaining("too far"),
      ])
      expect(toOwner.runId).toBe(JSON.parse(toOwner.body).runId)
      const toOther = await send(
        vals.throws,
        { headers: [...json, ...bearer(fixture.ada)] },
        fixture.bob,
      )
      expect([toOther.status, toOther.body.includes("too far")]).toEqual([502, false])
    })

    test("no val receives a token of this server, and every val receives the other headers", async () => {
      expect(
        (await see(vals.echo, { headers: bearer(fixture.bob) })).headers.authorization,
      ).toBeUndefined()
      const { headers } = await see(vals.echo, {
        headers: { Authorization: "Basic YTpi", Cookie: "session=1" },
      })
      expect(headers).toMatchObject({ authorization: "Basic YTpi", cookie: "session=1" })
    })

    test("the run is on the account of the val's owner, like that of any visitor", async () => {
      const { runId } = await send(vals.echo, {}, fixture.bob)
      expect(
        await fixture.hamlet.stores.runs.find(asOwner(fixture.bob.id), runId ?? ""),
      ).toBeUndefined()
      expect(
        await fixture.hamlet.stores.runs.find(asOwner(fixture.ada.id), runId ?? ""),
      ).toBeDefined()
    })
  })

  describe("responses", () => {
    const answer = async (name: string, val: PlainVal, request?: object) =>
      send(await fixture.addVal(name, val), request)

    test("a redirect is not followed, and cookies stay separate", async () => {
      const headers = new Headers({ location: "http://evil.example/" })
      headers.append("set-cookie", "a=1")
      headers.append("set-cookie", "b=2; Domain=localhost")
      const got = await answer("redirects", () => new Response(null, { status: 302, headers }))
      expect([got.status, got.statusText, got.body]).toEqual([302, "Found", ""])
      expect(got.headers).toContainEqual(["location", "http://evil.example/"])
      expect(
        got.headers.filter(([name]) => name === "set-cookie").map(([, value]) => value),
      ).toEqual(["a=1", "b=2"])
    })

    for (const status of [204, 205, 304])
      test(`${status} has no body`, async () => {
        expect(await answer(`bare${status}`, () => new Response(null, { status }))).toMatchObject({
          status,
          body: "",
          isBase64: false,
        })
      })

    test("bytes are returned as base64", async () => {
      const got = await answer(
        "picture",
        () => new Response(Uint8Array.of(0xff, 0), { headers: { "content-type": "image/png" } }),
      )
      expect(got).toMatchObject({ body: "/wA=", isBase64: true, isTruncated: false })
    })

    test("an endless response is truncated and cancelled, and its run ends", async () => {
      const cancelled = Promise.withResolvers<void>()
      const piece = Buffer.alloc(65_536, "x")
      const got = await answer("endless", () => {
        const cancel = () => cancelled.resolve()
        const stream = new ReadableStream({
          pull: (controller) => controller.enqueue(piece),
          cancel,
        })
        return new Response(stream, { headers: { "content-type": "text/plain" } })
      })
      expect(got).toMatchObject({ status: 200, isBase64: false, isTruncated: true })
      expect(got.body).toBe("x".repeat(limits.responseBytesMax))
      await cancelled.promise
      expect(await fixture.runOf(got.runId ?? "")).toMatchObject({ status: "succeeded" })
      expect(fixture.runner.taken.size).toBe(0)
    })

    test("a broken response is returned as far as it was received, and its run fails", async () => {
      const val = await fixture.addVal("breaks")
      fixture.runner.serveRaw("ada/breaks", (socket) => {
        socket.end("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 100\r\n\r\nhalf")
      })
      const got = await send(val)
      expect(got).toMatchObject({ status: 200, body: "half", isTruncated: true })
      expect(await fixture.runOf(got.runId ?? "")).toMatchObject({ status: "failed" })
    })

    test("overload is returned as a response", async () => {
      fixture.runner.refusal = new AppError("overloaded", "Cannot run the val: the server is full")
      try {
        const got = await send(vals.echo)
        expect(got).toMatchObject({
          status: 503,
          statusText: "Service Unavailable",
          runId: expect.any(String),
        })
        expect(got.headers).toContainEqual(["retry-after", "1"])
      } finally {
        fixture.runner.refusal = undefined
      }
    })

    test("a client that disconnects cancels its request", async () => {
      const asked = Promise.withResolvers<void>()
      const val = await fixture.addVal("waits", () => {
        asked.resolve()
        return new Promise<Response>(() => {})
      })
      const leaving = new AbortController()
      const request = fetch(`http://127.0.0.1:${fixture.port}/v1/vals/${val.id}/requests`, {
        method: "POST",
        headers: { authorization: `Bearer ${fixture.ada.token}` },
        body: JSON.stringify({ method: "GET", path: "/" }),
        signal: leaving.signal,
      }).catch(() => "left")
      await asked.promise
      leaving.abort()
      expect(await request).toBe("left")
      await waitUntil(() => fixture.runner.taken.size === 0)
    })
  })
})
