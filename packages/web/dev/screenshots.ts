// Takes the pictures of the documents, from a server with content. From the root: `npm run
// screenshots`
import { mkdir } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { type AppStage, openAppStage, openTab, type Person } from "./app-stage.ts"
import { startBrowser } from "./browser.ts"

const folder = fileURLToPath(new URL("../../../docs/images/", import.meta.url))
const size = { width: 1280, height: 800 }

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

const { browser, stop } = await startBrowser()
const stage = await openAppStage()
try {
  const ada = await seed(stage)
  await mkdir(folder, { recursive: true })
  for (const colorScheme of ["light", "dark"] as const) {
    await using tab = await openTab(browser, stage, ada, {
      viewport: size,
      colorScheme,
      deviceScaleFactor: 1.5,
    })
    for (const [name, path, text] of [
      ["home", "/", "balcony"],
      ["val", "/u/ada/balcony", "On the balcony"],
      ["runs", "/runs", "Succeeded"],
    ] as const) {
      await tab.page.goto(path)
      const frame = name === "val" ? tab.page.frameLocator("iframe") : tab.page.locator("tbody")
      await frame.getByText(text).first().waitFor()
      await tab.page.waitForLoadState("networkidle").catch(() => {})
      await tab.page.screenshot({ path: `${folder}${name}-${colorScheme}.png` })
    }
    if (tab.problems.length > 0) throw new Error(tab.problems.join("\n"))
  }
} finally {
  await stop()
  await stage[Symbol.asyncDispose]()
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
      type: name === "uptime" ? "script" : "http",
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
  await ada.client.likeVal({ val_id: balcony.id })
  return ada
}
