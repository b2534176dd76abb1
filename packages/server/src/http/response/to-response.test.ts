import { describe, expect, test } from "bun:test"
import { content, json, noContent } from "./api-response.ts"
import { preflight, toResponse } from "./to-response.ts"

const plain = (method = "GET", headers: Record<string, string> = {}) =>
  new Request("http://hamlet.test/", { method, headers })
const headersOf = (response: Response) => Object.fromEntries(response.headers)

describe("toResponse", () => {
  test("keeps status, headers and body, and adds the common headers", async () => {
    const response = toResponse(json(201, { a: "ü" }, { location: "/x" }), "the-id", plain())

    expect(response.status).toBe(201)
    expect(headersOf(response)).toEqual({
      "cache-control": "no-store",
      "content-type": "application/json; charset=utf-8",
      location: "/x",
      "x-content-type-options": "nosniff",
      "x-request-id": "the-id",
    })
    expect(await response.text()).toBe('{"a":"ü"}')
  })

  test("keeps the cache-control of the handler", () => {
    const response = toResponse(
      content("text/plain", "x", { "cache-control": "public" }),
      "id",
      plain(),
    )
    expect(response.headers.get("cache-control")).toBe("public")
  })

  test("keeps bytes unchanged", async () => {
    const bytes = new Uint8Array([0, 255, 128])
    expect(await toResponse(content("image/png", bytes), "id", plain()).bytes()).toEqual(bytes)
  })

  test.each([204, 304])("sends no body with status %i", async (status) => {
    const response = toResponse({ ...noContent(), status }, "id", plain())
    expect(response.body).toBeNull()
    expect(response.headers.get("content-type")).toBeNull()
  })

  test("sends no body with 204 even if a stored response has one", () => {
    expect(toResponse({ status: 204, headers: {}, body: "" }, "id", plain()).body).toBeNull()
  })

  // Bun drops the body of HEAD; the length must still be the one of GET.
  test.each([
    ["text in UTF-8", json(200, "ü✓😀"), "11"],
    ["bytes", content("text/plain", new Uint8Array(1000)), "1000"],
    ["an empty text", content("text/plain", ""), "0"],
    ["no body", noContent(), null],
  ])("sends the content-length of GET for HEAD: %s", async (_, apiResponse, length) => {
    await using server = Bun.serve({
      port: 0,
      fetch: (request) => toResponse(apiResponse, "id", request),
    })
    const response = await fetch(server.url, { method: "HEAD" })
    expect([
      response.status,
      response.headers.get("content-length"),
      await response.text(),
    ]).toEqual([apiResponse.status, length, ""])
  })

  test("sends CORS headers only with an Origin, and never allows credentials", () => {
    const cross = headersOf(
      toResponse(json(200, 1), "id", plain("GET", { origin: "https://elsewhere.example" })),
    )
    expect(cross["access-control-allow-origin"]).toBe("*")
    const exposed = cross["access-control-expose-headers"]?.split(", ") ?? []
    for (const header of ["etag", "location", "retry-after", "x-request-id", "x-should-retry"])
      expect(exposed).toContain(header)
    expect(cross).not.toHaveProperty("access-control-allow-credentials")
    const names = Object.keys(headersOf(toResponse(json(200, 1), "id", plain())))
    expect(names.filter((name) => name.startsWith("access-control"))).toEqual([])
  })
})

describe("preflight", () => {
  const asking = (names?: string) =>
    plain("OPTIONS", {
      origin: "https://elsewhere.example",
      "access-control-request-method": "GET",
      ...(names === undefined ? {} : { "access-control-request-headers": names }),
    })
  const allowedFor = (names: string) =>
    headersOf(preflight(["GET"], "id", asking(names)))["access-control-allow-headers"]?.split(
      ", ",
    ) ?? []

  test("sends the allowed methods and headers, and the request id", () => {
    const response = preflight(["GET", "HEAD", "OPTIONS"], "the-id", asking())

    expect(response.status).toBe(204)
    expect(response.body).toBeNull()
    const headers = headersOf(response)
    expect(headers).toMatchObject({
      allow: "GET, HEAD, OPTIONS",
      "access-control-allow-methods": "GET, HEAD, OPTIONS",
      "access-control-allow-origin": "*",
      "x-request-id": "the-id",
    })
    const allowed = headers["access-control-allow-headers"]?.split(", ") ?? []
    for (const header of [
      "authorization",
      "content-type",
      "idempotency-key",
      "if-match",
      "if-none-match",
      "prefer",
    ])
      expect(allowed).toContain(header)
    expect(headers).not.toHaveProperty("access-control-allow-credentials")
  })

  test("allows only the requested method at an unknown path, so that the page gets its 404", () => {
    expect(preflight([], "id", asking()).headers.get("access-control-allow-methods")).toBe("GET")
  })

  test("allows the requested headers", () => {
    const requested = [
      "authorization",
      "x-stainless-lang",
      "x-stainless-retry-count",
      "x_odd",
      "traceparent",
    ]
    const allowed = allowedFor(requested.join(","))
    for (const name of requested) expect(allowed).toContain(name)
    expect(allowedFor("X-Stainless-OS , x-a")).toEqual(
      expect.arrayContaining(["x-stainless-os", "x-a"]),
    )
    expect(new Set(allowed).size).toBe(allowed.length)
    expect(preflight(["GET"], "id", asking("x-a")).headers.get("vary")).toBe(
      "access-control-request-headers, access-control-request-method",
    )
  })

  test("never allows the session header, and drops invalid names", () => {
    for (const names of [
      "x-hamlet-session",
      "X-Hamlet-Session",
      "x-a, x-hamlet-session ,x-b",
      "*",
      "x a",
      "x-a;b",
      "<b>",
      ",",
    ])
      expect(allowedFor(names).filter((name) => /session|[^a-z0-9_.-]|^$/.test(name))).toEqual([])
    expect(
      allowedFor(Array.from({ length: 5_000 }, (_, index) => `x-${index}`).join()).length,
    ).toBeLessThan(200)
  })
})
