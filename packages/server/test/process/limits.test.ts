import { expect, test } from "bun:test"
import { join } from "node:path"
import { type Client, createClient } from "@hamlet/contract/client"
import { describePostgres } from "../support/databases.ts"
import { chosenToken, openServerFixture, type ServerFixture } from "../support/server-fixture.ts"
import { waitUntil } from "../support/wait-until.ts"

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

describePostgres("limits of three nodes", (open) => {
  test(
    "hold for all together: requests in any order, and runs at once while a node is killed",
    async () => {
      await using fixture = await openServerFixture(open)
      const nodes = await startNodes(fixture)
      const client = createClient({ baseUrl: nodes[0]?.baseUrl ?? "", token: chosenToken })
      const urls = nodes.map(({ baseUrl }) => baseUrl)
      await expectLimit(client, urls, (index) => index)
      await expectLimit(client, urls, () => 1)
      await expectLimit(client, urls, (index) => Math.floor(index / 90))
      await expectUsage(urls)
      await expectRunsAtOnce(client, nodes)
    },
    testMsMax,
  )
})

type StartedNode = Awaited<ReturnType<typeof startNodes>>[number]

async function startNodes(fixture: ServerFixture) {
  const nodes = [1, 2, 3].map((number) =>
    fixture.start(["serve", "--data-dir", join(fixture.dataDir, String(number))], env),
  )
  return Promise.all(nodes.map(async (hamlet) => ({ hamlet, baseUrl: await hamlet.listening() })))
}

/** Sends more requests than allowed with a token of its own; the number accepted is the limit ± 10 %. */
async function expectLimit(
  client: Client,
  urls: readonly string[],
  pick: (index: number) => number,
): Promise<void> {
  const { token } = await client.createToken({ name: "limited", scopes: ["user:read"] })
  const headers = { authorization: `Bearer ${token}` }
  const startedMs = performance.now()
  let accepted = 0
  for (let from = 0; from < 1.5 * perMinute; from += 30) {
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
  expect(accepted).toBeLessThanOrEqual(1.1 * (perMinute + refilled))
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
async function expectRunsAtOnce(client: Client, nodes: readonly StartedNode[]): Promise<void> {
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
    while (response.status !== 200) response = await send()
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
  started.shift()?.end.abort()
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
