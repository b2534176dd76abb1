import type { Browser, BrowserContext } from "playwright-core"
import type { Client } from "../../packages/contract/src/client.ts"

/** The first page is shown when the app was built, which takes long on a busy machine. */
const buildMsMax = 180_000

/** A new browser profile that is signed in, without an open page. */
export async function signIn(browser: Browser, client: Client): Promise<BrowserContext> {
  const { url } = await client.createSignInLink()
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const page = await context.newPage()
  page.setDefaultTimeout(buildMsMax)
  await page.goto(url)
  await page.getByRole("button", { name: /^Sign in as/ }).click()
  await page.getByRole("button", { name: /^Account of/ }).waitFor()
  await page.close()
  return context
}
