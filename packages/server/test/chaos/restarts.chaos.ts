import { expect, test } from "bun:test"
import { join } from "node:path"
import { createClient } from "@hamlet/contract/client"
import { databases } from "../support/databases.ts"
import { findFreePort } from "../support/processes/free-port.ts"
import {
  findProxy,
  type ProxyKind,
  proxyNames,
  startProxy,
} from "../support/proxies/start-proxy.ts"
import { chosenToken, openServerFixture } from "../support/server-fixture.ts"
import { waitUntil } from "../support/wait-until.ts"

// `npm run chaos -- restarts`: two nodes behind a proxy of deploy/, restarted in turns under load.
const restarts = Number(process.env.HAMLET_CHAOS_RESTARTS ?? 6)
const kind = (process.env.HAMLET_CHAOS_PROXY ?? "haproxy") as ProxyKind
const clients = 8
const postgres = databases.find(({ name }) => name === "PostgreSQL")

test(`${restarts} rolling restarts behind ${kind} fail no request and lose no save`, async () => {
  if (!postgres || !findProxy(kind)) throw new Error(`PostgreSQL or ${kind} is missing`)
  await using fixture = await openServerFixture(postgres.open)
  const ports = [await findFreePort(), await findFreePort()]
  const settings = {
    HAMLET_TOKEN: chosenToken,
    HAMLET_BASE_URL: `https://${proxyNames.api}`,
    HAMLET_VALS_DOMAIN: proxyNames.vals,
    HAMLET_ADDRESS_HEADER: "x-forwarded-for",
    HAMLET_SECRET_KEY: Buffer.alloc(32, 5).toString("base64"),
    HAMLET_RATE_PER_ADDRESS: "none",
    HAMLET_RATE_PER_TOKEN: "none",
    HAMLET_RUNS_PER_MINUTE: "none",
    HAMLET_METRICS_PORT: "0",
    HAMLET_DRAIN_SECONDS: "8",
    HAMLET_PROCESSES_READY: "2",
  }
  const startNode = (index: number) =>
    fixture.start(["serve"], {
      ...settings,
      HAMLET_PORT: String(ports[index]),
      HAMLET_DATA_DIR: join(fixture.dataDir, String(index)),
    })
  const nodes = [startNode(0), startNode(1)]
  await Promise.all(nodes.map((node) => node.listening()))
  const direct = createClient({ baseUrl: `http://127.0.0.1:${ports[0]}`, token: chosenToken })
  const code = 'export default (request) => new Response("hello " + request.method)'
  await direct.createVal({ name: "hello", code, type: "http", privacy: "public" })
  const { id } = await direct.createVal({ name: "saved", code: "export default 0" })
  await using proxy = await startProxy(kind, ports)

  let isOver = false
  const failures: string[] = []
  const counts = { get: 0, post: 0, save: 0 }
  const attempt = async (what: keyof typeof counts, send: () => Promise<Response>) => {
    try {
      const response = await send()
      const text = await response.text()
      if (response.status >= 300) failures.push(`${what}: ${response.status} ${text.slice(0, 200)}`)
    } catch (error) {
      failures.push(`${what}: ${error}`)
    }
    counts[what]++
  }
  const headers = { authorization: `Bearer ${chosenToken}` }
  const host = `ada-hello.${proxyNames.vals}`
  const loops = Array.from({ length: clients }, async (_, client) => {
    while (!isOver) {
      await attempt("get", () => proxy.fetch(host, "/"))
      await attempt("post", () => proxy.fetch(host, "/", { method: "POST", body: "x" }))
      if (client > 0) continue
      const body = JSON.stringify({ code: `export default ${counts.save + 1}` })
      const init = { method: "POST", headers, body }
      await attempt("save", () => proxy.fetch(proxyNames.api, `/v1/vals/${id}/versions`, init))
    }
  })
  for (let restart = 0; restart < restarts; restart++) {
    const index = restart % 2
    nodes[index]?.signal("SIGTERM")
    const ended = await nodes[index]?.ended()
    expect(ended?.exitCode).toBe(0)
    const started = startNode(index)
    nodes[index] = started
    // The proxy has to use it before the other one stops.
    await waitUntil(() => started.stderr.includes('"route":"createVersion"'))
  }
  isOver = true
  await Promise.all(loops)
  console.log(`${restarts} restarts behind ${kind}: ${JSON.stringify(counts)}`)
  expect(failures).toEqual([])
  expect((await direct.getVal({ val_id: id })).version).toBe(counts.save + 1)
}, 0)
