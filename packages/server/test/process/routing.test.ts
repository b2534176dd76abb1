import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { createClient } from "@hamlet/contract/client"
import { findFreePort, notRun, waitUntil } from "@hamlet/kit/testing"
import { databases } from "../support/databases.ts"
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
import { chosenToken, openServerFixture, type ServerFixture } from "../support/server-fixture.ts"

const kinds: readonly ProxyKind[] = ["nginx", "haproxy", "caddy"]
const installed = kinds.filter((kind) => findProxy(kind) !== undefined)
const postgres = databases.find(({ name }) => name === "PostgreSQL")

for (const kind of kinds)
  if (!installed.includes(kind)) notRun(`several nodes behind ${kind}`, `${kind} is not installed`)
if (postgres === undefined) notRun("nodes behind a proxy", "HAMLET_TEST_POSTGRES_URL is not set")

/** Enough that a proxy which divides them among two nodes gives some to both. */
const count = 40
/**
 * Hosts of vals that do not exist: each is answered with 404, and logged by the node that has done
 * it.
 */
const hosts = Array.from({ length: count }, (_, index) => toValHost(`missing${index}`))
const apiPaths = Array.from({ length: count }, (_, index) => `/v1/nowhere/${index}`)

if (postgres)
  describe("several nodes behind a proxy", () => {
    let fixture: ServerFixture
    let nodes: readonly HamletProcess[]
    const proxies = new Map<ProxyKind, StartedProxy>()
    beforeAll(async () => {
      fixture = await openServerFixture(postgres.open)
      const ports = [await findFreePort(), await findFreePort()]
      nodes = ports.map((port, index) =>
        fixture.start(["serve"], {
          ...proxiedNode,
          // Longer than the test.
          HAMLET_DRAIN_SECONDS: "3600",
          HAMLET_PORT: String(port),
          // The first one is killed, and the fixture cleans up its own folder.
          ...(index > 0 && { HAMLET_DATA_DIR: join(fixture.dataDir, String(index)) }),
        }),
      )
      await Promise.all(nodes.map((node) => node.listening()))
      const client = createClient({ baseUrl: `http://127.0.0.1:${ports[0]}`, token: chosenToken })
      await client.createVal({ name: "probe", code: probe, type: "http", privacy: "public" })
      for (const kind of installed) proxies.set(kind, await startProxy(kind, toLocal(ports)))
    })
    afterAll(async () => {
      for (const proxy of proxies.values()) await proxy[Symbol.asyncDispose]()
      // The nodes would go on for the time of the drain.
      for (const node of nodes ?? []) await node.stop()
      await fixture?.[Symbol.asyncDispose]()
    })

    const proxyOf = (kind: ProxyKind) => {
      const proxy = proxies.get(kind)
      if (!proxy) throw new Error(`${kind} was not started`)
      return proxy
    }
    const askVals = (kind: ProxyKind) =>
      findNodes(nodes, hosts, "host", (host) => proxyOf(kind).fetch(host, "/"))
    const askApi = (kind: ProxyKind) =>
      findNodes(nodes, apiPaths, "path", (path) => proxyOf(kind).fetch(proxyNames.api, path))

    describe.each([...installed])("%s", (kind) => {
      test("serves the API, vals, large bodies, streams and WebSockets, and no metrics", async () => {
        const proxy = proxyOf(kind)
        const headers = { authorization: `Bearer ${chosenToken}` }
        expect((await proxy.fetch(proxyNames.api, "/v1/me", { headers })).status).toBe(200)
        expect((await proxy.fetch(proxyNames.api, "/metrics")).status).toBe(404)
        const host = toValHost("probe")
        const spoofed = { headers: { "x-forwarded-for": "192.0.2.1" } }
        // A machine that is too busy to start the process in time responds 503.
        const first = await waitUntil(async () => {
          const response = await proxy.fetch(host, "/metrics", spoofed)
          return response.status === 200 && response
        })
        expect((await first.text()).split(" ").slice(1)).toEqual(["/metrics", "127.0.0.1"])
        const size = await proxy.fetch(host, "/", {
          method: "POST",
          body: new Uint8Array(3_000_000),
        })
        expect(await size.text()).toBe("3000000")
        const stream = (await proxy.fetch(host, "/stream")).body?.getReader()
        expect(new TextDecoder().decode((await stream?.read())?.value)).toBe("begun")
        await stream?.cancel()
        expect(await proxy.echo(host, "hello")).toBe("hello")
        const plain = await fetch(`http://127.0.0.1:${proxy.plainPort}/x?y`, {
          headers: { host: proxyNames.api },
          redirect: "manual",
        })
        expect([plain.status >= 301 && plain.status <= 308, plain.headers.get("location")]).toEqual(
          [true, expect.stringMatching(/^https:\/\/hamlet\.example\.org(:\d+)?\/x\?y$/)],
        )
      })

      test("sends all requests to a val to one node, and uses both nodes", async () => {
        const [first, second] = [await askVals(kind), await askVals(kind)]
        expect(second).toEqual(first)
        expect(new Set(Object.values(first)).size).toBe(2)
        expect(new Set(Object.values(await askApi(kind))).size).toBe(2)
        const bodies = await Promise.all(
          Array.from({ length: 10 }, async () =>
            (await proxyOf(kind).fetch(toValHost("probe"), "/")).text(),
          ),
        )
        // The val begins its response with the id of its process.
        expect(new Set(bodies).size).toBe(1)
      })

      test("repeats no POST that a node has received, and sends one elsewhere that none has", async () => {
        const fakes = [openFakeNode(), openFakeNode()] as const
        const ports = await Promise.all(fakes.map(({ listening }) => listening))
        const countDropped = () => fakes[0].dropped() + fakes[1].dropped()
        await using proxy = await startProxy(kind, toLocal(ports))
        // Caddy up to 2.11.1 closes the body when it cannot connect (its issue 7546).
        const body = kind === "caddy" ? null : "once"
        const post = (host: string, path: string) =>
          proxy.fetch(host, path, { method: "POST", body })
        for (const host of [proxyNames.api, toValHost("hello")]) {
          const before = countDropped()
          // HAProxy and Caddy ask a new node before they use it.
          const { status } = await waitUntil(async () => {
            const response = await post(host, "/drop")
            await response.body?.cancel()
            return countDropped() > before && response
          })
          expect([status, countDropped()]).toEqual([502, before + 1])
        }
        await fakes[0].stop()
        const statuses = await Promise.all(
          [proxyNames.api, ...hosts].map(async (host) => {
            const response = await post(host, "/")
            await response.body?.cancel()
            return response.status
          }),
        )
        await fakes[1].stop()
        expect(new Set(statuses)).toEqual(new Set([200]))
      })
    })

    test("a node that drains gets no new requests, and neither that nor its end fails one", async () => {
      const [draining] = nodes
      const before = new Map<ProxyKind, Nodes>()
      for (const kind of installed) before.set(kind, await askVals(kind))
      draining?.signal("SIGTERM")
      for (const kind of installed) {
        await waitUntil(
          async () => {
            const now = await askVals(kind)
            // The vals of the other node stay there.
            const moved = hosts.filter((host) => before.get(kind)?.[host] === 1 && now[host] !== 1)
            expect(moved).toEqual([])
            return Object.values(now).every((node) => node === 1)
          },
          { what: `${kind} to leave the node alone` },
        )
        await waitUntil(async () => Object.values(await askApi(kind)).every((node) => node === 1))
      }
      draining?.signal("SIGKILL")
      await draining?.ended()
      for (const kind of installed) {
        expect(new Set(Object.values(await askVals(kind)))).toEqual(new Set([1]))
        expect(new Set(Object.values(await askApi(kind)))).toEqual(new Set([1]))
      }
    })
  })

const probe = `const id = crypto.randomUUID()
export default async (request) => {
  if (request.headers.get("upgrade") === "websocket") {
    const { socket, response } = Deno.upgradeWebSocket(request)
    socket.onmessage = ({ data }) => socket.send(data)
    return response
  }
  const { pathname } = new URL(request.url)
  if (request.method === "POST") return new Response(String((await request.bytes()).length))
  if (pathname === "/stream")
    return new Response(new ReadableStream({ start(c) { c.enqueue(new TextEncoder().encode("begun")) } }))
  return new Response([id, pathname, request.headers.get("x-forwarded-for")].join(" "))
}`

/** The index of the node that has served a key. */
type Nodes = Readonly<Record<string, number>>

/** Sends a request for each key, which must not fail, and reads in the logs which node has served it. */
async function findNodes(
  nodes: readonly HamletProcess[],
  keys: readonly string[],
  field: "host" | "path",
  send: (key: string) => Promise<Response>,
): Promise<Nodes> {
  const starts = nodes.map(({ stderr }) => stderr.length)
  for (const key of keys) {
    const response = await send(key)
    await response.body?.cancel()
    expect([key, response.status]).toEqual([key, 404])
  }
  return await waitUntil(() => {
    const served = nodes.flatMap(({ stderr }, node) =>
      readKeys(stderr.slice(starts[node]), field)
        .filter((key) => keys.includes(key))
        .map((key) => [key, node] as const),
    )
    return served.length === keys.length && Object.fromEntries(served)
  })
}

/** The field of each complete line of a log. */
function readKeys(log: string, field: string): readonly string[] {
  const pattern = new RegExp(`"${field}":"([^"]+)"[^\\n]*\\n`, "g")
  return [...log.matchAll(pattern)].map(([, key = ""]) => key)
}

/** A node that is always ready, and breaks the connection of requests to /drop after reading them. */
function openFakeNode() {
  let dropped = 0
  const server = createServer((request, response) => {
    request.resume()
    request.on("end", () => {
      if (request.url !== "/drop") return void response.end("ok")
      dropped++
      request.socket.destroy()
    })
  })
  const listening = new Promise<number>((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)),
  )
  return {
    listening,
    dropped: () => dropped,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
