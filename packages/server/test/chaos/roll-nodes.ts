import { expect } from "bun:test"
import { join } from "node:path"
import { type Client, createClient } from "@hamlet/contract/client"
import { findFreePort, waitUntil } from "@hamlet/kit/testing"
import type { OpenDatabase } from "../support/databases.ts"
import type { HamletProcess } from "../support/processes/hamlet-process.ts"
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

/** Several, so that the proxy gives some to each node. */
const socketVals = ["echo0", "echo1", "echo2", "echo3"]
const drainSeconds = 8
/** Going away: the server ends. */
const goingAway = 1001
const messageMs = 50
const echoMsMax = 60_000
/** A busy machine starts a node slowly, and the proxy has to notice. */
const startMsMax = 180_000

/** Nodes behind a proxy of deploy/, and in which order they are restarted. */
export interface Rolling {
  readonly kind: ProxyKind
  readonly open: OpenDatabase
  readonly env?: Readonly<Record<string, string>>
  /** Clients that send requests to vals; the first one saves and queues runs too. */
  readonly clients: number
  /** The program of each node before the first restart; undefined for that of this release. */
  readonly programs: readonly (string | undefined)[]
  readonly restarts: readonly { readonly node: number; readonly program?: string | undefined }[]
  /** Called before the first restart and after each, with the port of each node. */
  onRound?(ports: readonly number[]): Promise<void>
}

/**
 * Restarts nodes one after the other under load. Fails if a request fails, a WebSocket is closed
 * before the drain time is over, or a save or a run is lost.
 */
export async function rollNodes(rolling: Rolling): Promise<RollingLoad["counts"]> {
  const { kind, programs, restarts, onRound = async () => undefined } = rolling
  if (!findProxy(kind)) throw new Error(`${kind} is missing`)
  await using fixture = await openServerFixture(rolling.open)
  const ports = await Promise.all(programs.map(findFreePort))
  const startNode = (index: number, program: string | undefined) =>
    fixture.start(
      ["serve"],
      {
        ...proxiedNode,
        ...rolling.env,
        HAMLET_DRAIN_SECONDS: String(drainSeconds),
        HAMLET_PROCESSES_READY: "2",
        HAMLET_DATABASE_CONNECTIONS_MAX: "10",
        HAMLET_PORT: String(ports[index]),
        HAMLET_DATA_DIR: join(fixture.dataDir, String(index)),
      },
      program,
    )
  const nodes = programs.map((program, index) => startNode(index, program))
  await Promise.all(nodes.map((node) => node.listening()))
  const direct = createClient({ baseUrl: `http://127.0.0.1:${ports[0]}`, token: chosenToken })
  const vals = await createVals(direct)
  await using proxy = await startProxy(kind, toLocal(ports))
  await using load = new RollingLoad(proxy)
  load.start(vals, rolling.clients)
  await waitUntil(() => load.counts.message > 0)
  await onRound(ports)
  for (const { node, program } of restarts) {
    await load.endNode(nodes[node])
    const started = startNode(node, program)
    nodes[node] = started
    // The proxy has to use it before the next one stops.
    await waitUntil(() => started.stderr.includes('"route":"createVersion"'), { msMax: startMsMax })
    await onRound(ports)
  }
  await load[Symbol.asyncDispose]()
  expect(load.failures).toEqual([])
  expect(load.counts.closed).toBeGreaterThan(0)
  expect((await direct.getVal({ val_id: vals.saved })).version).toBe(load.counts.save + 1)
  for (const run_id of load.queuedRuns) await untilSucceeded(direct, run_id)
  return load.counts
}

interface LoadedVals {
  readonly saved: string
  readonly queued: string
}

async function createVals(client: Client): Promise<LoadedVals> {
  const code = 'export default (request) => new Response("hello " + request.method)'
  await client.createVal({ name: "hello", code, type: "http", privacy: "public" })
  for (const name of socketVals)
    await client.createVal({ name, code: echo, type: "http", privacy: "public" })
  const { id: saved } = await client.createVal({ name: "saved", code: "export default 0" })
  const work = { name: "queued", code: "export default (number) => number" }
  return { saved, queued: (await client.createVal(work)).id }
}

/** In the first attempt: a node that ends finishes its runs. */
async function untilSucceeded(client: Client, run_id: string): Promise<void> {
  const run = await waitUntil(async () => {
    const found = await client.getRun({ run_id })
    return found.runEndAt === null ? undefined : found
  })
  expect(run).toMatchObject({ status: "succeeded", attempt: 1 })
}

const echo = `export default (request) => {
  const { socket, response } = Deno.upgradeWebSocket(request)
  socket.onmessage = ({ data }) => socket.send(data)
  return response
}`

/** What clients do and see. */
class RollingLoad implements AsyncDisposable {
  readonly #proxy: StartedProxy
  readonly failures: string[] = []
  /** `closed`: WebSockets that a node which ended has closed properly. */
  readonly counts = { get: 0, post: 0, save: 0, queue: 0, message: 0, closed: 0 }
  /** The runs that were acknowledged. */
  readonly queuedRuns: string[] = []
  readonly #working: Promise<void>[] = []
  #isOver = false
  #openSockets = 0
  /** When the drain time of the node that ends is over. */
  #mayCloseFromMs = Number.POSITIVE_INFINITY

  constructor(proxy: StartedProxy) {
    this.#proxy = proxy
  }

  /** Ends a node, which may close WebSockets when its drain time is over, and not before. */
  async endNode(node: HamletProcess | undefined): Promise<void> {
    this.#mayCloseFromMs = performance.now() + drainSeconds * 1_000
    node?.signal("SIGTERM")
    const ended = await node?.ended()
    expect(ended?.exitCode).toBe(0)
    // Closes that are on their way.
    await waitUntil(() => this.#openSockets === socketVals.length)
    this.#mayCloseFromMs = Number.POSITIVE_INFINITY
  }

  /** Starts the clients, which go on until this is disposed of. */
  start(vals: LoadedVals, clients: number): void {
    for (let client = 0; client < clients; client += 1)
      this.#go(this.#request(client === 0 ? vals : undefined))
    for (const name of socketVals) this.#go(this.#talk(toValHost(name)))
  }

  #go(client: Promise<void>): void {
    this.#working.push(client.catch((error: unknown) => void this.failures.push(String(error))))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#working)
  }

  async #request(written: LoadedVals | undefined): Promise<void> {
    const host = toValHost("hello")
    while (!this.#isOver) {
      await this.#attempt("get", host, "/", {})
      await this.#attempt("post", host, "/", { method: "POST", body: "x" })
      if (!written) continue
      const code = `export default ${this.counts.save + 1}`
      await this.#post("save", `/v1/vals/${written.saved}/versions`, { code })
      const args = [this.counts.queue]
      const queued = await this.#post("queue", `/v1/vals/${written.queued}/runs`, { args })
      if (queued) this.queuedRuns.push(JSON.parse(queued).id)
    }
  }

  #post(what: "save" | "queue", path: string, body: object): Promise<string | undefined> {
    const headers = {
      authorization: `Bearer ${chosenToken}`,
      "content-type": "application/json",
      ...(what === "queue" && { prefer: "respond-async" }),
    }
    const init = { method: "POST", headers, body: JSON.stringify(body) }
    return this.#attempt(what, proxyNames.api, path, init)
  }

  async #attempt(
    what: "get" | "post" | "save" | "queue",
    host: string,
    path: string,
    init: RequestInit,
  ): Promise<string | undefined> {
    this.counts[what] += 1
    try {
      const response = await this.#proxy.fetch(host, path, init)
      const text = await response.text()
      if (response.status < 300) return text
      this.failures.push(`${what}: ${response.status} ${text.slice(0, 200)}`)
    } catch (error) {
      this.failures.push(`${what}: ${error}`)
    }
    return undefined
  }

  /** Talks over a WebSocket, and over another one when a node has closed it. */
  async #talk(host: string): Promise<void> {
    while (!this.#isOver) await this.#talkOnce(host)
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
    if (wasOpened) this.#openSockets += 1
    for (let sent = 0; !isClosed() && !this.#isOver; sent += 1) {
      socket.send(String(sent))
      await waitUntil(() => echoed === sent || isClosed(), { msMax: echoMsMax })
      if (echoed === sent) this.counts.message += 1
      await Bun.sleep(messageMs)
    }
    const wasOpen = !isClosed()
    if (wasOpen) socket.close()
    const { code, reason } = await closed
    const closedMs = performance.now()
    if (wasOpened) this.#openSockets -= 1
    if (wasOpen) return
    if (code === goingAway && closedMs >= this.#mayCloseFromMs) this.counts.closed += 1
    else {
      const earlyMs = Math.round(this.#mayCloseFromMs - closedMs)
      this.failures.push(`WebSocket: closed with ${code} ${reason}, ${earlyMs} ms before it may`)
      await Bun.sleep(messageMs)
    }
  }
}
