import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import fc from "fast-check"
import { echoRunner } from "./fuzz/echo-runner.ts"
import { createFuzzServer, type FuzzServer } from "./fuzz/fuzz-server.ts"
import { listen } from "./fuzz/listen.ts"
import { anyRawPlan, toRawBytes } from "./fuzz/raw/raw-bytes.ts"
import { rawCases, tokenMark } from "./fuzz/raw/raw-cases.ts"
import { exchange, parseResponses } from "./fuzz/raw/raw-client.ts"
import { expectStatus, openApi } from "./support/api.ts"
import { testSeed } from "./support/random.ts"

/** How many requests a long run sends without a socket. */
const requestsWanted = process.env.HAMLET_FUZZ_REQUESTS
const connections =
  requestsWanted === undefined ? 150 : Math.min(Math.ceil(Number(requestsWanted) / 160), 2_000)
const seed = testSeed
// To bun, 0 means no limit.
const timeoutMs = requestsWanted === undefined ? 240_000 : 0
/** To fill a server takes a second where nothing else runs. */
const setupMsMax = 120_000
/** Damaged requests often get no response, and the client need not wait long for one. */
const damagedQuietMs = 50

/** Only the log shows where a fault of the server is. Every user has a SQLite database. */
const loud = { HAMLET_LOG_LEVEL: "error", HAMLET_DATA_DIR_SHARED: "yes" }

// Bytes are parsed before the database is used, so one database is enough.
describe(`fuzz over a socket HAMLET_TEST_SEED=${seed}`, () => {
  let fuzzServer: FuzzServer
  let server: Bun.Server<undefined>
  let before: unknown
  let token = ""
  beforeAll(async () => {
    const api = await openApi(undefined, loud, { runner: echoRunner })
    fuzzServer = await createFuzzServer(api)
    token = (await api.addUser("newcomer")).token
    before = await fuzzServer.readProtectedState()
    server = listen(api)
  }, setupMsMax)
  afterAll(async () => {
    // Not forced: if a request were still being worked on, this would never end.
    await server.stop()
    await fuzzServer.api.close()
  }, setupMsMax)

  for (const { title, bytes, statuses, row, leaving } of rawCases) {
    test(`${title} gets a response or is refused, and the next client is served`, async () => {
      const responses = parseResponses(
        await exchange(server.port ?? 0, bytes.replaceAll(tokenMark, token), leaving),
      )
      const given = responses.map(({ status }) => status)
      if (row) expect(given).toEqual(row.slice(0, given.length))
      else if (statuses) expect(statuses).toContain(given[0] ?? 0)
      for (const { status, text } of responses)
        if (status >= 400 && text !== "")
          expect(JSON.parse(text)).toMatchObject({ statusCode: status })
      await expectAlive(server)
    })
  }

  test(
    `damaged bytes of requests cause no 500 and no change of others' data, ${connections} connections`,
    async () => {
      const property = fc.asyncProperty(anyRawPlan(), async (plan) => {
        const bytes = await exchange(
          server.port ?? 0,
          toRawBytes(plan, fuzzServer.pools),
          plan.leaving,
          damagedQuietMs,
        )
        const statuses = [...bytes.toString("latin1").matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(
          ([, status]) => Number(status),
        )
        // 501: the server lacks the service; 502 and 504: a val fails; 503: overload; 505 is Bun's
        // response to a request line that it cannot read.
        expect(
          statuses.filter((status) => status >= 500 && ![501, 502, 503, 504, 505].includes(status)),
        ).toEqual([])
      })
      const result = await fc.check(property, { seed, numRuns: connections })
      if (result.failed) {
        const bytes =
          result.counterexample && toRawBytes(result.counterexample[0], fuzzServer.pools)
        throw new Error(
          `HAMLET_TEST_SEED=${seed} fails with ${JSON.stringify(bytes?.slice(0, 2000))}: ${result.errorInstance}`,
        )
      }
      await expectAlive(server)
    },
    timeoutMs,
  )

  test("afterwards the metrics count no 500, and others' data is unchanged", async () => {
    const { text } = expectStatus(await fuzzServer.api.call("GET", "/metrics"), 200)
    const isAllowed = (line: string) =>
      // A val that fails, code that fails or takes too long, a search that takes too long, and what
      // this server lacks.
      /route="callVal|route="evalCode.*status="50[24]"|route="searchVals",.*status="50[34]"|status="501"/.test(
        line,
      )
    // The counters of internal errors begin at zero.
    const isCounted = (line: string) => /status="5/.test(line) && !line.endsWith(" 0")
    expect(text.split("\n").filter((line) => isCounted(line) && !isAllowed(line))).toEqual([])
    expect(await fuzzServer.readProtectedState()).toEqual(before)
    // Requests whose client has left may take a moment longer.
    await waitUntil(() => server.pendingRequests === 0)
  })
})

async function expectAlive(server: Bun.Server<undefined>): Promise<void> {
  const bytes = await exchange(
    server.port ?? 0,
    "GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
  )
  expect(parseResponses(bytes)).toMatchObject([{ status: 200 }])
}
