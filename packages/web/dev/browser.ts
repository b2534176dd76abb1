import { appendFileSync, existsSync } from "node:fs"
import { type Browser, chromium } from "playwright-core"

const executablePath = "/usr/bin/chromium"
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
]

/** Starts the system's Chromium; undefined, with a note in the report of what was not run, where there is none. */
export async function startBrowser(): Promise<Browser | undefined> {
  if (existsSync(executablePath)) return await chromium.launch({ executablePath, args: flags })
  const note = "docs page in a browser: chromium is not installed"
  console.error(note)
  const report = process.env.HAMLET_TEST_NOT_RUN
  if (report) appendFileSync(report, `${note}\n`)
  return undefined
}
