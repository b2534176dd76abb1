import { existsSync } from "node:fs"
import { type Browser, chromium } from "playwright-core"

const executablePath = process.env.HAMLET_TEST_CHROMIUM ?? "/usr/bin/chromium"
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
]

/** Whether there is a browser here. */
export const hasBrowser: boolean = existsSync(executablePath)

/** Starts the system's Chromium. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath, args: flags })
}
