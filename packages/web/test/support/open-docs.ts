import type { Browser, BrowserContextOptions, Page } from "playwright-core"

/** The page in its own browser tab. */
export interface OpenDocs {
  readonly page: Page
  /**
   * Errors in the console, CSP violations, and requests to other origins.
   */
  readonly problems: readonly string[]
  readonly close: () => Promise<void>
}

/** How long a page may take to show something, on a busy machine. */
const waitMsMax = 60_000

/** Opens an empty tab that records problems. */
export async function openDocs(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions,
): Promise<OpenDocs> {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options })
  context.setDefaultTimeout(waitMsMax)
  const page = await context.newPage()
  const problems: string[] = []
  page.on("console", (message) => {
    // Chromium logs error responses; they are not errors of the page.
    const isNote = message.text().startsWith("Failed to load resource")
    if (["error", "warning"].includes(message.type()) && !isNote) problems.push(message.text())
  })
  page.on("pageerror", (error) => problems.push(String(error)))
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== origin && !request.url().startsWith("data:"))
      problems.push(`request to ${request.url()}`)
  })
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) =>
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`),
    )
  })
  return { page, problems, close: () => context.close() }
}
