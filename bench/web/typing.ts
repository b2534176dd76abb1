import type { Browser } from "playwright-core"
import { hasBrowser, startBrowser } from "../../packages/web/dev/browser.ts"
import type { Harness } from "../../packages/web/dev/editor-page.tsx"
import { startEditorServer } from "../../packages/web/dev/editor-server.ts"
import type { Benchmark } from "../harness/benchmark.ts"
import { atMost, type Cell } from "../harness/report.ts"
import { percentile } from "../harness/stats.ts"
import { measuredFlags, openApp, signIn } from "./open-app.ts"
import { keysTyped, type Traced, traceTyping, traceWorker } from "./trace-typing.ts"

const limits = { readyMsMax: 120_000 }
/** The sizes of the val, with the most that a frame may take at p95. */
const sizes = [
  { lines: 100, frameMsMax: 50 },
  { lines: 10_000, frameMsMax: 100 },
]

/** The page of a val, with its draft, its unsaved mark and its list of problems. */
const page = { lines: 4_000, frameMsMax: 50 }

const manyFiles = { count: 50, lines: 300, keys: 100, workMsMax: 150 }

/** The duration of frames while a user types into a small and a large val, with types and without. */
export const typing: Benchmark = {
  name: "typing",
  isQuick: true,
  async run({ report }) {
    if (!hasBrowser) return []
    const { browser, stop } = await startBrowser(measuredFlags)
    const server = await startEditorServer({ port: 0, vals: {} })
    try {
      const rows: Cell[][] = []
      for (const { lines, frameMsMax } of sizes)
        for (const hasTypes of [false, true]) {
          const name = `${lines.toLocaleString("en")} lines, ${hasTypes ? "with the type service" : "without"}`
          report(`typing: ${name}`)
          const traced = await measure(browser, server.origin, lines, hasTypes)
          rows.push([name, ...toCells(traced, frameMsMax)])
        }
      report("typing: the page of a val")
      rows.push([
        `${page.lines.toLocaleString("en")} lines, the page of a val`,
        ...toCells(await measurePage(), page.frameMsMax),
      ])
      report(`typing: completions in ${manyFiles.count} files`)
      const works = await measureCompletions(browser, server.origin)
      const title = `typing: frames while ${keysTyped} characters are typed in the middle of a val`
      return [
        {
          title,
          columns: [
            "",
            "frame p50, ms",
            "p95",
            "longest",
            "work in a frame p95, ms",
            "longest",
            "bar",
          ],
          rows,
        },
        {
          title: `typing: work in the worker from a key to its completions, in a val of ${manyFiles.count} files of ${manyFiles.lines} lines`,
          columns: ["keys", "p50, ms of CPU time", "p95", "longest", "bar"],
          rows: [
            [
              String(works.length),
              ...[percentile(works, 50), percentile(works, 95), Math.max(...works)].map((ms) =>
                ms.toFixed(0),
              ),
              atMost(percentile(works, 95), manyFiles.workMsMax, " ms at p95"),
            ],
          ],
        },
      ]
    } finally {
      await stop()
      await server.stop()
    }
  },
}

async function measure(
  browser: Browser,
  origin: string,
  lines: number,
  hasTypes: boolean,
): Promise<Traced> {
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 } })
  page.setDefaultTimeout(limits.readyMsMax)
  await page.goto(origin)
  await page.waitForFunction(() => "harness" in globalThis)
  const shown = { value: toCode(lines), hasTypes }
  await page.evaluate(
    (shown) => (globalThis as unknown as { harness: Harness }).harness.show(shown),
    shown,
  )
  await page.locator(hasTypes ? ".cm-lintRange-error" : ".cm-content").waitFor()
  await page.evaluate(goToMark)
  const traced = await traceTyping(browser, page)
  await page.close()
  return traced
}

async function measurePage(): Promise<Traced> {
  await using app = await openApp()
  if (!app) throw new Error("Cannot measure typing: the browser is gone")
  await app.client.createVal({ name: "long", code: toCode(page.lines) })
  const context = await signIn(app)
  const tab = await context.newPage()
  tab.setDefaultTimeout(limits.readyMsMax)
  const line = toCode(page.lines).split("\n").indexOf("const here = ") + 1
  await tab.goto(`${app.url}/u/ada/long?line=${line}`)
  // The problems are in the list as soon as the types are loaded.
  await tab.getByRole("button", { name: /^Problems ?\d/ }).waitFor()
  await tab.locator(".cm-content").focus()
  await tab.keyboard.press("End")
  return await traceTyping(app.browser, tab)
}

/** The work of each key, whose completions are waited for before the next one. */
async function measureCompletions(browser: Browser, origin: string): Promise<readonly number[]> {
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 } })
  page.setDefaultTimeout(limits.readyMsMax)
  await page.goto(origin)
  await page.waitForFunction(() => "harness" in globalThis)
  const names = Array.from({ length: manyFiles.count }, (_, index) => `ada/app/file${index}.ts`)
  const texts = Object.fromEntries(
    names.map((name, index) => [name, toFile(index, manyFiles.lines, manyFiles.count)]),
  )
  const path = names[0] ?? ""
  await page.evaluate(
    ([texts, path, value]) => {
      const { harness } = globalThis as unknown as { harness: Harness }
      harness.addFiles(texts)
      harness.show({ path, value })
    },
    [texts, path, `const wrong: number = true\n${texts[path]}`] as const,
  )
  await page.locator(".cm-lintRange-error").first().waitFor()
  const works = await traceWorker(browser, page, manyFiles.keys, (key) => {
    const typed = toTyped(key)
    return page.evaluate(
      ([path, text]) =>
        (globalThis as unknown as { harness: Harness }).harness.complete(path, text),
      [path, `${texts[path]}\nconst here = ${typed}`] as const,
    )
  })
  await page.close()
  return works
}

/** Names of other files, of this one and of the libraries, and members. */
function toTyped(key: number): string {
  const words = ["greet7In3", "Promise.all", "document.get", "us", "new Resp", "greetIn1", "[].ma"]
  const word = words[Math.trunc(key / 10) % words.length] ?? ""
  return word.slice(0, 1 + (key % word.length))
}

/** Runs in the page. */
function goToMark(): void {
  const { current } = (globalThis as unknown as { harness: Harness }).harness.handle
  const lines = current?.getText().split("\n") ?? []
  current?.goToLine(lines.indexOf("const here = ") + 1, Number.MAX_SAFE_INTEGER)
  current?.focus()
}

function toCells({ frames, works }: Traced, frameMsMax: number): readonly Cell[] {
  const figures = [
    percentile(frames, 50),
    percentile(frames, 95),
    Math.max(...frames),
    percentile(works, 95),
    Math.max(...works),
  ]
  return [
    ...figures.map((ms) => ms.toFixed(0)),
    atMost(percentile(frames, 95), frameMsMax, " ms at p95"),
  ]
}
/** A file of a val, which imports from another one of it. */
function toFile(index: number, lines: number, count: number): string {
  const other = (index + 1) % count
  const used = `import { greet0 as greet${other}In${index} } from "./file${other}.ts"\nexport const used${index} = greet${other}In${index}\n`
  return used + toCode(lines).replace("const wrong: number = true\n", "")
}

/**
 * Realistic code, with a type error at the top, which shows when the types are loaded.
 */
function toCode(lines: number): string {
  const blocks: string[] = [
    "const wrong: number = true\n\ninterface Guest {\n  name: string\n  visits: number\n}\n",
  ]
  for (let index = 0; 6 + 10 * index < lines - 4; index++) {
    blocks.push(`
/** Greets the guest number ${index}. */
export async function greet${index}(guest: Guest, request: Request): Promise<Response> {
  const url = new URL(request.url)
  const times = Number(url.searchParams.get("times") ?? ${index})
  if (Number.isNaN(times) || times > guest.visits) return new Response("no", { status: 400 })
  const words = Array.from({ length: times }, (_, time) => \`hello \${guest.name} \${time}\`)
  return Response.json({ words, total: words.map((word) => word.length).reduce((sum, length) => sum + length, 0) })
}
`)
    if (blocks.length === Math.trunc(lines / 20)) blocks.push("\nconst here = \n")
  }
  return blocks.join("")
}
