import { describe, expect, test } from "bun:test"
import { createFakeClock } from "../../test/support/fake-clock.ts"
import { startScriptedServer, startSequence } from "../../test/support/scripted-server.ts"
import { ApiError, type Content, createClient } from "../client.ts"

const stored = () => Response.json("ok", { status: 201 })
const busy = () => Response.json({ code: "storage_unavailable", message: "away" }, { status: 503 })
const toStream = (...texts: readonly string[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const text of texts) controller.enqueue(new TextEncoder().encode(text))
      controller.close()
    },
  })

describe("putBlob", () => {
  const contents: readonly (readonly [
    title: string,
    content: () => Content,
    type: string | null,
  ])[] = [
    ["a text", () => "hé\0llo", "text/plain;charset=UTF-8"],
    ["bytes", () => new TextEncoder().encode("hé\0llo"), null],
    ["a buffer", () => new TextEncoder().encode("hé\0llo").buffer as ArrayBuffer, null],
    ["a Blob with a type", () => new Blob(["hé\0llo"], { type: "image/x" }), "image/x"],
    ["a stream", () => toStream("hé", "\0llo"), null],
  ]
  for (const [title, content, type] of contents) {
    test(`sends ${title} as it is, of the type it has or is said to have`, async () => {
      await using server = startScriptedServer(stored)
      const client = createClient({ baseUrl: server.url })
      expect(await client.putBlob({ key: "a/ä?", content: content() })).toBe("ok")
      await client.putBlob({ key: "a", content: content(), contentType: "x/y" })
      const [first, second] = server.seen
      expect([first?.method, first?.path, first?.body]).toEqual([
        "POST",
        "/v1/blob/a%2F%C3%A4%3F",
        "hé\0llo",
      ])
      expect([first?.headers.get("content-type"), first?.headers.get("idempotency-key")]).toEqual([
        type,
        null,
      ])
      expect([second?.headers.get("content-type"), second?.body]).toEqual(["x/y", "hé\0llo"])
    })
  }

  test("is retried after 503, but not with a stream", async () => {
    await using server = startSequence(busy, stored)
    await createClient({ baseUrl: server.url, clock: createFakeClock() }).putBlob({
      key: "a",
      content: "x",
    })
    expect(server.seen.map(({ body }) => body)).toEqual(["x", "x"])
    await using other = startSequence(busy, stored)
    const client = createClient({ baseUrl: other.url, clock: createFakeClock() })
    expect(
      await client.putBlob({ key: "a", content: toStream("x") }).catch((error: unknown) => error),
    ).toBeInstanceOf(ApiError)
    expect(other.seen).toHaveLength(1)
  })
})

describe("getBlob", () => {
  test("returns the response before its body, which may arrive after the time limit of an attempt", async () => {
    // A busy machine responds within it.
    const timeoutMs = 10_000
    const rest = Promise.withResolvers<void>()
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode("first "))
        await rest.promise
        controller.enqueue(new TextEncoder().encode("last"))
        controller.close()
      },
    })
    await using server = startScriptedServer(
      () => new Response(body, { headers: { "content-type": "x/y" } }),
    )
    const response = await createClient({ baseUrl: server.url }).getBlob(
      { key: "a" },
      { timeoutMs },
    )
    expect([
      response.status,
      response.headers.get("content-type"),
      server.seen[0]?.headers.get("accept"),
    ]).toEqual([200, "x/y", "*/*"])
    setTimeout(rest.resolve, timeoutMs + 500)
    expect(await response.text()).toBe("first last")
  })

  test("ends when the caller's signal is aborted, also while the body is read", async () => {
    const controller = new AbortController()
    const body = new ReadableStream<Uint8Array>({
      start: (opened) => opened.enqueue(new Uint8Array(3)),
    })
    await using server = startScriptedServer(() => new Response(body))
    const response = await createClient({ baseUrl: server.url }).getBlob(
      { key: "a" },
      { signal: controller.signal },
    )
    const reading = response.bytes()
    controller.abort()
    await expect(reading).rejects.toThrow()
  })

  test("throws for error responses, and returns 304 and 206 through raw", async () => {
    const missing = () =>
      Response.json({ code: "blob_not_found", message: "none" }, { status: 404 })
    const part = () => new Response("ar", { status: 206 })
    await using server = startSequence(missing, () => new Response(null, { status: 304 }), part)
    const client = createClient({ baseUrl: server.url })
    expect(await client.getBlob({ key: "a" }).catch((error: unknown) => error)).toMatchObject({
      code: "blob_not_found",
      message: "none",
    })
    expect(await client.raw.getBlob({ key: "a" }, { ifNoneMatch: '"x"' })).toMatchObject({
      status: 304,
      body: undefined,
    })
    const answer = await client.raw.getBlob({ key: "a" })
    expect([answer.status, await answer.body.text()]).toEqual([206, "ar"])
  })
})
