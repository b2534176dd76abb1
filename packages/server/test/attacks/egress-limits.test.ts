import { afterAll, beforeAll, expect } from "bun:test"
import type { Socket } from "node:net"
import { waitUntil } from "@hamlet/kit/testing"
import { describeAttacks, probe } from "./support/describe-attacks.ts"
import { createEvalVal, shareEvalVal } from "./support/eval-val.ts"
import { OutsideServer, type RespondToRequest, toRawUrl } from "./support/outside-server.ts"
import { readResidentBytes } from "./support/processes.ts"

const bytesMax = 2_000_000
/** So many seconds that nothing else takes as long, even where everything is slow. */
const secondsMax = 10
const connectionsMax = 128
const requestsPerMinute = 600
const megabytesPerMinute = 60
const perAddress = 5
const pouredBytes = 1_900_000
const growthBytesMax = 100 * 1024 ** 2

const ok = "HTTP/1.1 200 OK\r\n"

/** Writes for ever, as fast as it is read. */
function flood(head: string, part: string): RespondToRequest {
  return (socket) => {
    socket.write(head, "latin1")
    const bytes = Buffer.from(part, "latin1")
    const go = (): void => {
      for (let round = 0; round < 100 && !socket.destroyed; round++) if (!socket.write(bytes)) break
      if (!socket.destroyed)
        void (socket.writableNeedDrain ? socket.once("drain", go) : setImmediate(go))
    }
    go()
  }
}

function drip(head: string, part: string): RespondToRequest {
  return (socket) => {
    socket.write(head, "latin1")
    const timer = setInterval(() => socket.write(part, "latin1"), 50)
    socket.on("close", () => clearInterval(timer))
  }
}

const upgraded = (next: (socket: Socket) => void): RespondToRequest => {
  return (socket, { headers }) => {
    const key = headers.find(([name]) => name === "sec-websocket-key")?.[1]
    const accept = new Bun.CryptoHasher("sha1")
      .update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest("base64")
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
    )
    next(socket)
  }
}

/** 20 MB of zeros, in some 20 KB. */
const bombBytes = 20 * 1024 ** 2
const bomb = Bun.gzipSync(new Uint8Array(bombBytes), { level: 9 })
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

/** Servers that one had better not ask. */
interface BadServer {
  readonly does: string
  readonly answer: RespondToRequest | string
  /** What the record of the run says. */
  readonly reason: RegExp
  /** The val has got a head, and learns of the rest when it reads the body. */
  readonly isBegun?: true
}

const tooLate = new RegExp(`^it took longer than ${secondsMax} s$`)
const tooMuch = new RegExp(`^the response has more than ${bytesMax} bytes$`)
const unreadable = /^localhost:\d+ sent an invalid response: /
const closed = /^localhost:\d+ has closed the connection/

const badServers: readonly BadServer[] = [
  { does: "never answers", answer: () => {}, reason: tooLate },
  { does: "never ends its head", answer: drip(ok, "x: y\r\n"), reason: tooLate },
  {
    does: "never ends its head, as fast as it can",
    answer: flood(ok, `x: ${"y".repeat(1000)}\r\n`),
    reason: unreadable,
  },
  {
    does: "never ends its first line",
    answer: flood("HTTP/1.1 200 ", "O".repeat(1000)),
    reason: unreadable,
  },
  {
    does: "sends a head of 100 KB",
    answer: (socket) => socket.write(`${ok}x: ${"y".repeat(100_000)}\r\n\r\n`),
    reason: unreadable,
  },
  {
    does: "never ends its body",
    answer: drip(`${ok}transfer-encoding: chunked\r\n\r\n`, chunk("x")),
    reason: tooLate,
    isBegun: true,
  },
  {
    does: "sends more than a val may get",
    answer: flood(`${ok}\r\n`, "x".repeat(10_000)),
    reason: tooMuch,
    isBegun: true,
  },
  {
    does: "says beforehand that it will",
    answer: flood(`${ok}content-length: 99999999999\r\n\r\n`, "x".repeat(10_000)),
    reason: tooMuch,
    isBegun: true,
  },
  {
    does: "sends chunks without an end",
    answer: flood(`${ok}transfer-encoding: chunked\r\n\r\n`, chunk("x".repeat(1000))),
    reason: tooMuch,
    isBegun: true,
  },
  {
    does: "sends the length of a chunk without an end",
    answer: flood(`${ok}transfer-encoding: chunked\r\n\r\n`, "0".repeat(1000)),
    reason: unreadable,
    isBegun: true,
  },
  {
    does: "sends trailers without an end",
    answer: flood(`${ok}transfer-encoding: chunked\r\n\r\n0\r\n`, "x: y\r\n"),
    reason: unreadable,
    isBegun: true,
  },
  {
    does: "promises more than it sends",
    answer: (socket) => socket.end(`${ok}content-length: 100\r\n\r\nshort`),
    reason: closed,
    isBegun: true,
  },
  {
    does: "leaves in the middle of a chunk",
    answer: (socket) => socket.end(`${ok}transfer-encoding: chunked\r\n\r\n100\r\nshort`),
    reason: closed,
    isBegun: true,
  },
  {
    does: "leaves in the middle of its head",
    answer: (socket) => socket.end(`${ok}content-`),
    reason: closed,
  },
  { does: "leaves at once", answer: (socket) => socket.destroy(), reason: closed },
  {
    does: "resets the connection",
    answer: (socket) => socket.resetAndDestroy(),
    reason: closed,
  },
  { does: "speaks something else", answer: "220 mail.example.com ESMTP\r\n", reason: unreadable },
  { does: "speaks TLS", answer: "\x15\x03\x01\x00\x02\x02\x50", reason: unreadable },
  {
    does: "changes the protocol though nobody wants to",
    answer: "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
    reason: unreadable,
  },
  {
    does: "says 100 for ever",
    answer: flood("", "HTTP/1.1 100 Continue\r\n\r\n"),
    reason: unreadable,
  },
  {
    does: "says two lengths",
    answer: `${ok}content-length: 5\r\ncontent-length: 50\r\n\r\nhello`,
    reason: unreadable,
  },
  {
    does: "encodes in a way of its own",
    answer: `${ok}transfer-encoding: x\r\n\r\nhello`,
    reason: unreadable,
  },
]

const outside = await OutsideServer.listen({
  ...Object.fromEntries(
    badServers.flatMap(({ answer: response }, index) =>
      typeof response === "string" ? [] : [[`/bad${index}`, response]],
    ),
  ),
  "/hang": () => {},
  "/bomb": (socket) => {
    socket.write(`${ok}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`)
    socket.write(bomb)
  },
  "/pour": (socket) => {
    const body = "x".repeat(pouredBytes)
    socket.write(`${ok}content-length: ${body.length}\r\n\r\n${body}`)
  },
  // Unsolicited frames of 60 KB.
  "/socket-flood": upgraded((socket) =>
    flood("", `\x82\x7e\xea\x60${"x".repeat(60_000)}`)(socket, {
      method: "",
      target: "",
      headers: [],
      body: "",
    }),
  ),
  "/socket-silent": upgraded((socket) => socket.pause()),
})
const up = `http://localhost:${outside.port}`

afterAll(() => outside.stop())

const env = {
  HAMLET_EGRESS_ALLOW: `localhost:${outside.port}`,
  HAMLET_EGRESS_BYTES_MAX: String(bytesMax),
  HAMLET_EGRESS_SECONDS_MAX: String(secondsMax),
  HAMLET_EGRESS_CONNECTIONS_MAX: String(connectionsMax),
  HAMLET_EGRESS_REQUESTS_PER_MINUTE: String(requestsPerMinute),
  HAMLET_EGRESS_MB_PER_MINUTE: String(megabytesPerMinute),
  HAMLET_RATE_PER_ADDRESS: String(perAddress),
}

describeAttacks("attacks/egress limits", env, (getServer) => {
  const getPuppet = shareEvalVal(getServer)
  let residentBytes = 0
  beforeAll(() => {
    residentBytes = readResidentBytes(getServer().hamlet.pid)
  })

  probe(
    getServer,
    "a val asks the API without a token until it may not, and those of other people still may",
    async (server) => {
      const others = await createEvalVal(server, server.bob)
      const ask = `return (await fetch("${server.baseUrl}/v1/vals")).status`
      const askUntilRefused = `for (let count = 0; count < 1000; count++) {
        const { status } = await fetch("${server.baseUrl}/v1/vals")
        if (status !== 200) return status
      }`
      expect((await (await getPuppet()).evaluate(askUntilRefused)).got).toBe(429)
      expect((await others.evaluate(ask)).got).toBe(200)
      expect((await others.evaluate(askUntilRefused)).got).toBe(429)
    },
  )

  for (const [index, { does, answer: response, reason, isBegun }] of badServers.entries())
    probe(getServer, `a server ${does}`, async (server) => {
      const url =
        typeof response === "string"
          ? toRawUrl(outside.port, `bad${index}`, response)
          : `${up}/bad${index}`
      const result = await (await getPuppet()).evaluate(
        `let bytes = 0; for await (const part of (await fetch("${url}")).body) bytes += part.length; return bytes`,
      )
      const { egress } = await server.endedRun(result.runId, server.mallory)
      const { blocked } = egress.list[0]
      expect(blocked).toMatch(reason)
      const sentence = isBegun
        ? "error reading a body from connection"
        : `Cannot fetch "${url.split("?")[0]}": ${blocked}`
      expect(result.denied ?? `it got ${result.got}`).toBe(`TypeError: ${sentence}`)
      expect(egress).toMatchObject({ requests: 1, blocked: 1 })
      expect(egress.bytesReceived).toBeLessThan(2 * bytesMax)
    })

  probe(getServer, "a val opens one request more than it may", async (server) => {
    const evalVal = await createEvalVal(server)
    const { got } =
      await evalVal.evaluate(`const outcomes = await Promise.allSettled(Array.from({ length: ${connectionsMax + 1} }, () => fetch("${up}/hang")))
      return outcomes.map(({ reason }) => reason?.message ?? "passed")`)
    const messages = got as readonly string[]
    expect(
      messages.filter(
        (message) =>
          message ===
          `Cannot fetch "${up}/hang": the program has ${connectionsMax} outgoing requests open already`,
      ),
    ).toHaveLength(1)
    expect(
      messages.filter((message) => message.endsWith(`it took longer than ${secondsMax} s`)),
    ).toHaveLength(connectionsMax)
    // When they are over, there is room again.
    expect((await evalVal.evaluate(`return (await fetch("${up}/")).status`)).got).toBe(200)
  })

  probe(
    getServer,
    "a val sends more requests a minute than it may, to where it may not go",
    async (server) => {
      const evalVal = await createEvalVal(server)
      const { got } =
        await evalVal.evaluate(`for (let count = 0; count < ${2 * requestsPerMinute}; count++) {
        try { await fetch("http://10.0.0.1/") } catch (error) { if (!error.message.includes("private")) return [count, error.message] }
      }`)
      expect(got).toEqual([
        expect.any(Number),
        `Cannot fetch "http://10.0.0.1/": the program sends more than ${requestsPerMinute} requests a minute`,
      ])
      expect((got as [number])[0]).toBeGreaterThanOrEqual(requestsPerMinute)
    },
  )

  probe(getServer, "a val sends more than it may, and the rest is not read", async (server) => {
    const { denied, runId } = await (await getPuppet()).evaluate(
      `await fetch("${up}/", { method: "POST", body: new Uint8Array(${10 * bytesMax}) })`,
    )
    expect(denied).toBe(`TypeError: Cannot fetch "${up}/": it has more than ${bytesMax} bytes`)
    expect((await server.endedRun(runId, server.mallory)).egress).toMatchObject({
      requests: 1,
      blocked: 1,
    })
  })

  probe(getServer, "a val sends a body that never ends", async (server) => {
    const { denied, runId } = await (await getPuppet()).evaluate(
      `await fetch("${up}/", { method: "POST", body: new ReadableStream({ pull(controller) { controller.enqueue(new Uint8Array(65536)) } }) })`,
    )
    expect(denied).toBe(`TypeError: Cannot fetch "${up}/": it has more than ${bytesMax} bytes`)
    expect((await server.endedRun(runId, server.mallory)).egress.blocked).toBe(1)
  })

  probe(getServer, "a val uses up what its owner may send and receive", async (server) => {
    const carol = await server.addUser("carol")
    const evalVal = await createEvalVal(server, carol)
    const { got } = await evalVal.evaluate(`const messages = []
      for (let count = 0; count < 60; count++) {
        try { await (await fetch("${up}/pour")).arrayBuffer() } catch (error) { messages.push(error.message) }
      }
      return messages`)
    // The allowance runs out before a request, or in the middle of an answer.
    const messages = got as readonly string[]
    expect(messages.length).toBeGreaterThan(5)
    const refusal =
      /^Cannot fetch "[^"]+": the account has used up its outgoing traffic, try again in \d+ s$/
    expect(
      messages.filter((message) => message.startsWith("Cannot fetch") && !refusal.test(message)),
    ).toEqual([])
    // Other requests are unaffected.
    expect((await (await getPuppet()).evaluate(`return (await fetch("${up}/")).status`)).got).toBe(
      200,
    )
  })

  probe(
    getServer,
    "a server sends a decompression bomb, which the egress proxy does not unpack",
    async (server) => {
      const { got, runId } = await (await getPuppet()).evaluate(
        `let bytes = 0; for await (const part of (await fetch("${up}/bomb")).body) bytes += part.length; return bytes`,
      )
      expect(got).toBe(bombBytes)
      expect((await server.endedRun(runId, server.mallory)).egress.bytesReceived).toBeLessThan(
        bomb.length + 10_000,
      )
    },
  )

  probe(getServer, "a WebSocket is flooded by its server", async (server) => {
    const { got, runId } = await (await getPuppet()).evaluate(`let bytes = 0
      const socket = new WebSocket("${up.replace("http", "ws")}/socket-flood")
      socket.binaryType = "arraybuffer"
      socket.onmessage = ({ data }) => { bytes += data.byteLength }
      await new Promise((resolve) => { socket.onclose = socket.onerror = resolve })
      return bytes`)
    expect(got).toBeLessThanOrEqual(bytesMax)
    await waitUntil(
      async () => (await server.endedRun(runId, server.mallory)).egress?.blocked === 1,
    )
  })

  probe(getServer, "a server of a WebSocket reads nothing of what a val sends", async () => {
    const { got } = await (
      await getPuppet()
    ).evaluate(`const socket = new WebSocket("${up.replace("http", "ws")}/socket-silent")
      await new Promise((resolve, reject) => { socket.onopen = resolve; socket.onerror = reject })
      const over = new Promise((resolve) => { socket.onclose = socket.onerror = () => resolve("over") })
      for (let count = 0; count < 100; count++) socket.send(new Uint8Array(100_000))
      return await over`)
    expect(got).toBe("over")
  })

  probe(
    getServer,
    "a server says more than it was asked for, and the next one to ask does not get it",
    async () => {
      const forged = `${ok}content-length: 6\r\n\r\nFORGED`
      const { got } = await (await getPuppet()).evaluate(
        `const texts = []
      for (let round = 0; round < 5; round++) {
        texts.push(await (await fetch("${toRawUrl(outside.port, "twice", `${ok}content-length: 4\r\n\r\nfine${forged}`)}")).text())
        texts.push(await (await fetch("${up}/next")).text())
      }
      return [...new Set(texts)].sort()`,
      )
      expect(got).toEqual(["fine", "outside"])
    },
  )

  probe(getServer, "a server leaves a val no more than its own answers", async () => {
    const both = `${ok}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n4\r\nfine\r\n0\r\n\r\n`
    expect(
      (
        await (
          await getPuppet()
        ).evaluate(`return await (await fetch("${toRawUrl(outside.port, "both", both)}")).text()`)
      ).got,
    ).toBe("fine")
  })

  probe(getServer, "all of these together try to fill the memory of the server", async (server) => {
    await server.expectHealthy()
    expect(readResidentBytes(server.hamlet.pid) - residentBytes).toBeLessThan(growthBytesMax)
    expect(outside.faults).toEqual([])
  })
})
