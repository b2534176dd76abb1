import { afterAll, beforeAll, describe, setDefaultTimeout } from "bun:test"
import { appendFileSync } from "node:fs"
import type { Browser } from "playwright-core"
import { hasBrowser, type RunningBrowser, startBrowser } from "../dev/browser.ts"

/**
 * How long a test or a hook may take on a busy machine: longer than Playwright waits for one thing,
 * so that the failure says what was waited for, and shorter than the silence after which the whole
 * run is given up.
 */
const testMsMax = 100_000

/**
 * A suite with a browser of its own, which is there from its first hook on. Where there is none,
 * the report names the suite as not run.
 */
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
