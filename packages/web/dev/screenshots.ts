// Takes the pictures of the documents, from a server with content. From the root: `npm run
// screenshots`
import { mkdir } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import type { Page } from "playwright-core"
import { type AppStage, type OpenTab, openAppStage, openTab, type Person } from "./app-stage.ts"
import { startBrowser } from "./browser.ts"

const folder = fileURLToPath(new URL("../../../docs/images/", import.meta.url))

const weather = `import { blob } from "/std/blob"

interface Reading {
  at: string
  celsius: number
}

/** Keeps the last readings of a thermometer and shows them. */
export default async function (request: Request): Promise<Response> {
  const readings = ((await blob.getJSON("readings")) as Reading[] | undefined) ?? []
  if (request.method === "POST") {
    const { celsius } = await request.json()
    readings.unshift({ at: new Date().toISOString(), celsius })
    await blob.setJSON("readings", readings.slice(0, 100))
    console.log("stored", celsius)
    return Response.json({ ok: true })
  }
  const rows = readings.map(({ at, celsius }) => \`<li><b>\${celsius.toFixed(1)} °C</b> <small>\${at.slice(11, 16)}</small></li>\`)
  return new Response(
    \`<style>body{font:16px system-ui;margin:2rem}li{margin:.4rem 0}</style>
     <h1>On the balcony</h1><ul>\${rows.join("")}</ul>\`,
    { headers: { "content-type": "text/html; charset=utf-8" } },
  )
}
`

const flaky = `export default function (limit = 0.2) {
  const luck = Math.random()
  console.log("luck", luck)
  if (luck < limit) throw new Error("not this time")
  return { luck }
}
`

/** The pages, what shows that each is ready, and what is done before. */
const pages: readonly {
  readonly name: string
  readonly path: string
  readonly text: string
  readonly frameText?: string
  readonly isVisitor?: true
  readonly before?: (page: Page) => Promise<unknown>
}[] = [
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
  },
  { name: "guide", path: "/guide", text: "Keep a secret" },
  { name: "explore", path: "/search", text: "Keeps the readings" },
  { name: "search", path: "/search?q=readings", text: "readings" },
  { name: "user", path: "/u/grace", text: "dashboard" },
  { name: "val", path: "/u/ada/balcony", text: "balcony", frameText: "On the balcony" },
  { name: "readme", path: "/u/ada/balcony/readme", text: "Keeps the readings" },
  { name: "versions", path: "/u/ada/balcony/versions", text: "current" },
  { name: "val-runs", path: "/u/ada/balcony/runs", text: "GET" },
  { name: "discussion", path: "/u/ada/balcony/discussion", text: "Lovely" },
  { name: "graph", path: "/u/ada/balcony/graph", text: "Imported by" },
  { name: "settings", path: "/u/ada/balcony/settings", text: "Delete this val" },
  { name: "schedule", path: "/u/ada/uptime/schedule", text: "Europe/Berlin" },
  { name: "runs", path: "/runs", text: "luck" },
  { name: "schedules", path: "/schedules", text: "uptime" },
  { name: "tables", path: "/data?table=links", text: "example.com" },
  { name: "blobs", path: "/data/blobs", text: "readings" },
  { name: "webhooks", path: "/webhooks", text: "No webhooks" },
  { name: "account", path: "/account", text: "About you" },
  { name: "secrets", path: "/account/secrets", text: "API_KEY" },
  { name: "usage", path: "/account/usage", text: "Runs at once" },
  {
    name: "shortcuts",
    path: "/guide",
    text: "On the page of a val",
    before: (page) => page.keyboard.press("?"),
  },
  { name: "api", path: "/docs", text: "Hamlet" },
]

const looks = [
  { size: "wide", viewport: { width: 1280, height: 800 } },
  { size: "phone", viewport: { width: 390, height: 844 } },
] as const

const { browser, stop } = await startBrowser()
const stage = await openAppStage()
try {
  const ada = await seed(stage)
  await mkdir(folder, { recursive: true })
  for (const { size, viewport } of looks)
    for (const colorScheme of ["light", "dark"] as const) {
      await using own = await openTab(browser, stage, ada, { viewport, colorScheme })
      await using visitor = await openTab(browser, stage, undefined, { viewport, colorScheme })
      for (const shown of pages)
        await take(shown.isVisitor ? visitor : own, shown, `${size}-${colorScheme}`)
    }
  await Bun.write(`${folder}../screenshots.md`, toGallery())
} finally {
  await stop()
  await stage[Symbol.asyncDispose]()
}

async function take(tab: OpenTab, shown: (typeof pages)[number], look: string): Promise<void> {
  const { page, problems } = tab
  await page.goto(shown.path)
  await page.getByRole("heading", { level: 1 }).first().waitFor()
  await shown.before?.(page)
  await page.getByText(shown.text).first().waitFor()
  if (shown.frameText !== undefined && (await page.locator("iframe").first().isVisible()))
    await page.frameLocator("iframe").getByText(shown.frameText).first().waitFor()
  await page.waitForLoadState("networkidle").catch(() => {})
  const session = await page.context().newCDPSession(page)
  // WebP is a quarter of a PNG.
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 70 })
  await session.detach()
  await Bun.write(`${folder}${shown.name}-${look}.webp`, Buffer.from(data, "base64"))
  if (problems.length > 0) throw new Error(problems.join("\n"))
}

function toGallery(): string {
  const rows = pages.map(({ name, path }) => {
    const image = (look: string) => `![${name}, ${look}](images/${name}-${look}.webp)`
    const sizes = ["wide-light", "wide-dark", "phone-light", "phone-dark"]
    return `| \`${path}\` | ${sizes.map(image).join(" | ")} |`
  })
  return `# Every page\n\n\`npm run screenshots\` takes these pictures.\n\n| address | light | dark | phone, light | phone, dark |\n|---|---|---|---|---|\n${rows.join("\n")}\n`
}

/** Creates a user with vals, and other users who use them. */
async function seed(stage: AppStage): Promise<Person> {
  const [ada, grace] = [await stage.person("ada"), await stage.person("grace")]
  const balcony = await ada.client.createVal({
    name: "balcony",
    code: weather,
    type: "http",
    privacy: "public",
    readme: "# On the balcony\n\nKeeps the readings of a thermometer.",
  })
  const luck = await ada.client.createVal({ name: "luck", code: flaky, privacy: "unlisted" })
  for (const name of ["newsletter", "invoice_pdf", "uptime", "link_shortener", "rss_to_json"])
    await ada.client.createVal({
      name,
      code: `export default () => "${name}"\n`,
      type: name === "uptime" ? "interval" : "http",
    })
  const uptime = await ada.client.getValByName({ username: "ada", val_name: "uptime" })
  await ada.client.putSchedule({
    val_id: uptime.id,
    cron: "0 9 * * 1-5",
    timeZone: "Europe/Berlin",
  })
  await ada.client.putSecret({ name: "API_KEY", value: "x" })
  await ada.client.batchSql({
    statements: [
      "create table links (slug text primary key, url text, visits integer)",
      "insert into links values ('tea', 'https://example.com/tea', 41), ('bike', 'https://example.com/bike', 7)",
    ],
  })
  const endpoint = balcony.links.endpoint ?? ""
  for (const celsius of [11.2, 12.4, 13.1, 12.9, 14.6])
    await fetch(endpoint, { method: "POST", body: JSON.stringify({ celsius }) })
  for (let count = 0; count < 12; count += 1) await fetch(endpoint)
  for (let count = 0; count < 14; count += 1)
    await ada.client.createRun({ val_id: luck.id, args: [] })
  await grace.client.createVal({
    name: "dashboard",
    code: `import balcony from "${balcony.links.module}"\nexport default balcony\n`,
    privacy: "public",
  })
  await grace.client.likeVal({ val_id: balcony.id })
  await grace.client.createComment({ val_id: balcony.id, comment: "Lovely. Does it do humidity?" })
  await ada.client.likeVal({ val_id: balcony.id })
  return ada
}
