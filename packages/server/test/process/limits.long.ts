import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { type Client, createClient } from "@hamlet/contract/client"
import { type Database, sql } from "@hamlet/database"
import { openPostgres } from "@hamlet/database/postgres"
import { PrivatePostgres } from "@hamlet/database/testing"
import { runsAtOnce, type SlotHolder } from "@hamlet/kit"
import { notRun, waitUntil } from "@hamlet/kit/testing"
import { chosenToken, openServerFixture, type ServerFixture } from "../support/server-fixture.ts"

const binaries = process.env.HAMLET_TEST_POSTGRES_BIN
const testMsMax = 300_000
const perMinute = 600
const runsMax = 4
const env = {
  HAMLET_SECRET_KEY: Buffer.alloc(32, 5).toString("base64"),
  HAMLET_TOKEN: chosenToken,
  HAMLET_RATE_PER_TOKEN: String(perMinute),
  HAMLET_RUNS_PER_ACCOUNT_MAX: String(runsMax),
  HAMLET_STORAGE_REQUESTS_PER_MINUTE: "30",
}

if (binaries === undefined) notRun("limits of three nodes", "HAMLET_TEST_POSTGRES_BIN is not set")
else
  describe("limits of three nodes", () => {
    test(
      "hold for all together: requests in any order, runs at once, after a crash of PostgreSQL and of a node",
      async () => {
        await using postgres = await startPostgres(binaries)
        await using fixture = await openServerFixture()
        const nodes = await startNodes(fixture, postgres.server.url)
        const client = createClient({ baseUrl: nodes[0]?.baseUrl ?? "", token: chosenToken })
        const urls = nodes.map(({ baseUrl }) => baseUrl)
        const crash = async () => {
          await postgres.server.stop("immediate")
          await postgres.server.start()
          await Promise.all(urls.map(untilReady))
        }
        await expectLimit(client, urls, (index) => index)
        await expectLimit(client, urls, () => 1)
        await expectLimit(client, urls, (index) => Math.floor(index / 90))
        await expectUsage(urls)
        await expectLimit(client, urls, (index) => index, crash)
        const db = await openPostgres(postgres.server.url, { connectionsMax: 3 })
        await expectRunsAtOnce(client, nodes, crash, () => countHeld(db))
        await db.stop()
      },
      testMsMax,
    )
  })

async function startPostgres(folder: string) {
  const server = await PrivatePostgres.create(folder)
  return { server, [Symbol.asyncDispose]: () => server.remove() }
}

/** The slots that nodes have reported. */
async function countHeld(db: Database): Promise<number> {
  const [row] = await db.read<{ holders: string }>(
    sql`select holders from budgets where key like ${`${runsAtOnce}:%`}`,
  )
  const holders: Record<string, SlotHolder> = JSON.parse(row?.holders ?? "{}")
  return Object.values(holders).reduce((sum, [held]) => sum + held, 0)
}

async function untilReady(url: string): Promise<void> {
  await waitUntil(async () => (await fetch(`${url}/readyz`)).ok, { msMax: 60_000 })
}

type StartedNode = Awaited<ReturnType<typeof startNodes>>[number]

async function startNodes(fixture: ServerFixture, url: string) {
  const nodes = [1, 2, 3].map((number) =>
    fixture.start(["serve", "--data-dir", join(fixture.dataDir, String(number))], {
      ...env,
      HAMLET_DATABASE_URL: url,
    }),
  )
  return Promise.all(nodes.map(async (hamlet) => ({ hamlet, baseUrl: await hamlet.listening() })))
}

/**
 * Sends more requests than allowed with a token of its own, before a crash and after it; the number
 * accepted is the limit ± 10 %, or with a crash up to one node's part more.
 */
async function expectLimit(
  client: Client,
  urls: readonly string[],
  pick: (index: number) => number,
  crash?: () => Promise<void>,
): Promise<void> {
  const { token } = await client.createToken({ name: "limited", scopes: ["user:read"] })
  const headers = { authorization: `Bearer ${token}` }
  const startedMs = performance.now()
  let accepted = 0
  for (let from = 0; from < 1.5 * perMinute; from += 30) {
    if (from === 0.9 * perMinute) await crash?.()
    const statuses = await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        const response = await fetch(`${urls[pick(from + index) % urls.length]}/v1/me`, { headers })
        await response.body?.cancel()
        return response.status
      }),
    )
    accepted += statuses.filter((status) => status === 200).length
    expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([])
  }
  const refilled = ((performance.now() - startedMs) / 60_000) * perMinute
  expect(accepted).toBeGreaterThanOrEqual(0.9 * Math.min(perMinute + refilled, 1.5 * perMinute))
  // While nodes cannot ask, each decides about its part alone.
  const alone = crash === undefined ? 0 : perMinute / urls.length
  expect(accepted).toBeLessThanOrEqual(1.1 * (perMinute + refilled) + alone)
}

/** Each node tells what all of them have used. */
async function expectUsage(urls: readonly string[]): Promise<void> {
  const clients = urls.map((baseUrl) => createClient({ baseUrl, token: chosenToken }))
  for (const client of [...clients, ...clients]) await client.listBlobs({})
  for (const client of clients)
    expect((await client.getMyUsage({})).storage).toMatchObject({
      requestsLastMinute: 6,
      requestsPerMinuteMax: 30,
    })
}

/** The response of a run begins when the run does, and the run goes on until its client leaves. */
async function expectRunsAtOnce(
  client: Client,
  nodes: readonly StartedNode[],
  crash: () => Promise<void>,
  countHeld: () => Promise<number>,
): Promise<void> {
  const code = `export default () => new Response(new ReadableStream({
    start: (it) => it.enqueue(new TextEncoder().encode("begun")) }))`
  const { name } = await client.createVal({ code, name: "hang", type: "http", privacy: "public" })
  const started: { node: number; end: AbortController; response: Response }[] = []
  const request = async (node: number) => {
    const { baseUrl } = nodes[node] as StartedNode
    const end = new AbortController()
    const headers = { host: `ada-${name}.localhost:${new URL(baseUrl).port}` }
    const send = () => fetch(baseUrl, { headers, signal: end.signal })
    let response = await send()
    // A run that has waited for too long is refused.
    while (response.status !== 200) {
      await Bun.sleep(100)
      response = await send()
    }
    // Kept: the connection of a response that is collected as garbage is closed.
    started.push({ node, end, response })
  }
  const requestMany = (count: number) => {
    for (let index = 0; index < count; index++) void request(index % 3).catch(() => {})
  }
  requestMany(runsMax)
  await waitUntil(() => started.length === runsMax, { msMax: 120_000 })
  for (const { baseUrl } of nodes) {
    const { getMyUsage } = createClient({ baseUrl, token: chosenToken })
    await waitUntil(async () => (await getMyUsage({})).runs.atOnce === runsMax)
  }
  requestMany(8)
  await crash()
  await waitUntil(async () => (await countHeld()) >= started.length, { msMax: 60_000 })
  // Meanwhile each of the others could open its part.
  expect(started.length).toBeLessThanOrEqual(runsMax + nodes.length - 1)
  for (const { end } of started.splice(0, started.length - runsMax + 1)) end.abort()
  await waitUntil(() => started.length === runsMax, { msMax: 60_000 })
  // The runs of a node that is killed end, and the others may use its slots when it is gone.
  const killed = started[0]?.node ?? 0
  nodes[killed]?.hamlet.signal("SIGKILL")
  await nodes[killed]?.hamlet.ended()
  const left = started.filter(({ node }) => node !== killed)
  started.splice(0, started.length, ...left)
  await waitUntil(() => started.length === runsMax, { msMax: 60_000 })
  for (const { end } of started) end.abort()
}
