import type { Page } from "playwright-core"
import type { Client } from "../../packages/contract/src/client.ts"
import type { Benchmark } from "../harness/benchmark.ts"
import { chooseLimits } from "../harness/brief.ts"
import { atMost, type Cell } from "../harness/report.ts"
import { median, percentile } from "../harness/stats.ts"
import { type OpenApp, openApp, signIn, timeOpenings } from "./open-app.ts"
import { weighPages } from "./page-weights.ts"

const limits = chooseLimits(
  {
    vals: 1_000,
    rounds: 9,
    shownRows: 100,
    readyMsMax: 1_000,
    lines: 10_000,
    frameMsMax: 100,
    atOnce: 20,
  },
  { vals: 100, rounds: 1 },
)

/**
 * How soon the home page of a user with 1,000 vals is usable, and how smoothly 10,000 lines of logs
 * scroll.
 */
export const pages: Benchmark = {
  name: "pages",
  isQuick: true,
  async run({ report }) {
    await using app = await openApp()
    if (!app) return []
    report(`pages: creating ${limits.vals} vals`)
    await makeVals(app.client)
    report("pages: home")
    const shown = { selector: "tbody tr", count: limits.shownRows }
    const home = await timeOpenings(app, "/", limits.rounds, shown)
    report("pages: bytes")
    const weights = await weighPages(app)
    report("pages: logs")
    const logs = await measureLogs(app)
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
  },
}

async function makeVals(client: Client): Promise<void> {
  const code = `/** Says hello. */\nexport default function (name = "world") {\n  console.log("hello", name)\n  return { hello: name }\n}\n`
  for (let from = 0; from < limits.vals; from += limits.atOnce) {
    const names = Array.from({ length: limits.atOnce }, (_, index) => `val_${from + index}`)
    await Promise.all(names.map((name) => client.createVal({ name, code })))
  }
}

/**
 * No run has that many lines, because logs are limited to 100 KB: the response is extended on its
 * way to the page.
 */
async function measureLogs(app: OpenApp): Promise<readonly number[]> {
  const { client, url } = app
  const { id } = await client.createVal({
    name: "flood",
    code: `export default function () {\n  console.log("one")\n}\n`,
  })
  const run = await client.createRun({ val_id: id, args: [] })
  const context = await signIn(app)
  const page = await context.newPage()
  await page.route(`**/v1/runs/${run.id}`, async (route) => {
    const response = await (await route.fetch()).json()
    const logs = Array.from({ length: limits.lines }, (_, index) => ({
      ...response.logs[0],
      message: `line ${index} of the flood`,
    }))
    await route.fulfill({ json: { ...response, logs } })
  })
  await page.goto(`${url}/runs/${run.id}`)
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
