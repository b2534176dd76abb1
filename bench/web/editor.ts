import type { Page } from "playwright-core"
import type { Client } from "../../packages/contract/src/client.ts"
import type { Benchmark } from "../harness/benchmark.ts"
import { chooseLimits } from "../harness/brief.ts"
import { atMost, type Cell } from "../harness/report.ts"
import { median } from "../harness/stats.ts"
import { type OpenApp, openApp, signIn, timeOpenings } from "./open-app.ts"
import { startZodRegistry } from "./zod-registry.ts"

const limits = chooseLimits(
  {
    rounds: 7,
    completions: 5,
    readyMsMax: 60_000,
    editorMsMax: 1_000,
    typedMsMax: 1_000,
  },
  { rounds: 1, completions: 1 },
)

/**
 * How soon the editor of a val can be typed into, and how soon after the lockfile is settled the
 * members of a package are completed. The package is zod, from a registry on this machine.
 */
export const editor: Benchmark = {
  name: "editor",
  isQuick: true,
  async run({ report }) {
    const registry = await startZodRegistry()
    try {
      await using app = await openApp({ HAMLET_NPM_REGISTRY: registry.npmUrl })
      if (!app) return []
      report("editor: opening")
      const code = "export const line = 1\n".repeat(100)
      await app.client.createVal({ name: "hundred", code })
      const shown = { selector: ".cm-content .cm-line", count: 1 }
      const opened = await timeOpenings(app, "/u/ada/hundred", limits.rounds, shown)
      report("editor: completing")
      const completed = await measureCompletion(app)
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
      await registry.stop()
    }
  },
}

async function measureCompletion(app: OpenApp): Promise<readonly number[]> {
  const { client, url } = app
  const times: number[] = []
  for (let round = 0; round < limits.completions; round += 1) {
    const name = `typed_${round}`
    const { id } = await client.createVal({ name, code: "const wrong: number = true\n" })
    const context = await signIn(app)
    const page = await context.newPage()
    page.setDefaultTimeout(limits.readyMsMax)
    await page.goto(`${url}/u/ada/${name}`)
    // The error appears when the types of the language are loaded.
    await page.locator(".cm-lintRange-error").waitFor()
    await page.locator(".cm-content").focus()
    await page.keyboard.press("Control+Home")
    // The text is inserted as if pasted: a list of completions would take the Enter key.
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
