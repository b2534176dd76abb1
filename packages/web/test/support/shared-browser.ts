import type { Browser, BrowserContext } from "playwright-core"
import type { RunningBrowser } from "../../dev/browser.ts"

let starting: Promise<RunningBrowser> | undefined
const kept = new WeakSet<BrowserContext>()

/**
 * The browser that all suites share: starting one takes seconds of CPU time. The first suite starts
 * it, and stop-browser.ts stops it after the last test file.
 */
export async function useSharedBrowser(): Promise<Browser> {
  // Imported late: every test run preloads this file, and few of them need a browser.
  starting ??= import("../../dev/browser.ts").then(({ startBrowser }) => startBrowser())
  const { browser } = await starting
  if (browser.isConnected()) return browser
  await stopSharedBrowser()
  return await useSharedBrowser()
}

/** Stops the browser, if a suite has started it. */
export async function stopSharedBrowser(): Promise<void> {
  const running = starting
  starting = undefined
  await (await running)?.stop()
}

/** Keeps a profile open for the suites that follow. */
export function keepContext(context: BrowserContext): void {
  kept.add(context)
}

/** Closes the profiles of a suite. */
export async function closeContexts(browser: Browser): Promise<void> {
  const contexts = browser.contexts().filter((context) => !kept.has(context))
  await Promise.all(contexts.map((context) => context.close()))
}
