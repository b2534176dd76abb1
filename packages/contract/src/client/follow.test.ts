import { describe, expect, test } from "bun:test"
import { startSequence } from "../../test/support/scripted-server.ts"
import { ApiError, ConnectionError, createClient, type RunEvent } from "../client.ts"

const run_id = "0190a6b1-7e3c-7c4d-8f5e-0123456789ab"
const line = (message: string) => ({
  at: "2026-01-01T00:00:00.000Z",
  level: "log" as const,
  message,
})
const log = (index: number, message: string) =>
  `id: ${index}\nevent: log\ndata: ${JSON.stringify(line(message))}\n\n`
const end = 'event: end\ndata: {"status":"failed","logsTruncated":true}\n\n'
const ended: RunEvent = { kind: "end", status: "failed", logsTruncated: true }
const clock = { now: Date.now, sleep: () => Promise.resolve() }

const encode = (text: string) => new TextEncoder().encode(text)
const stream = (...parts: readonly string[]) => toResponse(parts.map(encode))

function toResponse(parts: readonly Uint8Array[]): Response {
  const left = [...parts]
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const part = left.shift()
    if (part) controller.enqueue(part)
    else controller.close()
  }
  return new Response(new ReadableStream<Uint8Array>({ pull }))
}

describe("follow", () => {
  test("yields lines and the end, however they are chunked, and skips unknown events", async () => {
    const text = `${log(0, "é: two\nlines")}: still here\n\nevent: later\ndata: {}\n\n${log(1, "one")}${end}`
    for (const size of [1, 7, text.length]) {
      const bytes = encode(text)
      const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, part) =>
        bytes.slice(part * size, (part + 1) * size),
      )
      await using server = startSequence(() => toResponse(parts))
      const events = await Array.fromAsync(
        createClient({ baseUrl: server.url, token: "secret" }).follow({ run_id }),
      )
      expect(events).toEqual([
        { kind: "log", index: 0, line: line("é: two\nlines") },
        { kind: "log", index: 1, line: line("one") },
        ended,
      ])
      const seen = server.seen[0]
      expect([seen?.path, seen?.headers.get("accept")]).toEqual([
        `/v1/runs/${run_id}/logs`,
        "text/event-stream",
      ])
      expect([seen?.headers.get("authorization"), seen?.headers.get("last-event-id")]).toEqual([
        "Bearer secret",
        null,
      ])
    }
  })

  test("continues after the last line when the connection breaks", async () => {
    await using server = startSequence(
      () => stream(log(4, "four"), log(5, "fi").slice(0, 20)),
      () => stream(),
      () => stream(log(5, "five"), end),
    )
    const events = await Array.fromAsync(
      createClient({ baseUrl: server.url, clock }).follow({ run_id, from: 4 }),
    )
    expect(events).toMatchObject([{ index: 4 }, { index: 5 }, ended])
    expect(server.seen.map(({ headers }) => headers.get("last-event-id"))).toEqual(["3", "4", "4"])
  })

  test("gives up after several attempts without data", async () => {
    await using server = startSequence(
      () => stream(),
      () => stream(),
      () => stream(),
    )
    const client = createClient({ baseUrl: server.url, clock, retriesMax: 2 })
    expect(
      await Array.fromAsync(client.follow({ run_id })).catch((error: unknown) => error),
    ).toBeInstanceOf(ConnectionError)
    expect(server.seen).toHaveLength(3)
  })

  test("throws the server's error, and the reason of an abort", async () => {
    await using server = startSequence(
      () => Response.json({ code: "run_not_found", message: "Cannot find run" }, { status: 404 }),
      () => stream(log(0, "zero")),
    )
    const client = createClient({ baseUrl: server.url, clock })
    const refused = await Array.fromAsync(client.follow({ run_id })).catch(
      (error: unknown) => error,
    )
    expect(refused).toBeInstanceOf(ApiError)
    expect(refused).toMatchObject({ code: "run_not_found", status: 404 })
    const stopping = new AbortController()
    const events = client.follow({ run_id }, { signal: stopping.signal })
    await events.next()
    stopping.abort(new Error("enough"))
    expect(await events.next().catch(String)).toBe("Error: enough")
  })
})

describe("followAccount", () => {
  const val = { id: run_id, name: "hello" }
  const event = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`

  test("yields the events until the server closes the connection", async () => {
    const text = [
      event("open", {}),
      event("log", { runId: run_id, val, line: line("one") }),
      ": still here\n\n",
      event("later", {}),
      event("end", { id: run_id, status: "succeeded" }),
      event("skipped", { events: 7 }),
    ].join("")
    await using server = startSequence(() => stream(text.slice(0, 30), text.slice(30)))
    const client = createClient({ baseUrl: server.url, token: "secret" })
    expect<unknown>(await Array.fromAsync(client.followAccount())).toEqual([
      { kind: "open" },
      { kind: "log", runId: run_id, val, line: line("one") },
      { kind: "end", run: { id: run_id, status: "succeeded" } },
      { kind: "skipped", events: 7 },
    ])
    const seen = server.seen[0]
    expect([seen?.path, seen?.headers.get("accept"), seen?.headers.get("authorization")]).toEqual([
      "/v1/me/logs",
      "text/event-stream",
      "Bearer secret",
    ])
  })

  test("throws the server's error, a lost connection, and the reason of an abort", async () => {
    await using server = startSequence(
      () => Response.json({ code: "unauthenticated", message: "Cannot follow" }, { status: 401 }),
      () => stream(event("open", {})),
    )
    const client = createClient({ baseUrl: server.url, clock })
    const failure = (events: AsyncGenerator) =>
      Array.fromAsync(events).catch((error: unknown) => error)
    expect(await failure(client.followAccount())).toMatchObject({ code: "unauthenticated" })
    const stopping = new AbortController()
    const events = client.followAccount({ signal: stopping.signal })
    expect((await events.next()).value).toEqual({ kind: "open" })
    stopping.abort(new Error("enough"))
    expect(await events.next().catch(String)).toBe("Error: enough")
    await server[Symbol.asyncDispose]()
    expect(await failure(client.followAccount())).toBeInstanceOf(ConnectionError)
  })
})
