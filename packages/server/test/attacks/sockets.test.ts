import { afterAll, beforeAll, expect } from "bun:test"
import { createServer, type Socket } from "node:net"
import { join } from "node:path"
import { waitUntil, waitUntilStable } from "@hamlet/kit/testing"
import { notations } from "./probes/egress-addresses.ts"
import type { AttackServer, SavedVal } from "./support/attack-server.ts"
import { Canary } from "./support/canary.ts"
import { describeAttacks, probe } from "./support/describe-attacks.ts"
import { EgressConnection } from "./support/egress-connection.ts"
import { createEvalVal, shareEvalVal } from "./support/eval-val.ts"
import { readResidentBytes } from "./support/processes.ts"

/** On every address of this machine, at a port that vals may reach. */
const canary = await Canary.listenEverywhere()
/** Where vals may go, to see that they would arrive. */
const friend = await Canary.listen("127.0.0.1")

/** Accepts connections, and does with the first bytes of each what they say. */
const accepted = new Set<Socket>()
const marks = new WeakMap<Socket, string>()
const part = Buffer.alloc(65_536, "x")
const outside = createServer({ allowHalfOpen: true }, (socket) => {
  accepted.add(socket)
  socket.on("error", () => {})
  socket.on("close", () => accepted.delete(socket))
  socket.once("data", (bytes) => {
    const text = bytes.toString()
    marks.set(socket, text)
    if (text.startsWith("pour")) pour(socket)
    else if (text.startsWith("echo")) {
      socket.write(bytes)
      socket.on("data", (more) => void socket.write(more))
    } else if (text.startsWith("silent")) socket.pause()
  })
})
await new Promise<void>((resolve) => outside.listen(0, "127.0.0.1", resolve))
const outsidePort = (outside.address() as { readonly port: number }).port

function pour(socket: Socket): void {
  while (!socket.destroyed && socket.write(part));
  if (!socket.destroyed) socket.once("drain", () => pour(socket))
}

afterAll(() => {
  canary.stop()
  friend.stop()
  for (const socket of accepted) socket.destroy()
  outside.close()
})

const connectionsMax = 128
const bytesMax = 2_000_000
const megabytesPerMinute = 40
/** For probes that move many bytes, or open many connections, on a busy machine. */
const longMsMax = 180_000
const growthBytesMax = 100 * 1024 ** 2

const settings = {
  HAMLET_EGRESS_ALLOW: `127.0.0.1:${friend.port},localhost:${outsidePort}`,
  HAMLET_EGRESS_SOCKET_PORTS: "1-65535",
  HAMLET_EGRESS_BYTES_MAX: String(bytesMax),
  HAMLET_EGRESS_MB_PER_MINUTE: String(megabytesPerMinute),
  HAMLET_EGRESS_CONNECTIONS_MAX: String(connectionsMax),
  // Probes that use the socket of a sandbox need it longer than its run.
  HAMLET_IDLE_SECONDS: "300",
  HAMLET_RUN_SECONDS_MAX: "170",
}

/** Defines `open(host, port)`, which rejects when the connection is refused. */
const openers: Readonly<Record<string, string>> = {
  "Deno.connect": `const open = async (hostname, port) => (await Deno.connect({ hostname, port })).close()`,
  "node:net": `const net = await import("node:net")
    const open = (host, port) => new Promise((resolve, reject) => { const socket = net.connect({ host, port }); socket.once("connect", () => { socket.destroy(); resolve() }); socket.once("error", reject) })`,
  "node:net after a lookup that says something else": `const net = await import("node:net")
    const open = (host, port) => new Promise((resolve, reject) => { const socket = net.connect({ host: "nowhere.invalid", port, lookup: (_, options, callback) => options.all ? callback(null, [{ address: host, family: 4 }]) : callback(null, host, 4) }); socket.once("connect", () => { socket.destroy(); resolve() }); socket.once("error", reject) })`,
  "node:http": `const http = await import("node:http")
    const open = (host, port) => new Promise((resolve, reject) => http.get({ host, port }, resolve).once("error", reject))`,
  "Deno.connectTls": `const open = async (hostname, port) => (await Deno.connectTls({ hostname, port })).close()`,
}

/** The frame with which a connection to tcp.sock begins. */
function toFrame(request: unknown): string {
  const json = Buffer.from(JSON.stringify(request))
  return String.fromCharCode(json.length >> 8, json.length & 255) + json.toString("latin1")
}

async function findSocket(server: AttackServer, val: SavedVal): Promise<string> {
  const { folder } = await server.sandboxOf(val)
  return join(folder, "run", "tcp.sock")
}

/** Sends bytes to tcp.sock like an attacker who controls the sandbox, and waits for the end. */
async function send(path: string, ...parts: readonly string[]): Promise<string> {
  const connection = await EgressConnection.connect(path)
  connection.stopWhenQuiet()
  for (const bytes of parts) {
    connection.write(bytes)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await connection.closed
  return connection.received
}

describeAttacks("attacks/sockets", settings, (getServer) => {
  const getPuppet = shareEvalVal(getServer)
  const getControlled = shareEvalVal(getServer)
  /** The socket of a sandbox whose val opens no connection, so that no run counts what is sent to it. */
  const findControlledSocket = async (server: AttackServer) => {
    const { val, evaluate } = await getControlled()
    await evaluate("")
    return findSocket(server, val)
  }
  let residentBytes = 0
  beforeAll(() => {
    residentBytes = readResidentBytes(getServer().hamlet.pid)
  })

  for (const [what, code] of Object.entries(openers))
    probe(
      getServer,
      `a val tries every notation of a forbidden address with ${what}`,
      async () => {
        const hosts = notations.map(({ host }) => `"${host}"`).join(",")
        const { got, denied } = await (await getPuppet()).evaluate(`${code}
        const passed = []
        for (const host of [${hosts}].flatMap((host) => [host, host.replace(/^\\[|\\]$/g, "")]))
          try { await open(host, ${canary.port}); passed.push(host) } catch {}
        return passed`)
        expect(denied ?? got).toEqual([])
        expect(canary.connections).toBe(0)
      },
      longMsMax,
    )

  probe(
    getServer,
    "a val tries every notation at the host's own socket",
    async (server) => {
      const path = await findControlledSocket(server)
      for (const { host } of notations)
        for (const address of [undefined, "127.0.0.1", "::1"]) {
          const frame = { kind: "connect", host, address, port: canary.port, run: "" }
          expect(await send(path, toFrame(frame))).not.toContain('"kind":"connected"')
        }
      expect(canary.connections).toBe(0)
    },
    longMsMax,
  )

  probe(
    getServer,
    "a val would arrive where it may go, so that the others have not failed for another reason",
    async () => {
      const { got } = await (await getPuppet()).evaluate(
        `const connection = await Deno.connect({ hostname: "0x7f.1", port: ${friend.port} }); await connection.write(new TextEncoder().encode("x")); return await new Response(connection.readable).text()`,
      )
      expect(got).toContain("captured")
    },
  )

  for (const host of ["127.0.0.1", "::1", "0.0.0.0", "::ffff:127.0.0.1", "2130706433"])
    probe(getServer, `a val tries the port of the server itself at ${host}`, async (server) => {
      const { denied, got } = await (await getPuppet()).evaluate(
        `return (await Deno.connect({ hostname: "${host}", port: ${server.port} })).remoteAddr`,
      )
      expect(denied ?? `it got ${JSON.stringify(got)}`).toMatch(/^NotCapable: Cannot connect to "/)
    })

  const malformed: Readonly<Record<string, readonly string[]>> = {
    "a length that is too great": ["\xff\xff"],
    "nothing but zeros": ["\0".repeat(100)],
    "no JSON": ["\0\x04nope"],
    "JSON that is no request": ["\0\x02[]"],
    "a request of another kind": [toFrame({ kind: "listen", host: "127.0.0.1", port: 1, run: "" })],
    "a request without a port": [toFrame({ kind: "connect", host: "127.0.0.1", run: "" })],
    "a port as text": [toFrame({ kind: "connect", host: "127.0.0.1", port: "80", run: "" })],
    "bytes behind its request": [
      `${toFrame({ kind: "connect", host: "localhost", port: outsidePort, run: "" })}echo`,
    ],
    "bytes before the reply": [
      toFrame({ kind: "lookup", host: "silent.invalid", run: "" }),
      "more",
      "and more",
    ],
    "a second request in the same part": [
      toFrame({ kind: "lookup", host: "localhost", run: "" }).repeat(2),
    ],
    "HTTP, as a client of the other socket": [`CONNECT 127.0.0.1:${canary.port} HTTP/1.1\r\n\r\n`],
    TLS: ["\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
    "a host with a line break": [
      toFrame({ kind: "connect", host: "localhost\r\nx", port: outsidePort, run: "" }),
    ],
    "a host of a thousand characters": [
      toFrame({ kind: "connect", host: "a".repeat(900), port: outsidePort, run: "" }),
    ],
  }
  for (const [what, parts] of Object.entries(malformed))
    probe(getServer, `somebody who controls a sandbox sends ${what}`, async (server) => {
      const received = await send(await findControlledSocket(server), ...parts)
      expect(received).not.toContain('"kind":"connected"')
      expect(received).not.toContain("echo")
      expect(canary.connections).toBe(0)
    })

  probe(
    getServer,
    "somebody who controls a sandbox names the run and the key of another one",
    async (server) => {
      const path = await findControlledSocket(server)
      const seen = await server.request(server.neighbour)
      const run = seen.headers.get("x-run-id") ?? ""
      const frame = { kind: "connect", host: "localhost", port: outsidePort, run: `x ${run}` }
      const connection = await EgressConnection.connect(path)
      connection.write(toFrame(frame))
      await waitUntil(() => connection.received.includes('"kind":"connected"'))
      connection.write("echo FORGED")
      await waitUntil(() => connection.received.endsWith("FORGED"))
      connection.stop()
      expect((await server.endedRun(run, server.ada)).egress).toBeNull()
    },
  )

  probe(
    getServer,
    "a val opens 2,000 connections at once",
    async (server) => {
      const evalVal = await createEvalVal(server)
      const { got } = await evalVal.evaluate(`const open = []
      const outcomes = await Promise.allSettled(Array.from({ length: 2_000 }, async () => open.push(await Deno.connect({ hostname: "localhost", port: ${outsidePort} }))))
      const reasons = {}
      for (const { reason } of outcomes) { const text = reason ? reason.message.replace(/^Cannot connect to "[^"]*": /, "") : "open"; reasons[text] = (reasons[text] ?? 0) + 1 }
      for (const one of open) one.close()
      return reasons`)
      const reasons = got as Record<string, number>
      expect(reasons.open).toBe(connectionsMax)
      // How many wait to be refused at the same time depends on the machine.
      const { open: _, ...refused } = reasons
      expect([
        "Cannot open a socket: the val opens too many at once",
        `the program has ${connectionsMax} outgoing requests open already`,
      ]).toEqual(expect.arrayContaining(Object.keys(refused)))
      expect(Object.values(refused).reduce((sum, count) => sum + count)).toBe(
        2_000 - connectionsMax,
      )
      // When they are closed, there is room again.
      await waitUntil(async () => {
        const again = await evalVal.evaluate(
          `return (await Deno.connect({ hostname: "localhost", port: ${outsidePort} })).close() ?? "open"`,
        )
        return again.got === "open"
      })
    },
    longMsMax,
  )

  probe(
    getServer,
    "a sandbox opens half of a connection, many times",
    async (server) => {
      const { val } = await createEvalVal(server)
      await server.request(val, { method: "POST", body: "return 1" })
      const path = await findSocket(server, val)
      const half = toFrame({ kind: "connect", host: "localhost", port: outsidePort, run: "" })
      const connections = await Promise.all(
        Array.from({ length: 500 }, () => EgressConnection.connect(path)),
      )
      for (const connection of connections) connection.write(half.slice(0, -1))
      await waitUntil(
        () => connections.filter(({ isOpen }) => isOpen).length <= connectionsMax + 256,
      )
      for (const connection of connections) connection.stop()
      await waitUntil(async () => (await send(path, half)).includes('"kind":"connected"'))
    },
    longMsMax,
  )

  probe(getServer, "a val reads nothing of what a server pours out", async (server) => {
    const evalVal = await createEvalVal(server, await server.addUser("dora"))
    const { got } =
      await evalVal.evaluate(`globalThis.kept = await Promise.all(Array.from({ length: 50 }, () => Deno.connect({ hostname: "localhost", port: ${outsidePort} })))
      for (const one of globalThis.kept) await one.write(new TextEncoder().encode("pour in vain"))
      return globalThis.kept.length`)
    expect(got).toBe(50)
    // What is not read fills the buffers of the kernel, and not the memory of the server.
    const poured = () => [...accepted].filter((socket) => marks.get(socket) === "pour in vain")
    await waitUntil(() => poured().length === 50)
    await waitUntilStable(
      async () => poured().reduce((sum, { bytesWritten }) => sum + bytesWritten, 0),
      300,
    )
    expect(readResidentBytes(server.hamlet.pid) - residentBytes).toBeLessThan(growthBytesMax)
    await evalVal.evaluate(`for (const one of globalThis.kept) one.close()`)
  })

  probe(getServer, "a server reads nothing of what a val sends", async (server) => {
    const evalVal = await createEvalVal(server)
    const { got } = await evalVal.evaluate(`const { connect } = await import("node:net")
      const socket = connect({ port: ${outsidePort}, host: "localhost", autoSelectFamily: false })
      await new Promise((resolve, reject) => { socket.once("connect", resolve); socket.once("error", reject) })
      socket.write("silent")
      const over = new Promise((resolve) => { socket.once("close", () => resolve("over")); socket.on("error", () => {}); setTimeout(() => resolve(socket.writableLength > 0 ? "waits" : "sent"), 1000) })
      for (let count = 0; count < 100; count++) socket.write(new Uint8Array(100_000))
      const outcome = await over
      socket.destroy()
      return outcome`)
    expect(["over", "waits"]).toContain(got as string)
  })

  probe(getServer, "a val receives more on a socket than it may", async (server) => {
    const { got, runId } = await (await getPuppet()).evaluate(`let bytes = 0
      const connection = await Deno.connect({ hostname: "localhost", port: ${outsidePort} })
      await connection.write(new TextEncoder().encode("pour"))
      try { for await (const part of connection.readable) bytes += part.length } catch {}
      return bytes`)
    expect(got).toBeLessThanOrEqual(bytesMax)
    const egress = await waitUntil(
      async () => (await server.endedRun(runId, server.mallory)).egress ?? undefined,
    )
    expect(egress).toMatchObject({ requests: 1, blocked: 1 })
    expect(egress.list[0].blocked).toBe(`the response has more than ${bytesMax} bytes`)
  })

  probe(
    getServer,
    "a val uses up what its owner may receive, on sockets",
    async (server) => {
      const carol = await server.addUser("carol")
      const evalVal = await createEvalVal(server, carol)
      const { got } = await evalVal.evaluate(`const messages = []
      for (let count = 0; count < 80; count++) {
        try {
          const connection = await Deno.connect({ hostname: "localhost", port: ${outsidePort} })
          await connection.write(new TextEncoder().encode("pour"))
          try { for await (const part of connection.readable); } catch {}
        } catch (error) { messages.push(error.message) }
      }
      return messages`)
      const messages = got as readonly string[]
      expect(messages.length).toBeGreaterThan(5)
      expect(messages.at(-1)).toMatch(
        /^Cannot connect to "localhost:\d+": the account has used up its outgoing traffic, try again in \d+ s$/,
      )
    },
    longMsMax,
  )

  probe(getServer, "a val goes on sending when its run has ended", async (server) => {
    const carla = await server.addUser("carla")
    const evalVal = await createEvalVal(server, carla)
    const { runId } =
      await evalVal.evaluate(`const connection = await Deno.connect({ hostname: "localhost", port: ${outsidePort} })
      await connection.write(new TextEncoder().encode("echo"))
      await connection.read(new Uint8Array(10))
      const { promise, resolve } = Promise.withResolvers()
      globalThis.goOn = resolve
      promise.then(async () => { for (let count = 0; count < 200; count++) { await connection.write(new Uint8Array(1000)); await connection.read(new Uint8Array(1000)) } })
      return "fine"`)
    // The run has what it sent itself; the rest is the account's.
    const run = await server.endedRun(runId, carla)
    expect(run.egress).toMatchObject({ requests: 1, bytesSent: 4, bytesReceived: 4 })
    await evalVal.evaluate(`globalThis.goOn()`)
    await waitUntil(async () => {
      const { json } = await server.call("GET", "/v1/me/usage", { as: carla })
      return json.egress.bytesLastMinute > 100_000
    })
    const later = await server.endedRun(runId, carla)
    expect(later.egress.bytesSent).toBe(4)
  })

  probe(getServer, "a val is killed, and its connections are closed", async (server) => {
    const evalVal = await createEvalVal(server)
    const isOpen = () =>
      [...accepted].some(
        (socket) => marks.get(socket) === "echo of a dead val" && !socket.readableEnded,
      )
    await evalVal.evaluate(
      `globalThis.kept = await Deno.connect({ hostname: "localhost", port: ${outsidePort} }); await globalThis.kept.write(new TextEncoder().encode("echo of a dead val")); await globalThis.kept.read(new Uint8Array(100))`,
    )
    expect(isOpen()).toBe(true)
    const { guest } = await server.sandboxOf(evalVal.val)
    process.kill(guest.pid, "SIGKILL")
    await waitUntil(() => !isOpen())
  })

  probe(getServer, "all of these together try to fill the memory of the server", async (server) => {
    await server.expectHealthy()
    expect(readResidentBytes(server.hamlet.pid) - residentBytes).toBeLessThan(growthBytesMax)
  })
})
