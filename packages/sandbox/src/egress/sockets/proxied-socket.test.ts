import { afterEach, describe, expect, test } from "bun:test"
import { UpstreamServer } from "@hamlet/http1/testing"
import { RateLimited } from "@hamlet/kit"
import { waitUntil, waitUntilStable } from "@hamlet/kit/testing"
import type { RunListener } from "../../program/runner.ts"
import { loopback, ProxyFixture, type ProxyFixtureOptions } from "../testing/proxy-fixture.ts"
import { SocketClient, toSocketFrame } from "../testing/socket-client.ts"

let upstream: UpstreamServer | undefined
let fixture: ProxyFixture | undefined
const clients: SocketClient[] = []
afterEach(async () => {
  expect(fixture?.errors ?? []).toEqual([])
  for (const client of clients.splice(0)) client.raw.stop()
  await fixture?.stop()
  upstream?.stop()
  fixture = upstream = undefined
})

type Act = ConstructorParameters<typeof UpstreamServer>[0]

function open(act: Act = () => {}, options: ProxyFixtureOptions = {}) {
  upstream = new UpstreamServer(act)
  fixture = new ProxyFixture(options)
  return { fixture, upstream }
}

async function connect(act?: Act, options?: ProxyFixtureOptions, port?: number) {
  const opened = open(act, options)
  const asked = await SocketClient.ask(opened.fixture, {
    kind: "connect",
    host: "db.test",
    port: port ?? opened.upstream.port,
  })
  clients.push(asked.client)
  return { ...opened, ...asked, raw: asked.client.raw }
}

/** A port at which nothing listens, and which no other test is given. */
const closedPort = 1

describe("ProxiedSocket", () => {
  test("carries bytes both ways, and lists the connection on its run when it is closed", async () => {
    const { fixture, upstream, raw, reply } = await connect((socket, text) =>
      socket.write(`you said ${text}`),
    )
    expect(reply).toEqual({ kind: "connected", address: "127.0.0.1" })
    raw.send("abc")
    await raw.until(() => raw.text === "you said abc")
    expect(fixture.sent).toEqual([])
    raw.stop()
    await waitUntil(() => fixture.sent.length > 0)
    expect(fixture.sent).toEqual([
      {
        at: expect.any(Number),
        method: "CONNECT",
        url: `tcp://db.test:${upstream.port}`,
        status: null,
        blocked: null,
        bytesSent: 3,
        bytesReceived: 12,
        durationMs: expect.any(Number),
      },
    ])
    await waitUntil(() => upstream.closed === 1 && fixture.listener.socketCount === 0)
  })

  test("forwards what a server sends first", async () => {
    const server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { open: (socket) => void socket.write("220 ready\r\n"), data() {} },
    })
    try {
      const { raw } = await connect(undefined, undefined, server.port)
      await raw.until(() => raw.text === "220 ready\r\n")
    } finally {
      server.stop(true)
    }
  })

  test("passes the end of one direction on, and keeps the other", async () => {
    const { createServer } = await import("node:net")
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      let text = ""
      socket.on("data", (bytes) => {
        text += bytes
      })
      socket.on("end", () => socket.end(`all of ${text}`))
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as { readonly port: number }
    const { fixture } = open()
    try {
      const socket = (await import("node:net")).connect(fixture.socketsPath)
      socket.write(toSocketFrame({ kind: "connect", host: "db.test", port, run: "" }))
      let text = ""
      socket.on("data", (bytes) => {
        text += bytes.toString("latin1")
      })
      await waitUntil(() => text.includes("connected"))
      socket.end("it")
      await new Promise((resolve) => socket.on("end", resolve))
      expect(text).toEndWith("all of it")
      await waitUntil(() => fixture.listener.socketCount === 0)
    } finally {
      server.close()
    }
  })

  test("reads no more from one side than the other takes", async () => {
    const part = Buffer.alloc(1024 ** 2)
    let poured = 0
    const { raw, upstream } = await connect((socket) => {
      const pour = () => {
        for (let count = part.length; count === part.length; ) {
          count = Math.max(0, socket.write(part))
          poured += count
        }
      }
      upstream.onDrain = pour
      pour()
    })
    raw.isCounting = true
    raw.pause()
    raw.send("go")
    await waitUntil(() => poured > 0)
    // What the kernel and one read hold.
    expect(await waitUntilStable(() => poured, 100)).toBeLessThan(20 * part.length)
    raw.resume()
    await raw.until(() => raw.bytes > 40 * part.length)
  })

  test("says why a host is refused, and lists that", async () => {
    const { fixture, reply, raw } = await connect(undefined, {
      decide: () => ({ kind: "blocked", reason: "it is far away" }),
    })
    expect(reply).toEqual({
      kind: "refused",
      code: "EACCES",
      message: expect.stringMatching(/^Cannot connect to "db\.test:\d+": it is far away$/),
    })
    await raw.until(() => raw.isClosed)
    expect(fixture.sent).toMatchObject([
      { method: "CONNECT", status: null, blocked: "it is far away", bytesSent: 0 },
    ])
  })

  test("connects to the address that was checked, and resolves nothing itself", async () => {
    const { reply, upstream } = await connect(undefined, {
      decide: (hostname) =>
        hostname === "db.test"
          ? { kind: "pass", addresses: ["127.0.0.1"], isAllowed: false }
          : { kind: "blocked", reason: `asked for ${hostname}` },
    })
    expect(reply?.kind).toBe("connected")
    await waitUntil(() => upstream.sockets.length === 1)
  })

  test("tries the next address when one refuses", async () => {
    const { reply } = await connect(undefined, {
      decide: () => ({ kind: "pass", addresses: ["127.0.0.2", "127.0.0.1"], isAllowed: false }),
    })
    expect(reply).toEqual({ kind: "connected", address: "127.0.0.1" })
  })

  test("reports a server that refuses connections", async () => {
    const { reply } = await connect(undefined, undefined, closedPort)
    expect(reply).toMatchObject({
      kind: "refused",
      code: "ECONNREFUSED",
      message: expect.stringMatching(/^Cannot connect to ".*": db\.test:\d+ refuses connections$/),
    })
  })

  test("gives up on a server that does not respond in time", async () => {
    /** The time is over before the kernel has connected. */
    const sweepLater = async () => {
      for (let turn = 0; turn < 20; turn++) await Promise.resolve()
      fixture?.listener.sweep(Number.POSITIVE_INFINITY)
    }
    const { fixture: used, reply } = await connect(undefined, {
      limits: { sweepMs: 60_000 },
      decide: () => {
        void sweepLater()
        return loopback
      },
    })
    expect(reply).toMatchObject({
      code: "ETIMEDOUT",
      message: expect.stringMatching(/: db\.test:\d+ does not respond$/),
    })
    expect(used.sent[0]?.blocked).toMatch(/ does not respond$/)
  })

  test("looks up names", async () => {
    const { fixture } = open(undefined, {
      decide: (hostname) =>
        hostname === "db.test"
          ? { kind: "pass", addresses: ["93.184.216.34"], isAllowed: false }
          : { kind: "blocked", reason: `${hostname} cannot be found`, isNotFound: true },
    })
    const found = await SocketClient.ask(fixture, { kind: "lookup", host: "db.test" })
    expect(found.reply).toEqual({ kind: "found", addresses: ["93.184.216.34"] })
    const missing = await SocketClient.ask(fixture, { kind: "lookup", host: "x.test" })
    expect(missing.reply).toEqual({
      kind: "refused",
      code: "ENOTFOUND",
      message: 'Cannot look up "x.test": x.test cannot be found',
    })
    // Only the lookup that failed is listed.
    expect(fixture.sent).toMatchObject([{ method: "LOOKUP", url: "dns://x.test" }])
  })

  test("looks up other records of names", async () => {
    const { fixture } = open(undefined, {
      decide: () => ({ kind: "blocked", reason: "x", isNotFound: true, isAbsent: true }),
      resolveRecords: async (type, name, ownerId) => [[`${type} ${name} ${ownerId}`]],
    })
    const request = { kind: "records", type: "TXT" } as const
    const found = await SocketClient.ask(fixture, { ...request, host: "db.test" })
    expect(found.reply).toEqual({ kind: "records", records: [["TXT db.test ada"]] })
    const refused = await SocketClient.ask(fixture, { ...request, host: "db.local" })
    expect(refused.reply).toEqual({
      kind: "refused",
      code: "EACCES",
      message: 'Cannot look up TXT of "db.local": db.local is a name of the server\'s own network',
    })
    expect(fixture.sent).toMatchObject([{ method: "LOOKUP", url: "dns://db.local?type=TXT" }])
  })

  test("breaks off at the byte limit", async () => {
    const { fixture, raw } = await connect((socket) => socket.write(Buffer.alloc(2_000)), {
      limits: { bytesMax: 1_000 },
    })
    raw.send("go")
    await raw.until(() => raw.isClosed)
    await waitUntil(() => fixture.sent.length > 0)
    expect(fixture.sent[0]?.blocked).toBe("the response has more than 1000 bytes")
  })

  test("breaks off when the account has used up its traffic, and opens no other", async () => {
    let bytesLeft = 100
    const options = {
      limits: { takenBytes: 50 },
      takeBytes: (_: string, bytes: number) => {
        bytesLeft -= bytes
        if (bytesLeft < 0) throw new RateLimited(7)
      },
    }
    const { fixture, raw } = await connect(undefined, options)
    raw.send("x".repeat(300))
    await raw.until(() => raw.isClosed)
    const { reply } = await SocketClient.ask(fixture, { kind: "connect", host: "db.test", port: 1 })
    expect(reply).toEqual({
      kind: "refused",
      code: "EAGAIN",
      message:
        'Cannot connect to "db.test:1": the account has used up its outgoing traffic, try again in 7 s',
    })
    expect(fixture.sent.map(({ blocked }) => blocked)).toEqual([
      "the account has used up its outgoing traffic, try again in 7 s",
      "the account has used up its outgoing traffic, try again in 7 s",
    ])
  })

  test("limits the sockets of a process, and those of an account", async () => {
    const { fixture } = await connect(undefined, { limits: { connectionsMax: 1 } })
    const { reply } = await SocketClient.ask(fixture, { kind: "connect", host: "x", port: 1 })
    expect(reply).toMatchObject({ code: "EAGAIN", message: expect.stringContaining("1 outgoing") })
    await fixture.stop()
    upstream?.stop()

    const account = await connect(undefined, { limits: { accountSocketsMax: 1 } })
    const { port } = account.upstream
    const second = await SocketClient.ask(account.fixture, { kind: "connect", host: "x", port })
    expect(second.reply).toMatchObject({
      code: "EAGAIN",
      message: expect.stringMatching(/: the account has 1 sockets open already$/),
    })
    account.raw.stop()
    await waitUntil(() => account.fixture.listener.socketCount === 0)
    const third = await SocketClient.ask(account.fixture, { kind: "connect", host: "x", port })
    clients.push(third.client)
    expect(third.reply?.kind).toBe("connected")
  })

  test("limits the connections of an account that ask for nothing", async () => {
    const { fixture } = open(undefined, { limits: { accountFilesMax: 2 } })
    const kept = [await SocketClient.open(fixture), await SocketClient.open(fixture)]
    clients.push(...kept)
    await waitUntil(() => fixture.listener.socketCount === 2)
    const refused = await SocketClient.open(fixture)
    await refused.raw.until(() => refused.raw.isClosed)
    kept[0]?.raw.stop()
    await waitUntil(() => fixture.listener.socketCount === 1)
    const { reply } = await SocketClient.ask(fixture, { kind: "lookup", host: "localhost" })
    expect(reply?.kind).toBe("found")
  })

  test("limits the rate", async () => {
    const { fixture, upstream } = await connect(undefined, { limits: { requestsPerMinute: 1 } })
    const { port } = upstream
    const { reply } = await SocketClient.ask(fixture, { kind: "connect", host: "x", port })
    expect(reply).toMatchObject({
      code: "EAGAIN",
      message: expect.stringContaining("more than 1 requests a minute"),
    })
  })

  test("closes a connection on which nothing happens", async () => {
    const { fixture, raw } = await connect(undefined, { limits: { socketIdleMsMax: 30 } })
    await raw.until(() => raw.isClosed)
    await waitUntil(() => fixture.sent.length > 0)
    expect(fixture.sent[0]?.blocked).toBe("no bytes were transferred for 0.03 s")
  })

  test("closes a connection that never sends its request", async () => {
    const { fixture } = open(undefined, { limits: { headMsMax: 30 } })
    const client = await SocketClient.open(fixture)
    client.raw.send(Buffer.from([0]))
    await client.raw.until(() => client.raw.isClosed)
    expect(fixture.sent).toEqual([])
  })

  test("ends every connection when the sandbox ends", async () => {
    const { fixture, raw, upstream } = await connect()
    fixture.listener.stop()
    await raw.until(() => raw.isClosed)
    await waitUntil(() => upstream.closed === 1)
    expect(fixture.sent).toHaveLength(1)
  })

  test("warns that a placeholder is not replaced on a socket", async () => {
    const { fixture } = await connect(undefined, {
      guest: {
        substitutions: [
          { placeholder: "hamlet-secret:KEY", value: "s3cret", hosts: ["db.test:1"] },
        ],
      },
    })
    expect(fixture.warnings).toEqual([])
    await SocketClient.ask(fixture, { kind: "connect", host: "db.test", port: 1 })
    expect(fixture.warnings).toEqual([
      '"hamlet-secret:KEY" is not replaced in what the program sends to db.test:1 over a socket: use fetch',
    ])
  })

  test("lists the bytes of a socket on the runs that use it, one after the other", async () => {
    const listed: Record<string, number[]> = { a: [], b: [] }
    const toRun = (id: string): RunListener => ({
      id,
      depth: 0,
      log() {},
      skipLogs() {},
      fail() {},
      sent: ({ bytesSent }) => void listed[id]?.push(bytesSent),
    })
    const [a, b] = [toRun("a"), toRun("b")]
    let active: RunListener | undefined = a
    const { fixture, raw, upstream } = await connect(undefined, {
      guest: {
        findRun: () => ({ run: a, depth: 0 }),
        findSocketRun: (last) => (last === active ? last : active),
      },
    })
    const send = async (text: string) => {
      const before = upstream.received().length
      raw.send(text)
      await waitUntil(() => upstream.received().length === before + text.length)
    }
    await send("aa")
    fixture.listener.noteRunEnd(a)
    expect(listed).toEqual({ a: [2], b: [] })
    active = undefined
    await send("nobody")
    active = b
    await send("bbb")
    await send("bbb")
    fixture.listener.noteRunEnd(b)
    raw.stop()
    await waitUntil(() => fixture.listener.socketCount === 0)
    expect(listed).toEqual({ a: [2], b: [6] })
  })
})
