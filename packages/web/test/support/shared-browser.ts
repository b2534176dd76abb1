import type { Browser } from "playwright-core"
import type { RunningBrowser } from "../../dev/browser.ts"

let starting: Promise<RunningBrowser> | undefined

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
