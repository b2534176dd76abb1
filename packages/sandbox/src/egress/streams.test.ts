import { afterAll, afterEach, describe, expect, test } from "bun:test"
import { toResponse, UpstreamServer, type UpstreamSocket } from "@hamlet/http1/testing"
import { createAuthority, waitUntil } from "@hamlet/kit/testing"
import { egressKey, ProxyFixture, type ProxyFixtureOptions } from "./testing/proxy-fixture.ts"

const authority = createAuthority()
const certificate = authority.issue("a.test")
afterAll(() => authority[Symbol.dispose]())

let upstream: UpstreamServer | undefined
let fixture: ProxyFixture | undefined
afterEach(async () => {
  expect(fixture?.errors ?? []).toEqual([])
  await fixture?.stop()
  upstream?.stop()
})

const megabyte = 1024 ** 2
const streamBytes = 48 * megabyte
/** What may be on the way: two reads, and what the kernel holds for two connections. */
const underwayBytesMax = 24 * megabyte
const part = Buffer.alloc(65_536, 120)
const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++)
    await new Promise<void>((resolve) => setImmediate(resolve))
}

function open(
  act: (socket: UpstreamSocket, text: string) => unknown,
  isTls: boolean,
  options: ProxyFixtureOptions = {},
) {
  upstream = new UpstreamServer(act, isTls ? certificate : undefined)
  fixture = new ProxyFixture({ ca: authority.ca, ...options })
  return { fixture, upstream, url: `${isTls ? "https" : "http"}://a.test:${upstream.port}/` }
}

describe.each([
  ["in the clear", false],
  ["over TLS", true],
] as const)("ProxiedRequest, with a stream %s,", (_, isTls) => {
  for (const [framing, head] of [
    ["a length", `content-length: ${streamBytes}\r\n\r\n`],
    ["no length", "\r\n"],
  ] as const) {
    test(`reads ${streamBytes / megabyte} MB with ${framing} no faster than the program does`, async () => {
      let sent = 0
      const pour = (socket: UpstreamSocket) => {
        while (sent < streamBytes) {
          const count = Math.max(
            0,
            socket.write(part, 0, Math.min(part.length, streamBytes - sent)),
          )
          sent += count
          if (count < part.length && sent < streamBytes) return
        }
        if (framing === "no length") socket.end()
      }
      const { fixture, upstream, url } = open((socket) => {
        socket.write(`HTTP/1.1 200 OK\r\n${head}`)
        pour(socket)
      }, isTls)
      upstream.onDrain = pour
      const client = await fixture.connect()
      client.isCounting = true
      client.send(`GET ${url} HTTP/1.1\r\nx-hamlet-run: ${egressKey} run-1\r\n\r\n`)
      await client.until(() => client.bytes > 0)
      client.pause()
      await turns(300)
      expect(sent).toBeLessThan(underwayBytesMax)
      client.resume()
      let most = 0
      await client.until(() => {
        most = Math.max(most, sent - client.bytes)
        return client.bytes >= streamBytes
      })
      await waitUntil(() => fixture.sent.length === 1)
      expect(most).toBeLessThan(underwayBytesMax)
      const [{ status = 0, blocked = "", bytesReceived = 0 } = {}] = fixture.sent
      expect([
        status,
        blocked,
        bytesReceived >= streamBytes,
        bytesReceived < streamBytes + 1000,
      ]).toEqual([200, null, true, true])
    })
  }

  for (const [framing, toPart] of [
    ["a length", (bytes: Buffer) => bytes],
    [
      "chunks",
      (bytes: Buffer) =>
        Buffer.concat([
          Buffer.from(`${bytes.length.toString(16)}\r\n`),
          bytes,
          Buffer.from("\r\n"),
        ]),
    ],
  ] as const) {
    test(`sends ${streamBytes / megabyte} MB with ${framing} no faster than the server reads`, async () => {
      let isReading = false
      let bodyBytes = 0
      const { fixture, upstream, url } = open((socket, text) => {
        if (!isReading) socket.pause()
        bodyBytes = socket.data.bytes - text.indexOf("\r\n\r\n") - 4
        if (framing === "a length" && bodyBytes === streamBytes) socket.write(toResponse("all"))
        // What the chunks are cut into is not what came in.
        if (framing === "chunks" && socket.data.tail.endsWith("\r\n0\r\n\r\n"))
          socket.write(toResponse("all"))
      }, isTls)
      const client = await fixture.connect()
      const how =
        framing === "a length" ? `content-length: ${streamBytes}` : "transfer-encoding: chunked"
      client.send(`POST ${url} HTTP/1.1\r\nx-hamlet-run: ${egressKey} run-1\r\n${how}\r\n\r\n`)
      const piece = toPart(part)
      let left = streamBytes
      const pour = async (bytes: number) => {
        for (
          let poured = 0;
          poured < bytes && left > 0;
          poured += part.length, left -= part.length
        ) {
          client.send(piece)
          if (client.isFull) await client.until(() => !client.isFull)
        }
      }
      const pouring = pour(streamBytes).then(() => framing === "chunks" && client.send("0\r\n\r\n"))
      await waitUntil(() => upstream.sockets.length === 1 && client.isFull)
      await turns(300)
      expect(client.sentBytes).toBeLessThan(underwayBytesMax)
      isReading = true
      upstream.sockets[0]?.resume()
      await pouring
      await client.responded()
      expect([client.status, client.body]).toEqual([200, "all"])
      const [{ bytesSent = 0 } = {}] = fixture.sent
      expect([bytesSent >= streamBytes, bytesSent < streamBytes + 1000]).toEqual([true, true])
    })
  }
})

describe("ProxiedRequest, with a client that does not read,", () => {
  test("ends after the idle time", async () => {
    const pour = (socket: UpstreamSocket) => {
      while (socket.write(part) === part.length);
    }
    const { fixture, upstream, url } = open(
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n")
        pour(socket)
      },
      false,
      { limits: { idleMsMax: 1_000 } },
    )
    upstream.onDrain = pour
    const client = await fixture.connect()
    client.send(`GET ${url} HTTP/1.1\r\nx-hamlet-run: ${egressKey} run-1\r\n\r\n`)
    client.isCounting = true
    await client.until(() => client.bytes > 0)
    client.pause()
    await waitUntil(() => upstream.closed === 1)
    expect(fixture.sent).toMatchObject([
      { status: 200, blocked: "no bytes were transferred for 1 s" },
    ])
  })

  test("does not delay other requests", async () => {
    const pour = (socket: UpstreamSocket) => {
      while (socket.write(part) === part.length);
    }
    const { fixture, upstream, url } = open((socket, text) => {
      if (text.includes("/small")) return socket.write(toResponse("small"))
      socket.write("HTTP/1.1 200 OK\r\n\r\n")
      return pour(socket)
    }, false)
    upstream.onDrain = pour
    const slow = await fixture.connect()
    slow.send(`GET ${url} HTTP/1.1\r\n\r\n`)
    slow.isCounting = true
    await slow.until(() => slow.bytes > 0)
    slow.pause()
    for (let count = 0; count < 20; count++)
      expect((await fixture.get(`${url}small`)).body).toBe("small")
  })
})

test("callApi applies back-pressure in both directions", async () => {
  const bytes = 20 * megabyte
  let produced = 0
  let eaten = 0
  const hunger = Promise.withResolvers<void>()
  const { fixture } = open(() => {}, false, {
    own: {
      isApiHost: (host) => host === "hamlet.test",
      async fetchApi(request) {
        if (request.method === "POST") {
          await hunger.promise
          for await (const { length } of request.body as ReadableStream<Uint8Array>) eaten += length
          return new Response("eaten")
        }
        return new Response(
          new ReadableStream({
            pull(controller) {
              if (produced >= bytes) return controller.close()
              produced += part.length
              controller.enqueue(new Uint8Array(part))
            },
          }),
        )
      },
    },
  })
  const client = await fixture.connect()
  client.isCounting = true
  client.send("GET http://hamlet.test/ HTTP/1.1\r\n\r\n")
  await client.until(() => client.bytes > 0)
  client.pause()
  await turns(200)
  expect(produced).toBeLessThan(4 * megabyte)
  client.resume()
  await client.until(() => client.bytes > bytes)
  const poster = await fixture.connect()
  poster.send(`POST http://hamlet.test/ HTTP/1.1\r\ncontent-length: ${bytes}\r\n\r\n`)
  for (let left = bytes; left > 0; left -= part.length) poster.send(part)
  await turns(200)
  expect(poster.sentBytes).toBeLessThan(4 * megabyte)
  hunger.resolve()
  await poster.until(() => poster.text.includes("eaten"))
  expect(eaten).toBe(bytes)
})
