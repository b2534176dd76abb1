import { afterEach, describe, expect, test } from "bun:test"
import { toResponse, UpstreamServer, type UpstreamSocket } from "@hamlet/http1/testing"
import { waitUntil } from "@hamlet/kit/testing"
import { ProxyFixture, type ProxyFixtureOptions, toGet } from "./testing/proxy-fixture.ts"
import { RawClient } from "./testing/raw-client.ts"
import { SocketClient } from "./testing/socket-client.ts"

let upstream: UpstreamServer | undefined
let fixture: ProxyFixture | undefined
const clients: RawClient[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) client.stop()
  expect(fixture?.errors ?? []).toEqual([])
  await fixture?.stop()
  upstream?.stop()
  fixture = upstream = undefined
})

function open(
  act: (socket: UpstreamSocket, text: string) => unknown,
  options: ProxyFixtureOptions,
) {
  upstream = new UpstreamServer(act)
  fixture = new ProxyFixture(options)
  return { fixture, upstream, url: `http://a.test:${upstream.port}/` }
}

const handshake = "connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-key: abc\r\n"
const accepted =
  "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n"
const chunkedHead = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
/** Responses that a program may leave unread, all of them complete. */
const responses: Readonly<Record<string, (socket: UpstreamSocket) => void>> = {
  "with a length": (socket) => void socket.write(toResponse("x".repeat(100))),
  "in chunks": (socket) => void socket.write(`${chunkedHead}2\r\nok\r\n0\r\n\r\n`),
  "in chunks that arrive one by one": (socket) => {
    socket.write(`${chunkedHead}2\r\nok\r\n`)
    setImmediate(() => void socket.write("0\r\n\r\n"))
  },
  "that is larger than one read": (socket) => void socket.write(toResponse("x".repeat(100_000))),
}

/** A response that does not end. */
const endless = (socket: UpstreamSocket) => void socket.write(`${chunkedHead}2\r\nok\r\n`)
/** A process whose runs have ended. */
const isEnded = { findSocketRun: () => undefined }

/** A program that does not read: its system has the bytes, but nothing takes them. */
async function getUnread({ path }: ProxyFixture, url: string): Promise<RawClient> {
  const client = await RawClient.open(path)
  clients.push(client)
  client.pause()
  client.send(toGet(url))
  return client
}

describe("ProxyListener closes connections", () => {
  for (const [what, respond] of Object.entries(responses))
    test(`when their response is sent, although the program does not read it: ${what}`, async () => {
      const keptMax = 2
      const { fixture, url } = open(respond, { limits: { keptMax } })
      const unread: RawClient[] = []
      for (let count = 1; count <= 20; count++) {
        unread.push(await getUnread(fixture, url))
        await waitUntil(() => fixture.sent.length === count)
      }
      await waitUntil(() => fixture.listener.sizes.clients <= keptMax)
      // What was sent can be read later.
      for (const client of unread) {
        client.resume()
        await client.responded()
      }
      const closed = unread.filter((client) => client.header("connection") === "close")
      expect([closed.length, unread.every(({ status }) => status === 200)]).toEqual([18, true])
    })

  test("but keeps one that is used again", async () => {
    const { fixture, url } = open((socket) => socket.write(toResponse("x")), {
      limits: { keptMax: 1 },
    })
    const client = await fixture.get(url)
    for (let count = 2; count <= 5; count++) {
      client.send(toGet(url))
      await waitUntil(() => client.text.split("HTTP/1.1 200").length === count + 1)
    }
    expect([client.text.includes("connection: close"), client.isClosed]).toEqual([false, false])
  })

  test("of a run that has ended, after the time that a run may take", async () => {
    const { fixture, upstream, url } = open(endless, {
      guest: isEnded,
      limits: { backgroundMsMax: 50 },
    })
    const client = await getUnread(fixture, url)
    client.resume()
    await client.until(() => client.isClosed)
    await waitUntil(() => upstream.closed === 1)
    expect(fixture.sent).toMatchObject([
      { status: 200, blocked: "its run has ended, and the time that a run may take" },
    ])
  })

  test("of runs that have ended, the longest idle first, when another request needs its place", async () => {
    const { fixture, url } = open(endless, { guest: isEnded, limits: { connectionsMax: 3 } })
    const unread: RawClient[] = []
    for (let count = 0; count < 6; count++) {
      const client = await getUnread(fixture, url)
      client.resume()
      await client.until(() => client.text.includes("ok"))
      unread.push(client)
    }
    await waitUntil(() => fixture.listener.sizes.requests === 3)
    expect(unread.map(({ isClosed }) => isClosed)).toEqual([true, true, true, false, false, false])
  })

  test("but not of a run that goes on, and no WebSocket of one that has ended", async () => {
    const limits = { connectionsMax: 2, backgroundMsMax: 1 }
    const act = (socket: UpstreamSocket, text: string) =>
      text.includes("upgrade: websocket") ? socket.write(accepted) : endless(socket)
    const { fixture, url } = open(act, { limits })
    const first = await getUnread(fixture, url)
    first.resume()
    await first.until(() => first.text.includes("ok"))
    const bobPath = `${fixture.path}2`
    const bob = fixture.egress.open({ requests: bobPath })
    bob.setClient({ ...fixture.guest, ...isEnded, ownerId: "bob" })
    for (const [path, headers] of [
      [fixture.path, handshake],
      [bobPath, handshake],
      [bobPath, handshake],
    ] as const) {
      const socket = await RawClient.open(path)
      clients.push(socket)
      socket.send(toGet(url, headers))
      await socket.until(() => socket.text.includes("\r\n\r\n"))
      expect(socket.status).toBe(101)
    }
    for (const path of [fixture.path, bobPath]) {
      const refused = await RawClient.open(path)
      clients.push(refused)
      refused.send(toGet(url))
      await refused.responded()
      expect(refused.body).toEndWith("2 outgoing requests open already")
    }
    expect(first.isClosed).toBe(false)
    expect([fixture.listener.sizes.requests, bob.sizes.requests]).toEqual([2, 2])
  })
})

describe("Egress limits the files of an account", () => {
  test("to as many as are left for all, and refuses the one that has the most", async () => {
    const { fixture, url, upstream } = open((socket) => socket.write(accepted), {
      limits: { filesMax: 20, connectionsMin: 1 },
    })
    const openOne = async (path: string) => {
      const client = await RawClient.open(path)
      clients.push(client)
      client.send(toGet(url, handshake))
      await client.until(() => client.isClosed || client.text.includes("\r\n\r\n"))
      return client
    }
    const ofAda: RawClient[] = []
    for (let count = 0; count < 12; count++) ofAda.push(await openOne(fixture.path))
    // Each takes two files, and half of all are left for others.
    expect(ofAda.filter(({ status }) => status === 101).length).toBe(5)
    expect(upstream.sockets.length).toBe(5)

    const bobPath = `${fixture.path}2`
    fixture.egress.open({ requests: bobPath }).setClient({ ...fixture.guest, ownerId: "bob" })
    expect((await openOne(bobPath)).status).toBe(101)
    expect((await openOne(bobPath)).status).toBe(101)
    expect((await openOne(fixture.path)).status).not.toBe(101)

    for (const client of ofAda) client.stop()
    await waitUntil(() => fixture.listener.sizes.clients === 0)
    expect((await openOne(fixture.path)).status).toBe(101)
  })

  test("and says so in the first connections of a sandbox", async () => {
    const { fixture, url } = open(() => {}, { limits: { filesMax: 2, connectionsMin: 2 } })
    const client = await fixture.get(url)
    expect([client.status, client.body]).toEqual([
      429,
      `Cannot fetch "${url}": the programs of the account have too many connections open already`,
    ])
    const { port } = new URL(url)
    const { reply } = await SocketClient.ask(fixture, {
      kind: "connect",
      host: "x",
      port: Number(port),
    })
    expect(reply).toMatchObject({
      code: "EAGAIN",
      message: expect.stringMatching(
        /: the programs of the account have too many connections open/,
      ),
    })
  })

  test("and breaks off responses of runs that have ended before it refuses one", async () => {
    const { fixture, url } = open(endless, {
      guest: isEnded,
      limits: { filesMax: 8, connectionsMin: 0 },
    })
    for (let count = 0; count < 20; count++) {
      const client = await getUnread(fixture, url)
      client.resume()
      await client.until(() => client.isClosed || client.text.includes("ok"))
      expect(client.status).toBe(200)
    }
  })

  test("and closes idle connections before it refuses one", async () => {
    const { fixture, url } = open((socket) => socket.write(toResponse("x")), {
      limits: { filesMax: 8, connectionsMin: 0 },
    })
    for (let count = 0; count < 20; count++) {
      const client = await fixture.get(url.replace("a.test", `host-${count}.test`))
      expect(client.status).toBe(200)
    }
  })
})
