import { afterAll, beforeAll, describe, setDefaultTimeout } from "bun:test"
import { appendFileSync } from "node:fs"
import type { Browser } from "playwright-core"
import { hasBrowser, type RunningBrowser, startBrowser } from "../../dev/browser.ts"

/**
 * The limit of a test or hook: longer than Playwright's own, so that its error is reported, and
 * shorter than the silence after which the test run is aborted.
 */
const testMsMax = 100_000

/** A suite with its own browser. Without Chromium, the report lists the suite as not run. */
export function describeInBrowser(
  title: string,
  define: (getBrowser: () => Browser) => void,
): void {
  if (!hasBrowser) noteNotRun(title)
  describe.skipIf(!hasBrowser)(title, () => {
    let running: RunningBrowser | undefined
    setDefaultTimeout(testMsMax)
    beforeAll(async () => {
      running = await startBrowser()
    })
    afterAll(() => running?.stop())
    define(() => {
      if (!running)
        throw new Error("Cannot use the browser: it is started by the first hook of the suite")
      return running.browser
    })
  })
}

function noteNotRun(title: string): void {
  const note = `${title}: chromium is not installed`
  console.error(`not run: ${note}`)
  const report = process.env.HAMLET_TEST_NOT_RUN
  if (report) appendFileSync(report, `${note}\n`)
}
