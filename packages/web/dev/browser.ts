import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Browser, chromium } from "playwright-core"

const executablePath =
  process.env.HAMLET_TEST_CHROMIUM ??
  ["/usr/lib/chromium/chromium-headless-shell", "/usr/bin/chromium"].find((path) =>
    existsSync(path),
  ) ??
  ""
const flags = [
  // A page lives for seconds here: code that V8's last compiler optimises never runs long enough to
  // be worth it. The types of an editor take 1.8 s of CPU time without it, and 2.5 s with it.
  "--js-flags=--no-opt",
  // Tabs of a profile that show the app share a process: starting one, and loading the app in it, takes
  // a seventh of the CPU time of a suite.
  "--renderer-process-limit=1",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
]

const startMsMax = 120_000

/** Whether Chromium is installed. */
export const hasBrowser: boolean = existsSync(executablePath)

/** A running browser. */
export interface RunningBrowser {
  readonly browser: Browser
  stop(): Promise<void>
}

/** Starts the system's Chromium with its own temporary folder: it leaves files behind when killed. */
export async function startBrowser(args: readonly string[] = flags): Promise<RunningBrowser> {
  const folder = mkdtempSync(join(tmpdir(), "hamlet-chromium-"))
  const remove = () =>
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  try {
    const browser = await chromium.launch({
      executablePath,
      args: [...args],
      timeout: startMsMax,
      env: { ...process.env, TMPDIR: folder },
    })
    return {
      browser,
      async stop() {
        await browser.close()
        remove()
      },
    }
  } catch (error) {
    remove()
    throw error
  }
}
