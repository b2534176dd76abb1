import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import {
  type Client,
  createClient,
  noPageKey,
  ownerHeader,
  sessionHeader,
} from "@hamlet/contract/client"
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core"
import { pageKeyName } from "../src/ui/page-key.ts"

const server =
  process.env.HAMLET_TEST_SERVER ??
  fileURLToPath(new URL("../../server/src/main.ts", import.meta.url))
const adminToken = "chosen-by-the-operator-0123456789-abcdef"
const startMsMax = 120_000
const startsMax = 10
const pauseMs = 500
/** How long a page may take to show something, on a busy machine. */
const waitMsMax = 60_000

/** A real server with real sandboxes and the app. */
export interface AppStage extends AsyncDisposable {
  readonly url: string
  readonly valsDomain: string
  /** The first user, an administrator. */
  readonly admin: Person
  /** Creates a user. */
  person(username: string): Promise<Person>
  /** Restarts the server with the same data and address. */
  restart(): Promise<void>
}

/** A user and their API client. */
export interface Person {
  readonly username: string
  readonly token: string
  readonly client: Client
}

/** A tab that records problems. */
export interface OpenTab extends AsyncDisposable {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors in the console, CSP violations, requests to other origins. */
  readonly problems: string[]
}

/** Starts a server. */
export async function openAppStage(env: Readonly<Record<string, string>> = {}): Promise<AppStage> {
  const folder = await mkdtemp(join(tmpdir(), "hamlet-web-"))
  const settings = {
    HAMLET_DATA_DIR: join(folder, "data"),
    HAMLET_USER: "root",
    HAMLET_TOKEN: adminToken,
    // A process that is ready and not used only costs CPU time.
    HAMLET_PROCESSES_READY: "0",
    HAMLET_PROCESSES_READY_MAX: "0",
    HAMLET_PROCESS_WAIT_SECONDS_MAX: "60",
    // A val that runs until it is cancelled must not time out before, on a busy machine.
    HAMLET_RUN_SECONDS_MAX: "600",
    ...env,
  }
  let program = await startServer({ ...settings, HAMLET_PORT: "0" })
  const { url } = program
  const toPerson = (username: string, token: string) => ({
    username,
    token,
    client: createClient({ baseUrl: url, token }),
  })
  const admin = toPerson("root", adminToken)
  return {
    url,
    valsDomain: new URL(url).host,
    admin,
    async person(username) {
      const { token } = await admin.client.createUser({ username, email: null })
      return toPerson(username, token)
    },
    async restart() {
      await program.stop()
      const again = { ...settings, HAMLET_PORT: new URL(url).port }
      // A connection of another program may have the port for a moment.
      for (let attempt = 1; ; attempt++)
        try {
          program = await startServer(again)
          return
        } catch (error) {
          if (attempt === startsMax) throw error
          await Bun.sleep(pauseMs)
        }
    },
    async [Symbol.asyncDispose]() {
      await program.stop()
      await rm(folder, { recursive: true })
    },
  }
}

/** A client of a user who acts for an organisation. */
export function actFor({ url }: AppStage, { token }: Person, owner: string): Client {
  return createClient({
    baseUrl: url,
    token,
    fetch: (address, init) => {
      const headers = new Headers(init?.headers)
      headers.set(ownerHeader, owner)
      return fetch(address, { ...init, headers })
    },
  })
}

async function startServer(env: Readonly<Record<string, string>>) {
  const own = Object.entries(process.env).filter(
    ([name]) => !name.startsWith("HAMLET_") || name === "HAMLET_TEST_RUN",
  )
  const child = Bun.spawn([process.execPath, server, "serve"], {
    env: { ...Object.fromEntries(own), ...env },
    stdout: "pipe",
    stderr: "ignore",
  })
  const reader = child.stdout.getReader()
  const timer = setTimeout(() => child.kill("SIGKILL"), startMsMax)
  let text = ""
  for (let url: string | undefined; ; ) {
    const { value, done } = await reader.read()
    text += new TextDecoder().decode(value)
    url = /listens at (\S+)[\s\S]*docs {2,}\S+\n/.exec(text)?.[1]
    if (done) throw new Error(`the server did not start: ${text}`)
    if (url === undefined) continue
    clearTimeout(timer)
    reader.releaseLock()
    const stop = async () => {
      child.kill("SIGTERM")
      await child.exited
    }
    return { url, stop }
  }
}

/** Opens an empty tab, signed in as a user or signed out. */
export async function openTab(
  browser: Browser,
  stage: AppStage,
  who?: Person,
  options: BrowserContextOptions = {},
): Promise<OpenTab> {
  const context = await browser.newContext({
    baseURL: stage.url,
    // While something moves, the browser draws sixty times a second.
    reducedMotion: "reduce",
    ...options,
  })
  context.setDefaultTimeout(waitMsMax)
  const page = await context.newPage()
  const problems: string[] = []
  noteProblems(page, stage, problems)
  context.on("page", (other) => noteProblems(other, stage, problems))
  if (who) await signIn({ context, page }, who)
  const close = async () => {
    await endRoutes(context)
    await context.close()
  }
  return { page, context, problems, [Symbol.asyncDispose]: close }
}

/** Ends what answers requests in place of the server: it would fail when the tab is closed. */
export async function endRoutes(context: BrowserContext): Promise<void> {
  const all = [context, ...context.pages()]
  await Promise.all(all.map((one) => one.unrouteAll({ behavior: "ignoreErrors" })))
}

/** Signs a used profile in as a user, or out; nothing of the one before is left in its storage. */
export async function enterAs(tab: Pick<OpenTab, "context" | "page">, who?: Person): Promise<void> {
  await tab.context.clearCookies()
  await tab.context.clearPermissions()
  await showNothing(tab.page)
  await tab.page.evaluate(() => localStorage.clear())
  if (who) await signIn(tab, who)
}

/** Shows a document of the app's origin without scripts. */
export async function showNothing(page: Page): Promise<void> {
  if (!page.url().endsWith("/healthz")) await page.goto("/healthz")
}

/** Does what the sign-in page does, without loading it: that takes a second of CPU time. */
async function signIn(
  { context, page }: Pick<OpenTab, "context" | "page">,
  { token }: Person,
): Promise<void> {
  const response = await context.request.post("/v1/sessions", {
    headers: { [sessionHeader]: noPageKey },
    data: { token },
    timeout: waitMsMax,
  })
  if (!response.ok()) throw new Error(`cannot sign in: ${await response.text()}`)
  const { pageKey } = (await response.json()) as { pageKey: string }
  await showNothing(page)
  await page.evaluate(([name, key]) => localStorage.setItem(name, key), [
    pageKeyName,
    pageKey,
  ] as const)
}

function noteProblems(page: Page, { url, valsDomain }: AppStage, problems: string[]): void {
  page.on("console", (message) => {
    // Chromium logs error responses; they are not errors of the page.
    const isNote = message.text().startsWith("Failed to load resource")
    const isOfVal = new URL(message.location().url || url).origin !== url
    if (["error", "warning"].includes(message.type()) && !isNote && !isOfVal)
      problems.push(message.text())
  })
  page.on("pageerror", (error) => problems.push(String(error)))
  page.on("request", (request) => {
    const { protocol, host } = new URL(request.url())
    const isOwn = host === new URL(url).host || host.endsWith(`.${valsDomain}`)
    if (!isOwn && protocol !== "data:" && protocol !== "blob:")
      problems.push(`request to ${request.url()}`)
  })
}
