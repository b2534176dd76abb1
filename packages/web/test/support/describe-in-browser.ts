import { afterAll, beforeAll, describe, setDefaultTimeout } from "bun:test"
import { appendFileSync } from "node:fs"
import type { Browser } from "playwright-core"
import { hasBrowser } from "../../dev/browser.ts"
import { closeContexts, useSharedBrowser } from "./shared-browser.ts"

/**
 * The limit of a test or hook: longer than Playwright's own, so that its error is reported, and
 * shorter than the silence after which the test run is aborted.
 */
const testMsMax = 240_000

/**
 * A suite in the browser, whose contexts it closes at the end. Without Chromium, the report lists
 * the suite as not run.
 */
export function describeInBrowser(
  title: string,
  define: (getBrowser: () => Browser) => void,
): void {
  if (!hasBrowser) noteNotRun(`${title}: chromium is not installed`)
  describe.skipIf(!hasBrowser)(title, () => {
    let browser: Browser | undefined
    setDefaultTimeout(testMsMax)
    beforeAll(async () => {
      browser = await useSharedBrowser()
    })
    afterAll(() => browser && closeContexts(browser))
    define(() => {
      if (!browser)
        throw new Error("Cannot use the browser: it is started by the first hook of the suite")
      return browser
    })
  })
}

/** Reports that a suite cannot run here, and why. */
export function noteNotRun(note: string): void {
  console.error(`not run: ${note}`)
  const report = process.env.HAMLET_TEST_NOT_RUN
  if (report) appendFileSync(report, `${note}\n`)
}
