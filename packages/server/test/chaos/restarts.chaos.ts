import { expect, test } from "bun:test"
import { join } from "node:path"
import { createClient } from "@hamlet/contract/client"
import { databases } from "../support/databases.ts"
import { findFreePort } from "../support/processes/free-port.ts"
import { proxiedNode, toValHost } from "../support/proxies/proxied-node.ts"
import {
  findProxy,
  type ProxyKind,
  proxyNames,
  type StartedProxy,
  startProxy,
  toLocal,
} from "../support/proxies/start-proxy.ts"
import { chosenToken, openServerFixture } from "../support/server-fixture.ts"
import { waitUntil } from "../support/wait-until.ts"

// `npm run chaos -- restarts`: two nodes behind a proxy of deploy/, restarted in turns under load.
const restarts = Number(process.env.HAMLET_CHAOS_RESTARTS ?? 6)
const kind = (process.env.HAMLET_CHAOS_PROXY ?? "haproxy") as ProxyKind
const clients = 8
/** Several, so that the proxy gives some to each node. */
const socketVals = ["echo0", "echo1", "echo2", "echo3"]
const drainSeconds = 8
/** Going away: the server ends. */
const goingAway = 1001
const messageMs = 50
const echoMsMax = 60_000
const postgres = databases.find(({ name }) => name === "PostgreSQL")

test(`${restarts} rolling restarts behind ${kind} fail no request, break no WebSocket and lose no save`, async () => {
  if (!postgres || !findProxy(kind)) throw new Error(`PostgreSQL or ${kind} is missing`)
  await using fixture = await openServerFixture(postgres.open)
  const ports = [await findFreePort(), await findFreePort()]
  const startNode = (index: number) =>
    fixture.start(["serve"], {
      ...proxiedNode,
      HAMLET_DRAIN_SECONDS: String(drainSeconds),
      HAMLET_PROCESSES_READY: "2",
      HAMLET_PORT: String(ports[index]),
      HAMLET_DATA_DIR: join(fixture.dataDir, String(index)),
    })
  const nodes = [startNode(0), startNode(1)]
  await Promise.all(nodes.map((node) => node.listening()))
  const direct = createClient({ baseUrl: `http://127.0.0.1:${ports[0]}`, token: chosenToken })
  const code = 'export default (request) => new Response("hello " + request.method)'
  await direct.createVal({ name: "hello", code, type: "http", privacy: "public" })
  for (const name of socketVals)
    await direct.createVal({ name, code: echo, type: "http", privacy: "public" })
  const { id } = await direct.createVal({ name: "saved", code: "export default 0" })
  await using proxy = await startProxy(kind, toLocal(ports))

  const load = new Load(proxy)
  const headers = { authorization: `Bearer ${chosenToken}` }
  const host = toValHost("hello")
  const loops = Array.from({ length: clients }, async (_, client) => {
    while (!load.isOver) {
      await load.attempt("get", () => proxy.fetch(host, "/"))
      await load.attempt("post", () => proxy.fetch(host, "/", { method: "POST", body: "x" }))
      if (client > 0) continue
      const body = JSON.stringify({ code: `export default ${load.counts.save + 1}` })
      const init = { method: "POST", headers, body }
      await load.attempt("save", () => proxy.fetch(proxyNames.api, `/v1/vals/${id}/versions`, init))
    }
  })
  const sockets = socketVals.map((name) => load.talk(toValHost(name)))
  await waitUntil(() => load.counts.message > 0)
  for (let restart = 0; restart < restarts; restart++) {
    const index = restart % 2
    load.mayCloseFromMs = performance.now() + drainSeconds * 1_000
    nodes[index]?.signal("SIGTERM")
    const ended = await nodes[index]?.ended()
    expect(ended?.exitCode).toBe(0)
    // Closes that are on their way.
    await waitUntil(() => load.openSockets === socketVals.length)
    load.mayCloseFromMs = Number.POSITIVE_INFINITY
    const started = startNode(index)
    nodes[index] = started
    // The proxy has to use it before the other one stops.
    await waitUntil(() => started.stderr.includes('"route":"createVersion"'), { msMax: 180_000 })
  }
  load.isOver = true
  await Promise.all([...loops, ...sockets])
  console.log(`${restarts} restarts behind ${kind}: ${JSON.stringify(load.counts)}`)
  expect(load.failures).toEqual([])
  expect(load.counts.closed).toBeGreaterThan(0)
  expect((await direct.getVal({ val_id: id })).version).toBe(load.counts.save + 1)
}, 0)

const echo = `export default (request) => {
  const { socket, response } = Deno.upgradeWebSocket(request)
  socket.onmessage = ({ data }) => socket.send(data)
  return response
}`

/** What clients do and see. */
class Load {
  readonly #proxy: StartedProxy
  readonly failures: string[] = []
  /** `closed`: WebSockets that a node which ended has closed properly. */
  readonly counts = { get: 0, post: 0, save: 0, message: 0, closed: 0 }
  isOver = false
  openSockets = 0
  /** When the drain time of the node that ends is over. */
  mayCloseFromMs = Number.POSITIVE_INFINITY

  constructor(proxy: StartedProxy) {
    this.#proxy = proxy
  }

  async attempt(what: "get" | "post" | "save", send: () => Promise<Response>): Promise<void> {
    try {
      const response = await send()
      const text = await response.text()
      if (response.status >= 300)
        this.failures.push(`${what}: ${response.status} ${text.slice(0, 200)}`)
    } catch (error) {
      this.failures.push(`${what}: ${error}`)
    }
    this.counts[what]++
  }

  /** Talks over a WebSocket, and over another one when a node has closed it. */
  async talk(host: string): Promise<void> {
    while (!this.isOver) await this.#talkOnce(host)
  }

  async #talkOnce(host: string): Promise<void> {
    const socket = this.#proxy.connect(host)
    const closed = new Promise<CloseEvent>((resolve) => {
      socket.onclose = resolve
    })
    let echoed = -1
    socket.onmessage = ({ data }) => {
      echoed = Number(data)
    }
    const isClosed = () => socket.readyState >= WebSocket.CLOSING
    await waitUntil(() => isClosed() || socket.readyState === WebSocket.OPEN)
    const wasOpened = !isClosed()
    if (wasOpened) this.openSockets += 1
    for (let sent = 0; !isClosed() && !this.isOver; sent += 1) {
      socket.send(String(sent))
      await waitUntil(() => echoed === sent || isClosed(), { msMax: echoMsMax })
      if (echoed === sent) this.counts.message += 1
      await Bun.sleep(messageMs)
    }
    const wasOpen = !isClosed()
    if (wasOpen) socket.close()
    const { code, reason } = await closed
    const closedMs = performance.now()
    if (wasOpened) this.openSockets -= 1
    if (wasOpen) return
    if (code === goingAway && closedMs >= this.mayCloseFromMs) this.counts.closed += 1
    else {
      const earlyMs = Math.round(this.mayCloseFromMs - closedMs)
      this.failures.push(`WebSocket: closed with ${code} ${reason}, ${earlyMs} ms before it may`)
      await Bun.sleep(messageMs)
    }
  }
}
