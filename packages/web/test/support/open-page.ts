import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core"

/** The page in its own browser tab. */
export interface OpenPage {
  readonly page: Page
  /**
   * Errors in the console, CSP violations, and requests to other origins.
   */
  readonly problems: readonly string[]
  readonly close: () => Promise<void>
}

/** How long a page may take to show something, on a busy machine. */
const waitMsMax = 60_000

/** The profiles by their options. A profile that has loaded the page before loads it in half the time. */
const profiles = new Map<string, BrowserContext>()

async function openProfile(
  browser: Browser,
  options: BrowserContextOptions,
): Promise<BrowserContext> {
  const key = JSON.stringify(options)
  const known = profiles.get(key)
  // Each suite closes the profiles that it has used.
  if (known && browser.contexts().includes(known)) return known
  const context = await browser.newContext({ reducedMotion: "reduce", ...options })
  context.setDefaultTimeout(waitMsMax)
  profiles.set(key, context)
  return context
}

/** Opens an empty tab that records problems. Nothing that an earlier tab has stored is left. */
export async function openPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions,
): Promise<OpenPage> {
  const context = await openProfile(browser, options)
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
  const close = async () => {
    await page.unrouteAll({ behavior: "ignoreErrors" })
    if (page.url().startsWith(origin)) await page.evaluate(() => localStorage.clear())
    await page.close()
  }
  return { page, problems, close }
}
