import { existsSync } from "node:fs"
import { type Browser, chromium, type Page } from "playwright-core"
import { type Client, createClient } from "../../packages/contract/src/client.ts"
import type { Benchmark } from "../harness/benchmark.ts"
import { type Program, startServer } from "../harness/program.ts"
import { atMost, type Cell } from "../harness/report.ts"
import { createScratchFolder } from "../harness/scratch.ts"
import { median } from "../harness/stats.ts"
import { signIn } from "./sign-in.ts"
import { startZodRegistry } from "./zod-registry.ts"

const executablePath = "/usr/bin/chromium"
const token = "chosen-for-measuring-0123456789-abcdef"
const limits = {
  rounds: 7,
  completions: 5,
  readyMsMax: 60_000,
  editorMsMax: 1_000,
  typedMsMax: 1_000,
}

/**
 * How soon the editor of a val can be typed into, and how soon after the lockfile is settled the
 * members of a package are completed. The package is zod, from a registry on this machine.
 */
export const editor: Benchmark = {
  name: "editor",
  isQuick: true,
  async run({ report }) {
    if (!existsSync(executablePath)) return []
    const registry = await startZodRegistry()
    const server = await startServer({
      dataDir: createScratchFolder(),
      settings: { HAMLET_USER: "ada", HAMLET_TOKEN: token, HAMLET_NPM_REGISTRY: registry.url },
    })
    const browser = await chromium.launch({
      executablePath,
      args: ["--no-sandbox", "--disable-gpu"],
    })
    try {
      const client = createClient({ baseUrl: server.url, token })
      report("editor: opening")
      const opened = await measureOpening(browser, server, client)
      report("editor: completing")
      const completed = await measureCompletion(browser, server, client)
      return [
        {
          title: "editor: from navigation with an empty cache until the code can be edited",
          columns: ["", "median, ms", "longest", "bar"],
          rows: [toRow("a val of 100 lines", opened, limits.editorMsMax)],
        },
        {
          title: "editor: from a settled lockfile until the completions of `z.` are shown",
          columns: ["", "median, ms", "longest", "bar"],
          rows: [toRow("zod", completed, limits.typedMsMax)],
        },
      ]
    } finally {
      await browser.close()
      await server.stop()
      await registry.stop()
    }
  },
}

/** Each time in a new browser profile that has only the cookie. */
async function measureOpening(
  browser: Browser,
  server: Program,
  client: Client,
): Promise<readonly number[]> {
  const code = "export const line = 1\n".repeat(100)
  await client.createVal({ name: "hundred", code })
  const times: number[] = []
  // The first round builds the app.
  for (let round = -1; round < limits.rounds; round += 1) {
    const context = await signIn(browser, client)
    const storageState = await context.storageState()
    await context.close()
    const fresh = await browser.newContext({ storageState, viewport: { width: 1280, height: 800 } })
    const page = await fresh.newPage()
    await page.goto(`${server.url}/u/ada/hundred`, { waitUntil: "commit" })
    const ready = await page.waitForFunction(
      () => document.querySelector(".cm-content .cm-line") !== null && performance.now(),
    )
    if (round >= 0) times.push(Number(await ready.jsonValue()))
    await fresh.close()
  }
  return times
}

async function measureCompletion(
  browser: Browser,
  server: Program,
  client: Client,
): Promise<readonly number[]> {
  const times: number[] = []
  for (let round = 0; round < limits.completions; round += 1) {
    const name = `typed_${round}`
    const { id } = await client.createVal({ name, code: "const wrong: number = true\n" })
    const context = await signIn(browser, client)
    const page = await context.newPage()
    page.setDefaultTimeout(limits.readyMsMax)
    await page.goto(`${server.url}/u/ada/${name}`)
    // It appears when the types of the language are loaded.
    await page.locator(".cm-lintRange-error").waitFor()
    await page.locator(".cm-content").focus()
    await page.keyboard.press("Control+Home")
    // As pasted: a list of completions would take the Enter key.
    await page.keyboard.insertText('import { z } from "npm:zod"\nz\n')
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("End")
    await page.keyboard.press("Control+KeyS")
    await waitForLock(client, id)
    const lockedAt = performance.now()
    await completeMembers(page)
    times.push(performance.now() - lockedAt)
    await context.close()
  }
  return times
}

async function waitForLock(client: Client, id: string): Promise<void> {
  const giveUpAt = performance.now() + limits.readyMsMax
  let state: string | undefined
  while (performance.now() < giveUpAt) {
    // The version does not exist until the page has saved it.
    const lock = await client.getVersionLock({ val_id: id, version: 2 }).catch(() => undefined)
    state = lock?.state
    if (state === "ready") return
    await Bun.sleep(10)
  }
  throw new Error(`Cannot measure completion: the lockfile is ${state ?? "missing"}`)
}

/** Asks again and again, as an impatient user: without types, the list has no members of zod. */
async function completeMembers(page: Page): Promise<void> {
  await page.keyboard.type(".strictOb")
  const member = page.locator(".cm-completionLabel", { hasText: /^strictObject$/ })
  const giveUpAt = performance.now() + limits.readyMsMax
  while ((await member.count()) === 0) {
    if (performance.now() > giveUpAt)
      throw new Error("Cannot measure completion: there are no members of zod")
    await page.keyboard.press("Escape")
    await page.keyboard.press("Control+Space")
    await Bun.sleep(50)
  }
}

function toRow(name: string, times: readonly number[], msMax: number): readonly Cell[] {
  const middle = median(times)
  return [name, middle.toFixed(0), Math.max(...times).toFixed(0), atMost(middle, msMax, " ms")]
}
