import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { connect, type Socket } from "node:net"
import { Counter, SlowLog } from "@hamlet/kit"
import { waitUntil } from "@hamlet/kit/testing"
import { asOwner } from "../../src/domain/access/rights.ts"
import type { GatewayDeps } from "../../src/gateway/deps.ts"
import { createGateway, type Gateway } from "../../src/gateway/gateway.ts"
import { type GatewayLimits, gatewayLimits } from "../../src/gateway/limits.ts"
import { createSocketHandlers } from "../../src/gateway/sockets/sockets.ts"
import { type GatewayFixture, openGatewayFixture } from "./support/gateway-fixture.ts"

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGatewayFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

/** A val of ada's that takes WebSockets. */
async function addSocketVal(
  name: string,
  handler: Partial<Bun.WebSocketHandler<undefined>>,
): Promise<void> {
  await fixture.addVal(name)
  fixture.runner.serve(`ada/${name}`, () => new Response("no socket", { status: 418 }), {
    message() {},
    ...handler,
  })
}

interface Client {
  readonly socket: WebSocket & { terminate(): void }
  readonly messages: (string | ArrayBuffer)[]
  readonly closed: Promise<{ code: number; reason: string }>
  /** Waits for so many messages. */
  heard(count: number): Promise<readonly (string | ArrayBuffer)[]>
}

async function open(
  name: string,
  protocols: readonly string[] = [],
  headers: Record<string, string> = {},
  port = fixture.port,
): Promise<Client> {
  const options = {
    protocols,
    headers: { host: `ada-${name}.localhost`, ...headers },
  } as unknown as string[]
  const socket = new WebSocket(`ws://127.0.0.1:${port}/chat?room=1`, options) as Client["socket"]
  socket.binaryType = "arraybuffer"
  const messages: (string | ArrayBuffer)[] = []
  let wake = () => {}
  socket.addEventListener("message", ({ data }) => {
    messages.push(data)
    wake()
  })
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.addEventListener("close", ({ code, reason }) => resolve({ code, reason }))
  })
  await Promise.race([new Promise((resolve) => socket.addEventListener("open", resolve)), closed])
  return {
    socket,
    messages,
    closed,
    async heard(count) {
      while (messages.length < count) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      return messages
    },
  }
}

/** A gateway with limits of its own beside that of the server. */
function createOwnGateway(
  limits: Partial<GatewayLimits>,
  runner: GatewayDeps["runner"] = fixture.runner,
): Gateway {
  const { stores, nouns, parts } = fixture.hamlet
  const { tokens, tokenUses, allowances, liveRuns, clock } = nouns
  const { programs, responses } = parts.runs
  return createGateway({
    tokens,
    tokenUses,
    allowances,
    liveRuns,
    programs,
    responses,
    runner,
    limits,
    vals: stores.vals,
    cipher: parts.cipher,
    newId: clock.newId,
    now: clock.now,
    baseUrl: "http://localhost",
    valsDomain: "localhost",
    logRequest: undefined,
    hasAddressesInLog: false,
    refusals: new Counter(),
    slowRequests: new SlowLog(undefined, () => {}),
    tracer: undefined,
    pageScript: () => Promise.reject(new Error("unused")),
    schema: { assertKnown() {} },
    onError: (error) => expect(error).toBeUndefined(),
  })
}

/** A client that sends its handshake and never reads. */
function connectDeaf(name: string, port = fixture.port): Socket {
  const client = connect(port, "127.0.0.1")
  client.pause().on("error", () => {})
  client.write(
    [
      "GET / HTTP/1.1",
      `Host: ada-${name}.localhost`,
      "Upgrade: websocket",
      "Connection: Upgrade",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      "\r\n",
    ].join("\r\n"),
  )
  return client
}

async function lastRun(name: string) {
  const val = await fixture.hamlet.stores.vals.findByName("ada", name, asOwner(fixture.ada.id))
  const filter = { error: undefined, sources: undefined, since: undefined, until: undefined }
  const ended = await waitUntil(async () => {
    const { items } = await fixture.hamlet.stores.runs.listOfVal(val?.id ?? "", undefined, filter, {
      limit: 1,
      offset: 0,
    })
    return items[0] && items[0].endedAt !== null && items[0]
  })
  return fixture.runOf(ended.id)
}

describe("a WebSocket through the gateway", () => {
  test("forwards text and bytes in both directions, also when the val sends first", async () => {
    await addSocketVal("echo", {
      open: (socket) => void socket.send("welcome"),
      message: (socket, message) => void socket.send(message),
    })
    const client = await open("echo")
    client.socket.send("text ü")
    client.socket.send(new Uint8Array([0, 255, 1]))
    client.socket.send("")
    const [welcome, text, bytes, empty] = await client.heard(4)
    expect([welcome, text, new Uint8Array(bytes as ArrayBuffer), empty]).toEqual([
      "welcome",
      "text ü",
      new Uint8Array([0, 255, 1]),
      "",
    ])
    expect(fixture.runner.seen.at(-1)?.path).toBe("/chat?room=1")
    client.socket.close(4001, "done")
    expect(await client.closed).toEqual({ code: 4001, reason: "done" })
    expect(await lastRun("echo")).toMatchObject({ status: "succeeded", request: { status: 101 } })
    expect(fixture.runner.taken.size).toBe(0)
  })

  for (const [code, reason] of [
    [1000, ""],
    [1001, "leaving"],
    [4321, "own words"],
  ] as const) {
    test(`tells the val that the client closed it with ${code}`, async () => {
      const heard = Promise.withResolvers<unknown>()
      await addSocketVal(`told${code}`, { close: (_, ...end) => heard.resolve(end) })
      const client = await open(`told${code}`)
      client.socket.close(code, reason)
      expect(await heard.promise).toEqual([code, reason])
    })

    test(`tells the client that the val closed it with ${code}`, async () => {
      await addSocketVal(`tells${code}`, { message: (socket) => socket.close(code, reason) })
      const client = await open(`tells${code}`)
      client.socket.send("end it")
      expect(await client.closed).toEqual({ code, reason })
    })
  }

  test("closes when the val closes it at once", async () => {
    await addSocketVal("shy", { open: (socket) => socket.close(4000, "no") })
    expect(await (await open("shy")).closed).toEqual({ code: 4000, reason: "no" })
    expect((await lastRun("shy")).status).toBe("succeeded")
  })

  test("uses the protocol that the val chooses", async () => {
    await addSocketVal("protocols", {})
    const client = await open("protocols", ["b", "a"])
    expect(client.socket.protocol).toBe("b")
    client.socket.close()
  })

  test("closes with 1011 when the val crashes", async () => {
    await addSocketVal("fragile", { message: (socket) => socket.terminate() })
    const client = await open("fragile")
    client.socket.send("boom")
    expect((await client.closed).code).toBe(1011)
    expect(await lastRun("fragile")).toMatchObject({
      status: "crashed",
      error: { name: "BrokenSocket" },
    })
  })

  test("closes on both sides when its run is cancelled", async () => {
    const gone = Promise.withResolvers<number>()
    await addSocketVal("stopped", {
      open: (socket) => void socket.send("hi"),
      close: (_, code) => gone.resolve(code),
    })
    const client = await open("stopped")
    await client.heard(1)
    const headers = { authorization: `Bearer ${fixture.ada.token}` }
    const val = await fixture.hamlet.stores.vals.findByName(
      "ada",
      "stopped",
      asOwner(fixture.ada.id),
    )
    for (let id: string | undefined; id === undefined; ) {
      const list = await fetch(`http://127.0.0.1:${fixture.port}/v1/vals/${val?.id}/runs`, {
        headers,
      })
      id = ((await list.json()) as { data: { id: string }[] }).data[0]?.id
      if (id)
        await fetch(`http://127.0.0.1:${fixture.port}/v1/runs/${id}/cancel`, {
          method: "POST",
          headers,
        })
    }
    expect([(await client.closed).code, await gone.promise]).toEqual([1001, 1001])
    expect((await lastRun("stopped")).status).toBe("cancelled")
  })

  test("closes for the val when the client disappears", async () => {
    const gone = Promise.withResolvers<number>()
    await addSocketVal("lonely", { close: (_, code) => gone.resolve(code) })
    const client = await open("lonely")
    client.socket.terminate()
    expect(await gone.promise).toBe(1001)
    expect((await lastRun("lonely")).status).toBe("succeeded")
  })

  test("to a private val requires a token of its owner", async () => {
    await fixture.addVal("secretive", undefined, { privacy: "private" })
    fixture.runner.serve("ada/secretive", () => new Response("no"), {
      message() {},
      open: (socket) => void socket.send("hi"),
    })
    expect((await (await open("secretive")).closed).code).not.toBe(1000)
    const client = await open("secretive", [], { authorization: `Bearer ${fixture.ada.token}` })
    expect(await client.heard(1)).toEqual(["hi"])
    client.socket.close()
  })

  test("request without a valid handshake is an ordinary request", async () => {
    await fixture.addVal("ordinary", () => new Response("ordinary"))
    const request = (upgrade: string) =>
      fixture.exchange(
        `GET / HTTP/1.1\r\nHost: ada-ordinary.localhost\r\nUpgrade: ${upgrade}\r\nConnection: upgrade, close\r\n\r\n`,
      )
    expect(await request("h2c")).toStartWith("HTTP/1.1 200 ")
    expect(await request("websocket")).toMatch(/^HTTP\/1\.1 (4|5)\d\d /)
  })

  test("whose handshake fails after the val has accepted it is a failed run", async () => {
    await addSocketVal("keyless", {})
    const response = await fixture.exchange(
      "GET / HTTP/1.1\r\nHost: ada-keyless.localhost\r\nUpgrade: websocket\r\nConnection: upgrade, close\r\n\r\n",
    )
    expect(response).toStartWith("HTTP/1.1 502 ")
    expect(await lastRun("keyless")).toMatchObject({
      status: "failed",
      request: { status: 502 },
      error: { message: "The request is not a valid WebSocket handshake" },
    })
    expect(fixture.runner.taken.size).toBe(0)
  })

  test("takes its place before it waits for a process, and releases it when it does not open", async () => {
    await addSocketVal("waits", {})
    await addSocketVal("waits_too", {})
    const gate = Promise.withResolvers<void>()
    let asked = 0
    const gateway = createOwnGateway(
      { socketsPerAccountMax: 2 },
      {
        async acquire(program, run) {
          asked += 1
          await gate.promise
          return fixture.runner.acquire(program, run)
        },
      },
    )
    const connect = async (name: string) => {
      const headers = { host: `ada-${name}.localhost`, upgrade: "websocket" }
      const request = new Request(`http://ada-${name}.localhost/`, { headers })
      const connection = { address: () => "", timeout() {}, upgrade: () => false }
      return (await gateway.fetch(request, connection))?.status
    }
    const waiting = [connect("waits"), connect("waits_too")]
    await waitUntil(() => asked === 2)
    expect(await connect("waits")).toBe(503)
    gate.resolve()
    // The handshake of these fails in the end.
    expect(await Promise.all(waiting)).toEqual([502, 502])
    expect(await connect("waits")).toBe(502)
    gateway.stop()
  })

  test("of another account works while 33 clients of one val do not read", async () => {
    const limits = {
      ...gatewayLimits,
      backlogBytesMax: 67_108_864,
      backlogBytesPerAccountMax: 4_194_304,
      backlogBytesTotalMax: 8_388_608,
    }
    const gateway = createOwnGateway(limits)
    using server = Bun.serve({
      port: 0,
      fetch: (request, self) =>
        gateway.fetch(request, {
          address: () => "",
          timeout() {},
          upgrade: (options) => self.upgrade(request, options),
        }),
      websocket: createSocketHandlers(limits),
    })
    const { port = 0 } = server
    const chunk = new Uint8Array(500_000)
    let [opened, cut] = [0, 0]
    await addSocketVal("hoard", {
      open(socket) {
        opened++
        const pour = () => {
          if (socket.readyState !== WebSocket.OPEN) return void cut++
          if (socket.getBufferedAmount() < 1_000_000) socket.send(chunk)
          setTimeout(pour, 1)
        }
        pour()
      },
    })
    const { hamlet, bob, runner } = fixture
    const caller = {
      actorId: bob.id,
      actorName: "bob",
      ownerName: "bob",
      ...asOwner(bob.id),
      tokenId: "",
      scopes: new Set<never>(),
    }
    await hamlet.nouns.vals.create(caller, {
      name: "echo",
      code: "export default 1",
      privacy: "public",
      type: "http",
    })
    runner.serve("bob/echo", () => new Response(), {
      message: (socket, message) => void socket.send(message),
    })
    const echo = await open("echo", [], { host: "bob-echo.localhost" }, port)
    const clients = Array.from({ length: 33 }, () => connectDeaf("hoard", port))
    // The account of these clients has more than its share.
    await waitUntil(() => opened === 33 && cut > 0)
    for (let round = 1; round <= 20; round++) {
      echo.socket.send(new Uint8Array(1_000_000))
      await Promise.race([echo.heard(round), echo.closed])
    }
    expect([echo.messages.length, echo.socket.readyState]).toEqual([20, WebSocket.OPEN])
    echo.socket.close()
    for (const client of clients) client.destroy()
    await waitUntil(() => cut === 33)
    gateway.stop()
  })

  test("closes on a client that reads too slowly instead of buffering without limit", async () => {
    const flooded = Promise.withResolvers<void>()
    await addSocketVal("flood", {
      open(socket) {
        const chunk = new Uint8Array(500_000)
        const pour = () => {
          if (socket.readyState !== WebSocket.OPEN) return flooded.resolve()
          if (socket.getBufferedAmount() < 1_000_000) socket.send(chunk)
          setImmediate(pour)
        }
        pour()
      },
    })
    const client = connectDeaf("flood")
    await flooded.promise
    expect((await lastRun("flood")).status).toBe("succeeded")
    client.destroy()
  })

  test("works when the response limit is longer than the idle limit of connections", async () => {
    await using patient = await openGatewayFixture(undefined, { HAMLET_RUN_SECONDS_MAX: "600" })
    await patient.addVal("echo")
    patient.runner.serve("ada/echo", () => new Response("plain"), {
      message: (socket, message) => void socket.send(message),
    })
    const options = { headers: { host: "ada-echo.localhost" } } as unknown as string[]
    const socket = new WebSocket(`ws://127.0.0.1:${patient.port}/`, options)
    await new Promise((resolve) => socket.addEventListener("open", resolve))
    socket.send("again")
    const { data } = await new Promise<MessageEvent>((resolve) =>
      socket.addEventListener("message", resolve),
    )
    socket.close()
    expect([data, await (await patient.request("echo")).text()]).toEqual(["again", "plain"])
  })

  test("closes when a message exceeds the size limit", async () => {
    await addSocketVal("small", {})
    const client = await open("small")
    client.socket.send(new Uint8Array(1_048_577))
    expect((await client.closed).code).toBeGreaterThanOrEqual(1006)
    expect((await lastRun("small")).status).toBe("succeeded")
  })
})
