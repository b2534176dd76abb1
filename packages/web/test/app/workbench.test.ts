import { describe, expect, test } from "bun:test"
import type { Page } from "playwright-core"
import { expectNoBarriers } from "../support/check-page.ts"
import { type App, describeApp } from "../support/describe-app.ts"
import { eventually } from "../support/eventually.ts"
import {
  expectText,
  findEditor,
  findStatus,
  findVersion,
  makeVal,
  replaceText,
} from "../support/val-page.ts"
import { definePane } from "./workbench/pane.ts"

describeApp("the workbench and the window of a val", (app) => {
  describe("the workbench of an http val", () => defineWorkbench(app))
  describe("the window of a val", () => defineWindow(app))
  describe("the pane of a val with files", () => definePane(app))
})

function defineWorkbench(app: App): void {
  test("sends nothing until it is asked to, and shows again the page that was seen last", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const code = `export default (request: Request) => new URL(request.url).pathname === "/data"
      ? Response.json({ from: "the data" })
      : new Response("<title>kept</title><p>a page</p>", { headers: { "content-type": "text/html" } })`
    const val = await makeVal(app.stage.admin, { code, type: "http" })
    const { client } = app.stage.admin
    const countRuns = async () => (await client.listValRuns({ val_id: val.id })).data.length
    await page.goto(val.path)
    const editor = await findEditor(page)
    await page.getByText("Nothing is sent to the val before that").waitFor()
    await replaceText(page, editor, `${code}\n`)
    await page.keyboard.press("Control+s")
    await findStatus(page, "Saved").waitFor()
    await page.getByRole("tab", { name: "Response" }).click()
    await page.getByRole("tab", { name: "Page" }).click()
    await page.getByText("Nothing is sent to the val before that").waitFor()
    for (const path of ["/shop?a=1", "/data", "/shop?a=2"])
      await client.sendValRequest({ val_id: val.id, method: "GET", path })
    // What the page itself fetches is no page.
    await client.sendValRequest({ val_id: val.id, method: "GET", path: "/data" })
    await client.sendValRequest({ val_id: val.id, method: "POST", path: "/" })
    // Runs of requests are written a little late, and the page looks for the last one once.
    await eventually(countRuns, (count) => expect(count).toBe(5))
    await page.reload()
    await page.frameLocator("iframe").getByText("a page").waitFor()
    expect(await page.locator("iframe").getAttribute("src")).toEndWith("/shop?a=2")
    // Never the source of it.
    expect(await page.getByText("<title>").count()).toBe(1)
    await expectNoBarriers(page)
    await eventually(countRuns, (count) => expect(count).toBe(6))
    expect(own.problems).toEqual([])
  })

  test("opens the body with the method, and sends JSON as JSON", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const code = `export default async (request: Request) =>
      Response.json({ type: request.headers.get("content-type"), body: await request.text() })`
    const val = await makeVal(app.stage.admin, { code, type: "http" })
    await page.goto(val.path)
    await page.getByLabel("Method").selectOption("POST")
    const body = page.getByLabel("Body", { exact: true })
    const shown = page.getByRole("region", { name: "Result" }).locator(".code pre")
    const send = () => page.getByRole("button", { name: "Send" }).click()
    await body.fill('{"a":1}')
    await page.getByText("content-type: application/json is added").waitFor()
    await send()
    await shown.filter({ hasText: '"type": "application/json"' }).waitFor()
    await page.getByLabel("Headers, one per line").fill("Content-Type: text/plain")
    await send()
    await shown.filter({ hasText: '"type": "text/plain"' }).waitFor()
    await page.getByLabel("Headers, one per line").fill("")
    await body.fill("a=1")
    await send()
    await shown.filter({ hasText: '"type": null' }).waitFor()
    expect(own.problems).toEqual([])
  })

  test("shows the request of the page, also when the page has posted and loads again", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const code = `export default (request: Request) => request.method === "POST"
      ? new Response("made", { status: 201 })
      : new Response("<button>Post</button><p>" + crypto.randomUUID() + "</p><script>document.querySelector('button').onclick = async () => { await fetch('/', { method: 'POST' }); location.reload() }</script>", { headers: { "content-type": "text/html" } })`
    const val = await makeVal(app.stage.admin, { code, type: "http" })
    await openPage(page, val.path)
    const frame = page.frameLocator("iframe")
    const readPage = () => frame.locator("p").textContent()
    const first = await eventually(readPage, (text) => expect(text).toMatch(/./))
    const pill = page.locator(".bench-summary")
    await pill.getByText("200", { exact: true }).waitFor()
    await frame.getByRole("button", { name: "Post" }).click()
    await eventually(readPage, (text) => expect(text).not.toBe(first))
    const listed = async () => {
      const { data } = await app.stage.admin.client.listValRuns({ val_id: val.id })
      return data.map(({ request }) => `${request?.method} ${request?.status}`)
    }
    await eventually(listed, (found) => expect(found).toEqual(["GET 200", "POST 201", "GET 200"]))
    const { data } = await app.stage.admin.client.listValRuns({ val_id: val.id })
    await eventually(
      () => pill.getByRole("link", { name: "Open the run" }).getAttribute("href"),
      (href) => expect(href).toBe(`/runs/${data[0]?.id}`),
    )
    await pill.getByText("200", { exact: true }).waitFor()
    await page.locator(".drawer-bar").getByText("GET / → 200").waitFor()
    expect(own.problems).toEqual([])
  })

  test("shows the page of a val and reloads it after a save", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeVal(app.stage.admin, { code: toPage("one"), type: "http" })
    await openPage(page, val.path)
    const frame = page.frameLocator("iframe[title^='Preview of']")
    await frame.getByRole("heading", { name: "one /" }).waitFor()
    await page.getByLabel("Path", { exact: true }).fill("somewhere/else")
    await page.getByLabel("Path", { exact: true }).press("Enter")
    await frame.getByRole("heading", { name: "one /somewhere/else" }).waitFor()
    await replaceText(page, await findEditor(page), toPage("two"))
    await page.keyboard.press("Control+s")
    await frame.getByRole("heading", { name: "two /somewhere/else" }).waitFor()
    await replaceText(page, await findEditor(page), toPage("three"))
    await page.keyboard.press("Control+Enter")
    await frame.getByRole("heading", { name: "three /somewhere/else" }).waitFor()
    await eventually(
      () => page.getByRole("tab", { name: "Page", selected: true }).count(),
      (found) => expect(found).toBe(1),
    )
    await eventually(
      () => readVersion(page),
      (found) => expect(found).toBe("v3"),
    )
    expect(own.problems).toEqual([])
  })

  test("sends any request, shows the response and its logs, and keeps it in the history", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const code = `export default async (request: Request) => {
      console.log("it is a", request.method)
      if (request.method === "GET") return new Response("page " + crypto.randomUUID())
      return Response.json({ method: request.method, path: new URL(request.url).search, kind: request.headers.get("x-kind"), body: await request.text() },
        { status: 418, headers: { "x-answer": "yes" } })
    }`
    const val = await makeVal(app.stage.admin, { code, type: "http" })
    await openPage(page, val.path)
    const frame = page.frameLocator("iframe").locator("body")
    const readPage = async () => (await frame.textContent()) ?? ""
    const first = await eventually(readPage, (text) => expect(text).toStartWith("page "))
    await page.getByLabel("Method").selectOption("PUT")
    await page.getByLabel("Path", { exact: true }).fill("/things?a=1")
    await page.getByLabel("Headers, one per line").fill("x-kind: odd")
    await page.getByLabel("Body", { exact: true }).fill("hello there")
    await page.getByRole("button", { name: "Send" }).click()
    const result = page.getByRole("region", { name: "Result" })
    await result.getByText("418 I'm a Teapot").waitFor()
    for (const text of ['"PUT"', '"?a=1"', '"odd"', '"hello there"'])
      await result.locator(".code pre").filter({ hasText: text }).waitFor()
    await result.getByText(/\d+ headers/).click()
    await result.getByText("x-answer").waitFor()
    await page.getByRole("tab", { name: "Logs" }).click()
    await result.getByRole("log").getByText("it is a PUT").waitFor()
    // The request may have changed the page.
    await page.getByRole("tab", { name: "Page" }).click()
    await eventually(readPage, (text) => expect(text).not.toBe(first))
    // The history has the request after a reload of the app.
    await page.reload()
    await page.getByRole("button", { name: "History" }).click()
    await page.getByRole("menuitem", { name: "PUT /things?a=1" }).click()
    await eventually(
      () => page.getByLabel("Method").inputValue(),
      (found) => expect(found).toBe("PUT"),
    )
    await eventually(
      () => page.getByLabel("Headers, one per line").inputValue(),
      (found) => expect(found).toBe("x-kind: odd"),
    )
    await eventually(
      () => page.getByLabel("Body", { exact: true }).inputValue(),
      (found) => expect(found).toBe("hello there"),
    )
    expect(own.problems).toEqual([])
  })

  test("shows the error of a request with links to the line and the run, until it works", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const code = `export default () => {\n  throw new RangeError("too far")\n}\n`
    const val = await makeVal(app.stage.admin, { code, type: "http" })
    await openPage(page, val.path)
    const editor = await findEditor(page)
    const failure = page.getByRole("region", { name: "Error of the last request" })
    await failure.getByText("RangeError: too far").waitFor()
    await failure.getByRole("link", { name: `root/${val.name}.tsx:2` }).click()
    await page.locator(".cm-activeLine").filter({ hasText: "too far" }).waitFor()
    await failure.getByRole("link", { name: "See the run" }).waitFor()
    await page.getByText("502", { exact: true }).waitFor()
    await expectNoBarriers(page)
    await replaceText(page, editor, `export default () => new Response("near")`)
    await page.keyboard.press("Control+Enter")
    await page.frameLocator("iframe").getByText("near").waitFor()
    await page.getByRole("tab", { name: "Page", selected: true }).waitFor()
    expect(own.problems).toEqual([])
  })

  test("says that a slow val is working, shows its logs meanwhile, and cancels the request", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const code = `export default async () => {
      console.log("begun")
      await new Promise((done) => setTimeout(done, 500_000))
      return new Response("late")
    }`
    const val = await makeVal(app.stage.admin, { code, type: "http" })
    await openPage(page, val.path)
    const result = page.getByRole("region", { name: "Result" })
    await result.getByText("Waiting for the val…").waitFor()
    const readSeconds = async () =>
      Number.parseFloat((await result.locator(".elapsed-time").textContent()) ?? "")
    const before = await readSeconds()
    await eventually(readSeconds, (seconds) => expect(seconds).not.toBe(before))
    await page.getByRole("tab", { name: "Logs" }).click()
    await result.getByRole("log").getByText("begun").waitFor()
    await page.getByRole("button", { name: "Cancel" }).click()
    await result.getByText("Waiting for the val…").waitFor({ state: "detached" })
    const read = () => app.stage.admin.client.listValRuns({ val_id: val.id })
    await eventually(read, ({ data }) => expect(data[0]?.status).toBe("cancelled"))
    expect(own.problems).toEqual([])
  })

  test("lists every request of the page with its logs", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const code = `export default (request: Request) => {
      const { pathname } = new URL(request.url)
      console.log("asked for", pathname)
      return new Response(pathname === "/data" ? "[]" : "<script>fetch('/data')</script>", { headers: { "content-type": "text/html" } })
    }`
    const val = await makeVal(app.stage.admin, { code, type: "http" })
    await openPage(page, val.path)
    await page.getByRole("button", { name: "Requests and logs" }).click()
    const drawer = page.getByRole("region", { name: "Requests and logs" })
    const rows = drawer.getByRole("listitem")
    await eventually(
      () => rows.count(),
      (count) => expect(count).toBeGreaterThanOrEqual(2),
    )
    await rows.getByRole("button", { name: "GET /data → 200" }).first().click()
    await drawer.getByRole("log").getByText("asked for /data").waitFor()
    await expectNoBarriers(page)
    await page.getByRole("button", { name: "Requests and logs" }).click()
    expect(own.problems).toEqual([])
  })

  test("keeps the request that the user has selected when the run of the page becomes known", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const code = `export default (request: Request) => {
      console.log("asked for", new URL(request.url).pathname)
      return new Response("<script>fetch('/data')</script>", { headers: { "content-type": "text/html" } })
    }`
    const val = await makeVal(app.stage.admin, { code, type: "http" })
    const selected = Promise.withResolvers<void>()
    await page.route("**/v1/runs/*", async (route) => {
      const response = await route.fetch()
      const run: { request?: { url: string } | null } = await response.json()
      if (run.request?.url.endsWith("/")) await selected.promise
      await route.fulfill({ response })
    })
    await openPage(page, val.path)
    await page.getByRole("button", { name: "Requests and logs" }).click()
    const drawer = page.getByRole("region", { name: "Requests and logs" })
    await drawer.getByRole("button", { name: "GET /data → 200" }).first().click()
    await drawer.getByRole("log").getByText("asked for /data").waitFor()
    selected.resolve()
    await page.getByRole("link", { name: "Open the run" }).waitFor()
    expect(await drawer.getByRole("log").getByText("asked for /data").count()).toBe(1)
    // The browser remembers it, for the next page of this profile.
    await page.getByRole("button", { name: "Requests and logs" }).click()
    await page.unrouteAll({ behavior: "ignoreErrors" })
  })

  test("loads the page again when the server is back", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeVal(app.stage.admin, { code: toPage("here"), type: "http" })
    await openPage(page, val.path)
    const frame = page.frameLocator("iframe[title^='Preview of']")
    await frame.getByRole("heading", { name: "here /" }).waitFor()
    await own.context.setOffline(true)
    await page.getByRole("button", { name: "Reload" }).click()
    await frame.getByRole("heading", { name: "here /" }).waitFor({ state: "detached" })
    await page.getByRole("alert").filter({ hasText: "The server does not respond" }).waitFor()
    await own.context.setOffline(false)
    await frame.getByRole("heading", { name: "here /" }).waitFor()
    expect(own.problems).toEqual([])
  })

  test("says that a page of another site is not shown", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const code = `export default () => Response.redirect("https://elsewhere.invalid/")`
    const val = await makeVal(app.stage.admin, { code, type: "http" })
    await page.route("https://elsewhere.invalid/", (route) => route.abort())
    await openPage(page, val.path)
    await page.getByText("Pages of other sites are not shown here").waitFor()
    await page.unrouteAll({ behavior: "ignoreErrors" })
  })

  test("copies the request as a curl command", async () => {
    await using own = await app.open(app.stage.admin, {
      permissions: ["clipboard-read", "clipboard-write"],
    })
    const { page } = own
    const val = await makeVal(app.stage.admin, {
      code: toPage("x"),
      type: "http",
      privacy: "public",
    })
    await page.goto(val.path)
    await page.getByLabel("Path", { exact: true }).fill("/it's?a=1")
    await page.getByRole("button", { name: "Copy as curl" }).click()
    const read = () => page.evaluate(() => navigator.clipboard.readText())
    await eventually(read, (text) =>
      expect(text).toBe(`curl '${val.links.endpoint?.replace(/\/$/, "")}/it'\\''s?a=1'`),
    )
    expect(own.problems).toEqual([])
  })
}

function defineWindow(app: App): void {
  test("keeps code of 10,000 lines inside the editor, and the buttons and the result visible", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const lines = Array.from({ length: 10_000 }, (_, index) => `// line ${index + 1}`)
    const code = `${lines.join("\n")}\nexport default () => new Response("seen")`
    const val = await makeVal(app.stage.admin, { code, type: "http" })
    await openPage(page, val.path)
    const editor = await findEditor(page)
    await editor.press("Control+End")
    await editor.getByText("export default").waitFor()
    await page.frameLocator("iframe").getByText("seen").waitFor()
    const outside = () =>
      page.evaluate(() => document.documentElement.scrollHeight - window.innerHeight)
    await eventually(outside, (pixels) => expect(pixels).toBeLessThanOrEqual(0))
    for (const name of ["Save", "Run", "Send"]) {
      const button = page.getByRole("button", { name, exact: true })
      await eventually(
        () => isInWindow(page, button),
        (found) => expect(found).toBe(true),
      )
    }
    await eventually(
      () => isInWindow(page, page.locator("iframe")),
      (found) => expect(found).toBe(true),
    )
    const box = await page.locator(".code-host").boundingBox()
    expect(box?.y).toBeLessThanOrEqual(110)
    expect(own.problems).toEqual([])
  })

  test("shows every tab, or has it in a menu, also on a small screen and zoomed", async () => {
    await using tab = await app.open(app.stage.admin)
    const { page } = tab
    const val = await makeVal(app.stage.admin, { code: "export default 1" })
    await page.goto(val.path)
    const bar = page.getByRole("navigation", { name: "Val", exact: true })
    await bar.getByRole("link", { name: "Settings" }).waitFor()
    // Zooming by 200 % halves the width: of 1,100 and 1,280 pixels here.
    for (const width of [390, 550, 640, 959, 960, 1099, 1100, 1240, 1440, 2560]) {
      await page.setViewportSize({ width, height: 800 })
      await eventually(
        () => bar.evaluate(findHiddenTabs),
        (found) => expect({ width, ...found }).toEqual({ width, hidden: [], hints: [] }),
      )
      await eventually(
        () => bar.getByRole("link").count(),
        (count) => expect({ width, count }).toEqual({ width, count: width < 1100 ? 2 : 7 }),
      )
      expect(
        await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth),
      ).toBeLessThanOrEqual(0)
    }
    await page.setViewportSize({ width: 390, height: 800 })
    await page.getByRole("button", { name: "More" }).click()
    await eventually(
      () => page.getByRole("menu", { name: "More" }).getByRole("menuitem").allInnerTexts(),
      (texts) =>
        expect(texts.map((text) => text.trim()).slice(0, 5)).toEqual([
          "Versions",
          "Runs",
          "Discussion",
          "Graph",
          "Settings",
        ]),
    )
    await expectNoBarriers(page)
    await page.getByRole("menuitem", { name: "Settings" }).click()
    await page.getByText("Delete this val").waitFor()
    // The current tab is in the bar.
    await bar.getByRole("link", { name: "Settings" }).waitFor()
    await eventually(
      () => bar.evaluate(findHiddenTabs),
      (found) => expect(found).toEqual({ hidden: [], hints: [] }),
    )
    expect(tab.problems).toEqual([])
  })

  test("has panes that are dragged, closed and opened by mouse and keyboard, and remembered", async () => {
    await using tab = await app.open(app.stage.admin)
    const { page } = tab
    const val = await makeVal(app.stage.admin, { code: "export default () => 1" })
    await page.goto(val.path)
    await findEditor(page)
    const line = page.getByRole("separator", { name: "Size of the result" })
    const size = async () => Number(await line.getAttribute("aria-valuenow"))
    const first = await size()
    const box = await line.boundingBox()
    if (!box) throw new Error("the separator is not visible")
    const x = box.x + box.width / 2
    await page.mouse.move(x, box.y + 200)
    await page.mouse.down()
    await page.mouse.move(x + 150, box.y + 200, { steps: 3 })
    await page.mouse.up()
    await eventually(size, (now) => expect(now).toBeLessThan(first))
    const dragged = await size()
    await line.press("ArrowLeft")
    await eventually(size, (now) => expect(now).toBeGreaterThan(dragged))
    await line.press("Enter")
    await eventually(size, (now) => expect(now).toBe(0))
    const result = page.getByRole("region", { name: "Result" })
    await eventually(
      () => result.isVisible(),
      (found) => expect(found).toBe(false),
    )
    await page.getByRole("button", { name: "Runs and logs" }).click()
    await page.reload()
    await findEditor(page)
    await eventually(
      () => size(),
      (found) => expect(found).toBe(0),
    )
    const logs = page.getByRole("separator", { name: "Size of the logs" })
    await eventually(
      () => logs.getAttribute("aria-valuetext"),
      (found) => expect(found).toBe("Closed"),
    )
    await page.getByRole("button", { name: "Pane beside the code" }).click()
    await result.waitFor()
    await eventually(size, (now) => expect(now).toBeGreaterThan(dragged))
    expect(tab.problems).toEqual([])
  })

  test("says at once when saved code does not parse or an import does not exist", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeVal(app.stage.admin, { code: "export default 1" })
    await page.goto(val.path)
    const editor = await findEditor(page)
    await replaceText(page, editor, "export default 1\n\nconst = 2")
    await page.keyboard.press("Control+s")
    const problem = page.getByRole("alert").filter({ hasText: "The code does not parse" })
    await problem.waitFor()
    await findStatus(page, "Saved with an error").waitFor()
    await problem.getByRole("button", { name: "Go to line 3" }).click()
    await page.locator(".cm-activeLine").filter({ hasText: "const =" }).waitFor()
    await page.route(/\/versions\/3\/lock$/, (route) =>
      route.fulfill({
        json: {
          state: "failed",
          imports: [{ specifier: "npm:no-such", resolved: null, error: "it does not exist" }],
          updatedAt: null,
        },
      }),
    )
    await replaceText(page, editor, `import x from "npm:no-such"\nexport default x`)
    await page.keyboard.press("Control+s")
    await page
      .getByRole("alert")
      .filter({ hasText: 'The import "npm:no-such" does not work: it does not exist' })
      .waitFor()
    await page.unrouteAll({ behavior: "ignoreErrors" })
    await replaceText(page, editor, `import x from "./no_such_val"\nexport default x`)
    await page.keyboard.press("Control+s")
    await page
      .getByRole("alert")
      .filter({ hasText: 'The import "./no_such_val" does not work: there is no such val' })
      .waitFor()
    await findStatus(page, "Saved with an error").waitFor()
    await replaceText(page, editor, `import type x from "./no_such_val"\nexport default 2`)
    await page.keyboard.press("Control+s")
    await findStatus(page, "Saved").filter({ hasNotText: "error" }).waitFor()
    await page.getByRole("alert").filter({ hasText: /./ }).waitFor({ state: "detached" })
    await replaceText(page, editor, "export default 2")
    await page.keyboard.press("Control+s")
    await findVersion(page, 6).waitFor()
    await page.getByRole("alert").filter({ hasText: /./ }).waitFor({ state: "detached" })
    await expectText(editor, "export default 2")
    expect(own.problems).toEqual([])
  })
}

/** Opens the page of an http val and sends the first request. */
async function openPage(page: Page, path: string): Promise<void> {
  await page.goto(path)
  await page.getByRole("button", { name: "Load the page" }).click()
}

function toPage(word: string): string {
  return `export default (request: Request) => new Response("<h1>" + "${word} " + new URL(request.url).pathname + "</h1>", { headers: { "content-type": "text/html" } })`
}

function readVersion(page: Page): Promise<string | null> {
  return page.locator(".val-version").textContent()
}

/** Tabs that are cut or outside of their bar, and the arrows that say so. */
function findHiddenTabs(bar: HTMLElement | SVGElement) {
  const box = bar.getBoundingClientRect()
  const hidden = [...bar.querySelectorAll("a")]
    .filter((tab) => {
      const { left, right } = tab.getBoundingClientRect()
      return left < box.left - 1 || right > Math.min(box.right, innerWidth) + 1
    })
    .map(({ textContent }) => textContent)
  const hints = ["::before", "::after"].flatMap(
    (part) => getComputedStyle(bar, part).content.match(/[‹›]/) ?? [],
  )
  return { hidden, hints }
}

async function isInWindow(page: Page, target: ReturnType<Page["locator"]>): Promise<boolean> {
  const box = await target.boundingBox()
  const size = page.viewportSize()
  if (!box || !size) return false
  return box.y >= 0 && box.y + box.height <= size.height && box.x + box.width <= size.width
}
