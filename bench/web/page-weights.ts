import type { Request } from "playwright-core"
import { atMost, type Table } from "../harness/report.ts"
import { type OpenApp, openEmptyProfile } from "./open-app.ts"

/** What a byte is for. */
type Kind = "scripts" | "style" | "fonts" | "content" | "types"

const kinds: readonly Kind[] = ["scripts", "style", "fonts", "content", "types"]

/** The pages, what shows that each is loaded, and the most that its scripts may weigh. */
const pages: readonly {
  readonly name: string
  readonly path: string
  readonly selector: string
  readonly scriptBytesMax?: number
}[] = [
  { name: "home", path: "/", selector: "tbody tr", scriptBytesMax: 60_000 },
  { name: "a val", path: "/u/ada/val_1", selector: ".cm-content", scriptBytesMax: 260_000 },
  { name: "runs", path: "/runs", selector: "h1" },
  { name: "templates", path: "/templates", selector: ".template-card" },
  { name: "data", path: "/data", selector: ".query" },
  { name: "explore", path: "/search", selector: "h1" },
  { name: "API reference", path: "/docs", selector: "h1" },
]

/** The bytes that each page transfers with an empty cache, compressed. */
export async function weighPages(app: OpenApp): Promise<Table> {
  const rows = []
  for (const { name, path, selector, scriptBytesMax } of pages) {
    const sizes = await weigh(app, path, selector)
    const bar = scriptBytesMax === undefined ? "" : atMost(sizes.scripts, scriptBytesMax, " bytes")
    const total = kinds.reduce((sum, kind) => sum + sizes[kind], 0) - sizes.types
    rows.push([name, ...kinds.map((kind) => toKb(sizes[kind])), toKb(total), bar])
  }
  return {
    title: "pages: KB that a page transfers with an empty cache",
    columns: [
      "",
      "scripts",
      "style",
      "fonts",
      "HTML and data",
      "types of the editor",
      "total without types",
      "bar for scripts",
    ],
    rows,
  }
}

async function weigh(app: OpenApp, path: string, selector: string): Promise<Record<Kind, number>> {
  const context = await openEmptyProfile(app)
  const page = await context.newPage()
  const requests: Request[] = []
  page.on("requestfinished", (request) => requests.push(request))
  await page.goto(app.url + path)
  await page.locator(selector).first().waitFor()
  await page.waitForLoadState("networkidle")
  const sizes = { scripts: 0, style: 0, fonts: 0, content: 0, types: 0 }
  for (const request of requests)
    sizes[toKind(new URL(request.url()).pathname)] += (await request.sizes()).responseBodySize
  // The browser does not report the script of a worker.
  for (const worker of page.workers()) sizes.types += await weighFile(worker.url())
  await context.close()
  return sizes
}

async function weighFile(url: string): Promise<number> {
  const headers = { "accept-encoding": "br" }
  return (await (await fetch(url, { headers, decompress: false })).bytes()).length
}

function toKind(path: string): Kind {
  if (/\/assets\/(?:worker|type-libs|node-types)-/.test(path)) return "types"
  if (path.endsWith(".js")) return "scripts"
  if (path.endsWith(".css")) return "style"
  return path.endsWith(".woff2") ? "fonts" : "content"
}

function toKb(bytes: number): string {
  return (bytes / 1_000).toFixed(1)
}
