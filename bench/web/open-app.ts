import type { Browser, BrowserContext } from "playwright-core"
import { type Client, createClient } from "../../packages/contract/src/client.ts"
import { hasBrowser, startBrowser } from "../../packages/web/dev/browser.ts"
import { startServer } from "../harness/program.ts"
import { createScratchFolder } from "../harness/scratch.ts"

const token = "chosen-for-measuring-0123456789-abcdef"
const viewport = { width: 1280, height: 800 }
/** The first page is shown when the app was built, which takes long on a busy machine. */
const buildMsMax = 180_000

/** A browser as people have it, unlike that of the tests. */
export const measuredFlags = ["--no-sandbox", "--disable-gpu"]

/** The app of a new server, in a browser. */
export interface OpenApp extends AsyncDisposable {
  readonly browser: Browser
  /** The client of the first user, ada. */
  readonly client: Client
  readonly url: string
}

/** Opens it, unless this machine has no browser. */
export async function openApp(
  settings: Readonly<Record<string, string>> = {},
): Promise<OpenApp | undefined> {
  if (!hasBrowser) return undefined
  const server = await startServer({
    dataDir: createScratchFolder(),
    settings: { HAMLET_USER: "ada", HAMLET_TOKEN: token, ...settings },
  })
  const { browser, stop } = await startBrowser(measuredFlags)
  return {
    browser,
    client: createClient({ baseUrl: server.url, token }),
    url: server.url,
    async [Symbol.asyncDispose]() {
      await stop()
      await server.stop()
    },
  }
}

/** A new browser profile that is signed in, without an open page. */
export async function signIn({
  browser,
  client,
}: Pick<OpenApp, "browser" | "client">): Promise<BrowserContext> {
  const { url } = await client.createSignInLink()
  const context = await browser.newContext({ viewport })
  const page = await context.newPage()
  page.setDefaultTimeout(buildMsMax)
  await page.goto(url)
  await page.getByRole("button", { name: /^Sign in as/ }).click()
  await page.getByRole("button", { name: /^Account of/ }).waitFor()
  await page.close()
  return context
}

/** A new browser profile that has nothing but the cookie: its cache is empty. */
export async function openEmptyProfile(app: OpenApp): Promise<BrowserContext> {
  const signedIn = await signIn(app)
  const storageState = await signedIn.storageState()
  // Another open page would use CPU time.
  await signedIn.close()
  return await app.browser.newContext({ storageState, viewport })
}

/**
 * Milliseconds from navigation until the page shows so many elements, each time with an
 * empty cache.
 */
export async function timeOpenings(
  app: OpenApp,
  path: string,
  rounds: number,
  shown: { readonly selector: string; readonly count: number },
): Promise<readonly number[]> {
  const times: number[] = []
  // The first round builds the app.
  for (let round = -1; round < rounds; round += 1) {
    const context = await openEmptyProfile(app)
    const page = await context.newPage()
    await page.goto(app.url + path, { waitUntil: "commit" })
    const ready = await page.waitForFunction(
      ({ selector, count }) =>
        document.querySelectorAll(selector).length >= count && performance.now(),
      shown,
    )
    if (round >= 0) times.push(Number(await ready.jsonValue()))
    await context.close()
  }
  return times
}
