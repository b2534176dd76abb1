// Takes the pictures of the documents, from a server with content. From the root: `npm run
// screenshots`, or `npm run screenshots -- tables blobs` for some of them
import { mkdir, readdir, rm } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import type { Page } from "playwright-core"
import { type OpenTab, openAppStage, openTab } from "./app-stage.ts"
import { startBrowser } from "./browser.ts"
import { type SeededServer, seedServer } from "./seed-server.ts"

const folder = fileURLToPath(new URL("../../../docs/images/", import.meta.url))

interface ShownPage {
  readonly name: string
  readonly path: string | ((seeded: SeededServer) => string)
  /** A text that shows that the page is ready. */
  readonly text: string
  /** A text in the frame, if the frame is shown. */
  readonly frameText?: string
  readonly isVisitor?: true
  /** Its network is never idle. */
  readonly isStreaming?: true
  readonly before?: (page: Page) => Promise<unknown>
  readonly after?: (page: Page) => Promise<unknown>
}

const pages: readonly ShownPage[] = [
  { name: "landing", path: "/", text: "Small programs, running", isVisitor: true },
  { name: "sign-in", path: "/sign-in", text: "Token", isVisitor: true },
  { name: "home", path: "/", text: "balcony" },
  { name: "new", path: "/new", text: "Or start with a template" },
  { name: "templates", path: "/templates", text: "Link shortener" },
  {
    name: "template",
    path: "/templates/page",
    text: "Keep hello",
    frameText: "Hello, world!",
    before: (page) => page.getByRole("button", { name: "Try it" }).click(),
    // The next look shows it under the same name.
    after: async (page) => {
      await page.getByRole("button", { name: "Discard" }).click()
      await page.getByRole("button", { name: "Try it" }).waitFor()
    },
  },
  { name: "guide", path: "/guide", text: "Keep a secret" },
  { name: "explore", path: "/search", text: "Keeps the readings" },
  { name: "search", path: "/search?q=readings", text: "readings" },
  { name: "user", path: "/u/grace", text: "dashboard" },
  {
    name: "val",
    path: "/u/ada/balcony",
    text: "balcony",
    frameText: "On the balcony",
    before: async (page) => {
      await showPreview(page)
      // A page that was seen before is loaded already.
      const load = page.getByRole("button", { name: "Load the page" })
      await load.or(page.locator("iframe")).first().waitFor()
      if ((await load.count()) > 0) await load.click()
    },
  },
  {
    name: "files",
    path: "/u/ada/shop?file=lib%2Fprices.ts",
    text: "Secrets",
    before: async (page) => {
      const files = page.getByRole("button", { name: "Files", exact: true })
      if (await files.isVisible()) await files.click()
      await page.getByRole("treeitem", { name: /^nightly/ }).waitFor()
    },
  },
  { name: "branches", path: "/u/ada/shop/branches?branch=winter", text: "Merge into main" },
  {
    name: "script",
    path: "/u/ada/luck",
    text: "Returned",
    before: async (page) => {
      await showPreview(page)
      // The types of the editor are loaded by then.
      await page.getByRole("textbox", { name: "limit" }).fill("0")
      await page.getByRole("button", { name: "Run", exact: true }).click()
    },
  },
  { name: "readme", path: "/u/ada/balcony/readme", text: "Keeps the readings" },
  { name: "versions", path: "/u/ada/balcony/versions", text: "current" },
  { name: "val-runs", path: "/u/ada/balcony/runs", text: "GET" },
  { name: "discussion", path: "/u/ada/balcony/discussion", text: "Lovely" },
  { name: "graph", path: "/u/ada/balcony/graph", text: "Imported by" },
  { name: "settings", path: "/u/ada/balcony/settings", text: "Delete this val" },
  { name: "schedule", path: "/u/ada/uptime/schedule", text: "Europe/Berlin" },
  { name: "mail", path: "/u/ada/inbox/mail", text: "Send a test message" },
  { name: "runs", path: "/runs", text: "luck" },
  { name: "run", path: ({ failedRunId }) => `/runs/${failedRunId}`, text: "not this time" },
  {
    name: "replay",
    path: ({ failedRunId }) => `/runs/${failedRunId}`,
    text: "Replay with changes",
    before: (page) => page.getByRole("button", { name: "Replay with changes…" }).click(),
  },
  { name: "live-logs", path: "/runs/live", text: "has a luck of", isStreaming: true },
  { name: "schedules", path: "/schedules", text: "uptime" },
  { name: "tables", path: "/data?table=links", text: "example.com" },
  { name: "blobs", path: "/data/blobs", text: "readings" },
  { name: "webhooks", path: "/webhooks", text: "For the log" },
  { name: "notifications", path: "/notifications", text: "commented on" },
  { name: "account", path: "/account", text: "About you" },
  { name: "secrets", path: "/account/secrets", text: "API_KEY" },
  { name: "usage", path: "/account/usage", text: "Runs at once" },
  {
    name: "shortcuts",
    path: "/guide",
    text: "On the page of a val",
    before: (page) => page.keyboard.press("?"),
  },
  { name: "api", path: "/docs", text: "All addresses begin with" },
]

const named = process.argv.slice(2)
const taken = pages.filter(({ name }) => named.length === 0 || named.includes(name))
if (taken.length < named.length) throw new Error(`Cannot find all of the pages: ${named}`)

const sizes = [
  { size: "wide", viewport: { width: 1280, height: 800 } },
  { size: "phone", viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
] as const
const looks = ["wide-light", "wide-dark", "phone-light", "phone-dark"] as const

const { browser, stop } = await startBrowser()
// Mail waits, since nothing listens there.
const mail = { HAMLET_SMTP_URL: "smtp://127.0.0.1:9", HAMLET_MAIL_DOMAIN: "vals.example.com" }
const stage = await openAppStage(mail)
try {
  const seeded = await seedServer(stage)
  // The first request builds the app, which takes long on a busy machine.
  await fetch(stage.url)
  await mkdir(folder, { recursive: true })
  for (const { size, ...device } of sizes)
    for (const colorScheme of ["light", "dark"] as const) {
      await using own = await openTab(browser, stage, seeded.ada, { ...device, colorScheme })
      await using visitor = await openTab(browser, stage, undefined, { ...device, colorScheme })
      for (const shown of taken)
        await take(shown.isVisitor ? visitor : own, shown, seeded, `${size}-${colorScheme}`)
    }
  await removeOthers()
  await Bun.write(`${folder}../screenshots.md`, toGallery(seeded))
} finally {
  await stop()
  await stage[Symbol.asyncDispose]()
}

async function take(
  { page, problems }: OpenTab,
  shown: ShownPage,
  seeded: SeededServer,
  look: string,
): Promise<void> {
  const path = toPath(shown, seeded)
  await page.goto(path)
  await page.getByRole("heading", { level: 1 }).first().waitFor()
  // The editor is loaded after the page.
  if (/^\/u\/\w+\/\w+(\?|$)/.test(path)) await page.locator(".cm-content").waitFor()
  await shown.before?.(page)
  await page.getByText(shown.text).first().waitFor()
  if (shown.frameText !== undefined && (await page.locator("iframe").first().isVisible()))
    await page.frameLocator("iframe").getByText(shown.frameText).first().waitFor()
  if (!shown.isStreaming) await page.waitForLoadState("networkidle")
  const session = await page.context().newCDPSession(page)
  // WebP is a quarter of a PNG.
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 70 })
  await session.detach()
  await Bun.write(`${folder}${shown.name}-${look}.webp`, Buffer.from(data, "base64"))
  await shown.after?.(page)
  if (problems.length > 0) throw new Error(`${path}: ${problems.join("\n")}`)
}

/** On a phone, the result is not beside the code. */
async function showPreview(page: Page): Promise<void> {
  const preview = page.getByRole("button", { name: "Preview", exact: true })
  if (await preview.isVisible()) await preview.click()
}

/** Pictures of pages that are no longer listed. */
async function removeOthers(): Promise<void> {
  const known = new Set(pages.flatMap(({ name }) => looks.map((look) => `${name}-${look}.webp`)))
  for (const name of await readdir(folder)) if (!known.has(name)) await rm(folder + name)
}

function toGallery(seeded: SeededServer): string {
  const parts = pages.map((shown) => {
    const images = looks.map((look) => {
      const width = look.startsWith("wide") ? 380 : 120
      return `<img alt="${shown.name}, ${look.replace("-", ", ")}" src="images/${shown.name}-${look}.webp" width="${width}">`
    })
    const path = toPath(shown, seeded).replace(seeded.failedRunId, "{id}")
    return `## \`${path}\`: ${shown.name}\n\n${images.join("\n")}\n`
  })
  return `# Every page\n\nThe [web app](web-app.md) on a wide screen and on a phone, light and dark. \`npm run screenshots\`\ntakes these pictures, from a server with sample data.\n\n${parts.join("\n")}`
}

function toPath({ path }: ShownPage, seeded: SeededServer): string {
  return typeof path === "string" ? path : path(seeded)
}
