import { afterEach, describe, expect, test } from "bun:test"
import { waitUntil } from "../../../test/support/wait-until.ts"
import { egressKey, Stage, type StageOptions } from "./testing/proxy-fixture.ts"
import { Outside, type OutsideSocket, say } from "./testing/upstream-server.ts"

let outside: Outside | undefined
let stage: Stage | undefined
afterEach(async () => {
  expect(stage?.errors ?? []).toEqual([])
  await stage?.stop()
  outside?.stop()
})

const handshake =
  "connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-key: abc\r\nsec-websocket-version: 13\r\n"
const accepted =
  "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: upgrade\r\nsec-websocket-accept: xyz\r\n\r\n"

function open(act: (socket: OutsideSocket, text: string) => unknown, options: StageOptions = {}) {
  outside = new Outside(act)
  stage = new Stage(options)
  const { port } = outside
  const request = (headers = handshake) =>
    `GET http://a.test:${port}/socket HTTP/1.1\r\nx-hamlet-run: ${egressKey} run-1\r\n${headers}x-kept: 1\r\n\r\n`
  return { stage, outside, request }
}

/** Accepts, and then says back what it hears. */
function echo(socket: OutsideSocket, text: string): void {
  const end = text.indexOf("\r\n\r\n") + 4
  if (text.length === end) socket.write(accepted)
  else socket.write(Buffer.from(text.slice(-1), "latin1"))
}

describe("a WebSocket", () => {
  test("is asked for with its own headers, and answered with them", async () => {
    const { stage, outside, request } = open(echo)
    const client = await stage.connect()
    client.send(request())
    await client.until(() => client.text.includes("\r\n\r\n"))
    expect(outside.heard().split("\r\n")).toEqual([
      "GET /socket HTTP/1.1",
      `host: a.test:${outside.port}`,
      "sec-websocket-key: abc",
      "sec-websocket-version: 13",
      "x-kept: 1",
      "connection: upgrade",
      "upgrade: websocket",
      "",
      "",
    ])
    expect(client.text).toBe(
      "HTTP/1.1 101 \r\nsec-websocket-accept: xyz\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
    )
  })

  test("passes bytes both ways and counts them, until one side has enough", async () => {
    const { stage, outside, request } = open(echo)
    const client = await stage.connect()
    client.send(request())
    await client.until(() => client.text.endsWith("\r\n\r\n"))
    const head = client.text.length
    for (const char of ["a", "\0", "\xff", "\n"]) {
      client.send(char)
      await client.until(() => client.text.endsWith(char))
    }
    expect([client.body, stage.listener.sizes.requests, stage.sent]).toEqual(["a\0\xff\n", 1, []])
    client.send("z")
    client.stop()
    await waitUntil(() => outside.closed === 1)
    expect(outside.heard()).toEndWith("a\0\xff\nz")
    expect(stage.sent).toMatchObject([
      { method: "GET", status: 101, blocked: null, bytesReceived: head + 4 },
    ])
    expect(stage.sent[0]?.bytesSent).toBe(request().length - 4 + 5)
    expect(stage.listener.sizes).toEqual({ clients: 0, upstreams: 0, requests: 0 })
  })

  test("ends for the val when it ends outside, after all that was said", async () => {
    const bytes = 5_000_000
    const { stage, request } = open((socket) => {
      socket.write(accepted)
      pour(socket)
    })
    let left = bytes
    const part = Buffer.alloc(65_536)
    const pour = (socket: OutsideSocket) => {
      while (left > 0) {
        const count = socket.write(part, 0, Math.min(part.length, left))
        left -= Math.max(0, count)
        if (count < part.length) break
      }
      if (left <= 0) socket.end()
    }
    if (outside) outside.onDrain = pour
    const client = await stage.connect()
    client.send(request())
    await client.until(() => client.bytes > 0)
    client.isCounting = true
    client.pause()
    for (let count = 0; count < 50; count++)
      await new Promise<void>((resolve) => setImmediate(resolve))
    client.resume()
    await client.until(() => client.isClosed)
    expect(client.bytes).toBe(bytes + client.text.indexOf("\r\n\r\n") + 4)
    expect(stage.sent).toMatchObject([{ status: 101, blocked: null, bytesReceived: client.bytes }])
  })

  test("that is refused is an answer like any other", async () => {
    const { stage, request } = open((socket) => socket.write(say("not here", "", "403 Forbidden")))
    const client = await stage.ask(request())
    expect([client.status, client.body, client.header("upgrade")]).toEqual([
      403,
      "not here",
      undefined,
    ])
    client.send(request())
    await client.until(() => client.text.split("not here").length === 3)
    expect(stage.sent).toMatchObject([{ status: 403 }, { status: 403 }])
  })

  test.each([
    ["something else", "HTTP/1.1 101 X\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n"],
    ["nothing", "HTTP/1.1 101 X\r\n\r\n"],
    [
      "two things",
      "HTTP/1.1 101 X\r\nupgrade: websocket\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n",
    ],
  ])("is no tunnel when the server makes %s of it", async (_, said) => {
    const { stage, outside, request } = open((socket) => socket.write(said))
    const client = await stage.ask(request())
    expect([client.status, client.body]).toEqual([
      502,
      expect.stringContaining("did not respond with a WebSocket"),
    ])
    await waitUntil(() => outside.closed === 1)
  })

  test.each([
    ["with another method", "POST", handshake],
    ["without the word in Connection", "GET", "upgrade: websocket\r\n"],
    ["to something else", "GET", "connection: upgrade\r\nupgrade: h2c\r\n"],
    ["to two things", "GET", "connection: upgrade\r\nupgrade: websocket, h2c\r\n"],
    ["with a body", "GET", `${handshake}content-length: 1\r\n`],
  ])("is not what an upgrade %s asks for", async (_, method, headers) => {
    const { stage, outside } = open((socket) => socket.write(say("plain")))
    const body = headers.includes("content-length") ? "x" : ""
    const client = await stage.ask(
      `${method} http://a.test:${outside.port}/ HTTP/1.1\r\n${headers}\r\n${body}`,
    )
    expect([client.status, client.body]).toEqual([200, "plain"])
    expect(outside.heard()).not.toContain("upgrade")
  })

  test("cannot be used to say something before it is there", async () => {
    const { stage, outside, request } = open(() => {})
    const client = await stage.connect()
    client.send(request())
    await waitUntil(() => outside.heard() !== "")
    client.send("GET / HTTP/1.1\r\n\r\n")
    await client.until(() => client.isClosed)
    expect([client.status, outside.heard().includes("GET / ")]).toEqual([400, false])
  })

  test("may last longer than a request, but not without a byte", async () => {
    const { stage, outside, request } = open(echo, {
      limits: { msMax: 200, idleMsMax: 100, tunnelIdleMsMax: 1_000 },
    })
    const client = await stage.connect()
    const startedMs = performance.now()
    client.send(request())
    await client.until(() => client.text.endsWith("\r\n\r\n"))
    // It lasts longer than any request may.
    await waitUntil(() => performance.now() - startedMs > 300)
    expect(client.isClosed).toBe(false)
    await client.until(() => client.isClosed)
    expect(stage.sent).toMatchObject([
      { status: 101, blocked: "no bytes were transferred for 1 s" },
    ])
    await waitUntil(() => outside.closed === 1)
  })

  test("counts among the requests that are open, and against all limits of bytes", async () => {
    const { stage, outside, request } = open(echo, {
      limits: { connectionsMax: 1, bytesMax: 1000 },
    })
    const client = await stage.connect()
    client.send(request())
    await client.until(() => client.text.endsWith("\r\n\r\n"))
    expect((await stage.ask(request())).status).toBe(429)
    client.send("x".repeat(1001))
    await client.until(() => client.isClosed)
    await waitUntil(() => outside.closed === 1)
    expect(stage.sent[1]).toMatchObject({ status: 101, blocked: "it has more than 1000 bytes" })
    expect(outside.heard()).not.toContain("xxx")
  })
})
