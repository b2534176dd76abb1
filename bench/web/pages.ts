import { existsSync } from "node:fs"
import { type Browser, chromium, type Page } from "playwright-core"
import { type Client, createClient } from "../../packages/contract/src/client.ts"
import type { Benchmark } from "../harness/benchmark.ts"
import { type Program, startServer } from "../harness/program.ts"
import { atMost, type Cell } from "../harness/report.ts"
import { createScratchFolder } from "../harness/scratch.ts"
import { median, percentile } from "../harness/stats.ts"
import { weighPages } from "./page-weights.ts"
import { signIn } from "./sign-in.ts"

const executablePath = "/usr/bin/chromium"
const token = "chosen-for-measuring-0123456789-abcdef"
const limits = {
  vals: 1_000,
  rounds: 9,
  shownRows: 100,
  readyMsMax: 1_000,
  lines: 10_000,
  frameMsMax: 100,
  atOnce: 20,
}

/**
 * How soon the home page of a user with 1,000 vals is usable, and how smoothly 10,000 lines of logs
 * scroll.
 */
export const pages: Benchmark = {
  name: "pages",
  isQuick: true,
  async run({ report }) {
    if (!existsSync(executablePath)) return []
    const server = await startServer({
      dataDir: createScratchFolder(),
      settings: { HAMLET_USER: "ada", HAMLET_TOKEN: token },
    })
    const browser = await chromium.launch({
      executablePath,
      args: ["--no-sandbox", "--disable-gpu"],
    })
    try {
      const client = createClient({ baseUrl: server.url, token })
      report(`pages: creating ${limits.vals} vals`)
      await makeVals(client)
      report("pages: home")
      const home = await measureHome(browser, server, client)
      report("pages: bytes")
      const weights = await weighPages(browser, server, client)
      report("pages: logs")
      const logs = await measureLogs(browser, server, client)
      return [
        {
          title: `pages: home with ${limits.vals.toLocaleString("en")} vals, from navigation with an empty cache until its rows are shown`,
          columns: ["", "median, ms", "longest", "bar"],
          rows: [toHomeRow(home)],
        },
        {
          title: `pages: frames while ${limits.lines.toLocaleString("en")} lines of logs are scrolled through`,
          columns: ["", "frame p50, ms", "p95", "longest", "bar"],
          rows: [toLogRow(logs)],
        },
        weights,
      ]
    } finally {
      await browser.close()
      await server.stop()
    }
  },
}

async function makeVals(client: Client): Promise<void> {
  const code = `/** Says hello. */\nexport default function (name = "world") {\n  console.log("hello", name)\n  return { hello: name }\n}\n`
  for (let from = 0; from < limits.vals; from += limits.atOnce) {
    const names = Array.from({ length: limits.atOnce }, (_, index) => `val_${from + index}`)
    await Promise.all(names.map((name) => client.createVal({ name, code })))
  }
}

/** Each time in a new browser profile that has only the cookie. */
async function measureHome(
  browser: Browser,
  server: Program,
  client: Client,
): Promise<readonly number[]> {
  const times: number[] = []
  // The first round builds the app.
  for (let round = -1; round < limits.rounds; round += 1) {
    const context = await signIn(browser, client)
    const storageState = await context.storageState()
    // Another open page would use CPU time.
    await context.close()
    const fresh = await browser.newContext({ storageState, viewport: { width: 1280, height: 800 } })
    const page = await fresh.newPage()
    await page.goto(server.url, { waitUntil: "commit" })
    const ready = await page.waitForFunction(
      (rows) => document.querySelectorAll("tbody tr").length >= rows && performance.now(),
      limits.shownRows,
    )
    if (round >= 0) times.push(Number(await ready.jsonValue()))
    await fresh.close()
  }
  return times
}

/**
 * No run has that many lines, because logs are limited to 100 KB: the response is extended on its
 * way to the page.
 */
async function measureLogs(
  browser: Browser,
  server: Program,
  client: Client,
): Promise<readonly number[]> {
  const { id } = await client.createVal({
    name: "flood",
    code: `export default function () {\n  console.log("one")\n}\n`,
  })
  const run = await client.createRun({ val_id: id, args: [] })
  const context = await signIn(browser, client)
  const page = await context.newPage()
  await page.route(`**/v1/runs/${run.id}`, async (route) => {
    const response = await (await route.fetch()).json()
    const logs = Array.from({ length: limits.lines }, (_, index) => ({
      ...response.logs[0],
      message: `line ${index} of the flood`,
    }))
    await route.fulfill({ json: { ...response, logs } })
  })
  await page.goto(`${server.url}/runs/${run.id}`)
  await page.getByRole("log").waitFor()
  return scroll(page)
}

function scroll(page: Page): Promise<readonly number[]> {
  return page.evaluate(async () => {
    const log = document.querySelector('[role="log"]')
    const frames: number[] = []
    let before = await new Promise(requestAnimationFrame)
    for (let step = 0; log && step < 300; step += 1) {
      log.scrollTop = (log.scrollHeight * step) / 300
      const now = await new Promise(requestAnimationFrame)
      frames.push(now - before)
      before = now
    }
    return frames
  })
}

function toHomeRow(times: readonly number[]): Cell[] {
  return [
    "home",
    median(times).toFixed(0),
    Math.max(...times).toFixed(0),
    atMost(median(times), limits.readyMsMax, " ms"),
  ]
}

function toLogRow(frames: readonly number[]): Cell[] {
  const [p50, p95] = [percentile(frames, 50), percentile(frames, 95)]
  return [
    "logs",
    p50.toFixed(0),
    p95.toFixed(0),
    Math.max(...frames).toFixed(0),
    atMost(p95, limits.frameMsMax, " ms at p95"),
  ]
}
