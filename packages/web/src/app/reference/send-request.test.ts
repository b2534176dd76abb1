import { afterAll, describe, expect, test } from "bun:test"
import { sessionHeader } from "@hamlet/contract/client"
import { realApi, realOperation } from "../../../test/support/real-api.ts"
import { emptyDraft, toRequest } from "./request.ts"
import { sendRequest } from "./send-request.ts"

let seen: { readonly method: string; readonly headers: Headers } | undefined
let seenBody = ""
let response = () => new Response()
const server = Bun.serve({
  port: 0,
  async fetch(request) {
    seen = { method: request.method, headers: new Headers(request.headers) }
    seenBody = await request.text()
    return response()
  },
})
afterAll(() => server.stop(true))

async function sendTo(id: string, next: () => Response, token = "") {
  response = next
  const operation = realOperation(id)
  const request = toRequest(operation, emptyDraft(realApi.components.schemas, operation))
  return await sendRequest(request, {
    origin: server.url.origin,
    token,
    signal: new AbortController().signal,
  })
}

describe("sendRequest", () => {
  test("sends method, path, body and token, and keeps JSON as the server wrote it", async () => {
    const got = await sendTo(
      "createVal",
      () =>
        new Response('{"a":1.0}', { status: 201, headers: { "content-type": "application/json" } }),
      "secret",
    )
    expect(got).toMatchObject({
      status: 201,
      body: { kind: "json", text: '{\n  "a": 1.0\n}' },
      bodyBytes: 9,
      isTruncated: false,
    })
    expect(seen?.method).toBe("POST")
    expect(seen?.headers.get("authorization")).toBe("Bearer secret")
    expect(JSON.parse(seenBody)).toHaveProperty("code")
  })

  test("sends no token to a public route, and the key of the session in place of an empty token", async () => {
    await sendTo("getHealth", () => new Response(), "secret")
    expect(seen?.headers.has("authorization")).toBe(false)
    expect(seen?.headers.has(sessionHeader)).toBe(false)
    await sendTo("getMe", () => new Response())
    expect(seen?.headers.has("authorization")).toBe(false)
    expect(seen?.headers.has(sessionHeader)).toBe(true)
    await sendTo("getMe", () => new Response(), "secret")
    expect(seen?.headers.has(sessionHeader)).toBe(false)
  })

  test.each<[string, () => Response, object | undefined]>([
    ["nothing", () => new Response(null, { status: 204 }), { kind: "text", text: "" }],
    ["text", () => new Response("<b>"), { kind: "text", text: "<b>" }],
    [
      "invalid JSON",
      () => new Response("{", { headers: { "content-type": "application/json" } }),
      { kind: "text", text: "{" },
    ],
    [
      "bytes",
      () =>
        new Response(new Uint8Array([0xff, 0xfe, 0]), { headers: { "content-type": "image/png" } }),
      undefined,
    ],
  ])("reads %s", async (_, next, body) => {
    expect((await sendTo("getMe", next)).body).toEqual(body as never)
  })

  test("stops reading an endless response", async () => {
    const endless = () =>
      new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(100_000).fill(97)),
        }),
      )
    expect(await sendTo("getMe", endless)).toMatchObject({
      isTruncated: true,
      bodyBytes: 1_000_000,
    })
  })
})
