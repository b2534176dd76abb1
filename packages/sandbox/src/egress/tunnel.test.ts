import { afterEach, describe, expect, test } from "bun:test"
import { toResponse, UpstreamServer, type UpstreamSocket } from "@hamlet/http1/testing"
import { waitUntil } from "@hamlet/kit/testing"
import { egressKey, ProxyFixture, type ProxyFixtureOptions } from "./testing/proxy-fixture.ts"

let upstream: UpstreamServer | undefined
let fixture: ProxyFixture | undefined
afterEach(async () => {
  expect(fixture?.errors ?? []).toEqual([])
  await fixture?.stop()
  upstream?.stop()
})

const handshake =
  "connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-key: abc\r\nsec-websocket-version: 13\r\n"
const accepted =
  "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: upgrade\r\nsec-websocket-accept: xyz\r\n\r\n"

function open(
  act: (socket: UpstreamSocket, text: string) => unknown,
  options: ProxyFixtureOptions = {},
) {
  upstream = new UpstreamServer(act)
  fixture = new ProxyFixture(options)
  const { port } = upstream
  const request = (headers = handshake) =>
    `GET http://a.test:${port}/socket HTTP/1.1\r\nx-hamlet-run: ${egressKey} run-1\r\n${headers}x-kept: 1\r\n\r\n`
  return { fixture, upstream, request }
}

/** Accepts, and then says back what it hears. */
function echo(socket: UpstreamSocket, text: string): void {
  const end = text.indexOf("\r\n\r\n") + 4
  if (text.length === end) socket.write(accepted)
  else socket.write(Buffer.from(text.slice(-1), "latin1"))
}

describe("ProxiedRequest for a WebSocket", () => {
  test("forwards the headers of the handshake", async () => {
    const { fixture, upstream, request } = open(echo)
    const client = await fixture.connect()
    client.send(request())
    await client.until(() => client.text.includes("\r\n\r\n"))
    expect(upstream.received().split("\r\n")).toEqual([
      "GET /socket HTTP/1.1",
      `host: a.test:${upstream.port}`,
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

  test("forwards and counts bytes in both directions until one side closes", async () => {
    const { fixture, upstream, request } = open(echo)
    const client = await fixture.connect()
    client.send(request())
    await client.until(() => client.text.endsWith("\r\n\r\n"))
    const head = client.text.length
    for (const char of ["a", "\0", "\xff", "\n"]) {
      client.send(char)
      await client.until(() => client.text.endsWith(char))
    }
    expect([client.body, fixture.listener.sizes.requests, fixture.sent]).toEqual([
      "a\0\xff\n",
      1,
      [],
    ])
    client.send("z")
    client.stop()
    await waitUntil(() => upstream.closed === 1)
    expect(upstream.received()).toEndWith("a\0\xff\nz")
    expect(fixture.sent).toMatchObject([
      { method: "GET", status: 101, blocked: null, bytesReceived: head + 4 },
    ])
    expect(fixture.sent[0]?.bytesSent).toBe(request().length - 4 + 5)
    expect(fixture.listener.sizes).toEqual({ clients: 0, upstreams: 0, requests: 0 })
  })

  test("ends when the server closes, after all bytes were forwarded", async () => {
    const bytes = 5_000_000
    const { fixture, request } = open((socket) => {
      socket.write(accepted)
      pour(socket)
    })
    let left = bytes
    const part = Buffer.alloc(65_536)
    const pour = (socket: UpstreamSocket) => {
      while (left > 0) {
        const count = socket.write(part, 0, Math.min(part.length, left))
        left -= Math.max(0, count)
        if (count < part.length) break
      }
      if (left <= 0) socket.end()
    }
    if (upstream) upstream.onDrain = pour
    const client = await fixture.connect()
    client.send(request())
    await client.until(() => client.bytes > 0)
    client.isCounting = true
    client.pause()
    for (let count = 0; count < 50; count++)
      await new Promise<void>((resolve) => setImmediate(resolve))
    client.resume()
    await client.until(() => client.isClosed)
    expect(client.bytes).toBe(bytes + client.text.indexOf("\r\n\r\n") + 4)
    expect(fixture.sent).toMatchObject([
      { status: 101, blocked: null, bytesReceived: client.bytes },
    ])
  })

  test("forwards a refusal of the server like any response", async () => {
    const { fixture, request } = open((socket) =>
      socket.write(toResponse("not here", "", "403 Forbidden")),
    )
    const client = await fixture.send(request())
    expect([client.status, client.body, client.header("upgrade")]).toEqual([
      403,
      "not here",
      undefined,
    ])
    client.send(request())
    await client.until(() => client.text.split("not here").length === 3)
    expect(fixture.sent).toMatchObject([{ status: 403 }, { status: 403 }])
  })

  test.each([
    ["something else", "HTTP/1.1 101 X\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n"],
    ["nothing", "HTTP/1.1 101 X\r\n\r\n"],
    [
      "two things",
      "HTTP/1.1 101 X\r\nupgrade: websocket\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n",
    ],
  ])("opens no tunnel when the server upgrades to %s", async (_, said) => {
    const { fixture, upstream, request } = open((socket) => socket.write(said))
    const client = await fixture.send(request())
    expect([client.status, client.body]).toEqual([
      502,
      expect.stringContaining("did not respond with a WebSocket"),
    ])
    await waitUntil(() => upstream.closed === 1)
  })

  test.each([
    ["with another method", "POST", handshake],
    ["without the word in Connection", "GET", "upgrade: websocket\r\n"],
    ["to something else", "GET", "connection: upgrade\r\nupgrade: h2c\r\n"],
    ["to two things", "GET", "connection: upgrade\r\nupgrade: websocket, h2c\r\n"],
    ["with a body", "GET", `${handshake}content-length: 1\r\n`],
  ])("forwards an upgrade %s as a plain request", async (_, method, headers) => {
    const { fixture, upstream } = open((socket) => socket.write(toResponse("plain")))
    const body = headers.includes("content-length") ? "x" : ""
    const client = await fixture.send(
      `${method} http://a.test:${upstream.port}/ HTTP/1.1\r\n${headers}\r\n${body}`,
    )
    expect([client.status, client.body]).toEqual([200, "plain"])
    expect(upstream.received()).not.toContain("upgrade")
  })

  test("refuses bytes before the tunnel is open", async () => {
    const { fixture, upstream, request } = open(() => {})
    const client = await fixture.connect()
    client.send(request())
    await waitUntil(() => upstream.received() !== "")
    client.send("GET / HTTP/1.1\r\n\r\n")
    await client.until(() => client.isClosed)
    expect([client.status, upstream.received().includes("GET / ")]).toEqual([400, false])
  })

  test("may last longer than other requests, but not be idle", async () => {
    const { fixture, upstream, request } = open(echo)
    const client = await fixture.connect()
    client.send(request())
    await client.until(() => client.text.endsWith("\r\n\r\n"))
    // The tunnel lasts longer than any request may.
    Object.assign(fixture.limits, { msMax: 0, responseMsMax: 0, idleMsMax: 0 })
    for (let sweep = 0; sweep < 3; sweep++) fixture.listener.sweep(performance.now())
    client.send("a")
    await client.until(() => client.text.endsWith("a"))
    expect(client.isClosed).toBe(false)
    fixture.limits.tunnelIdleMsMax = 100
    await client.until(() => client.isClosed)
    expect(fixture.sent).toMatchObject([
      { status: 101, blocked: "no bytes were transferred for 0.1 s" },
    ])
    await waitUntil(() => upstream.closed === 1)
  })

  test("counts as an open request, and against the limits of bytes", async () => {
    const { fixture, upstream, request } = open(echo, {
      limits: { connectionsMax: 1, bytesMax: 1000 },
    })
    const client = await fixture.connect()
    client.send(request())
    await client.until(() => client.text.endsWith("\r\n\r\n"))
    expect((await fixture.send(request())).status).toBe(429)
    client.send("x".repeat(1001))
    await client.until(() => client.isClosed)
    await waitUntil(() => upstream.closed === 1)
    expect(fixture.sent[1]).toMatchObject({ status: 101, blocked: "it has more than 1000 bytes" })
    expect(upstream.received()).not.toContain("xxx")
  })
})
