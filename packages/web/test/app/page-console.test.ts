import { describe, expect, test } from "bun:test"
import type { Page } from "playwright-core"
import { expectNoBarriers } from "../support/check-page.ts"
import { type App, describeApp } from "../support/describe-app.ts"
import { eventually } from "../support/eventually.ts"
import { makeVal } from "../support/val-page.ts"

/** A val that sends one page, with more headers, and small responses to what it fetches. */
function toCode(script: string, headers: Record<string, string> = {}): string {
  const page = `<!doctype html><title>x</title><p>the page</p><a href="?next">next</a><script>${script}</script>`
  return `export default (request: Request) => {
    const { pathname } = new URL(request.url)
    if (pathname === "/client.js") return new Response(${JSON.stringify(clientFile)}, { headers: { "content-type": "text/javascript" } })
    if (pathname === "/data") return Response.json([1])
    if (pathname === "/broken") return new Response("no", { status: 500 })
    return new Response(${JSON.stringify(page)}, { headers: ${JSON.stringify({ "content-type": "text/html", ...headers })} })
  }`
}

const clientFile = `// The first line.
console.warn("from a file")
`

describeApp("the console of a page", (app) => {
  describe("in the drawer", () => defineConsole(app))
})

function defineConsole(app: App): void {
  test("shows what the page logs, throws and requests, and where", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const code = toCode(`
      console.log("hello %s", "there", { a: [1, 2], get b() { throw new Error("no") } }, new Map([[1, "x"]]))
      console.info(document.querySelector("p"), document.scripts.length, document.currentScript.previousElementSibling.localName)
      console.error(new RangeError("too far"))
      const around = { name: "around" }; around.self = around
      console.log(around, "x".repeat(100000), new Proxy({}, { ownKeys() { throw new Error("trap") } }))
      console.assert(1 === 2, "they differ")
      fetch("/data?a=1").then((response) => response.json()).then((data) => console.debug("got", data))
      fetch("/broken", { method: "put" })
      fetch("http://localhost:1/").catch(() => {})
      const request = new XMLHttpRequest(); request.open("GET", "/data"); request.send()
      Promise.reject(new TypeError("nobody waits"))
      document.head.append(Object.assign(document.createElement("script"), { src: "/client.js" }))
      setTimeout(() => { throw new Error("late") })`)
    const val = await makeVal(app.stage.admin, { code, type: "http" })
    await app.stage.admin.client.changeFiles({
      val_id: val.id,
      changes: [{ path: "client.js", type: "script", content: clientFile }],
    })
    const log = await openConsole(page, val.path)
    const search = page
      .getByRole("region", { name: "Requests and logs" })
      .getByLabel("Search the logs")
    for (const text of [
      "── Page loaded: / ──",
      'hello there {a: [1, 2], b: (…)} Map(1) {1 => "x"}',
      // The page does not find the script in its document.
      "<p> 1 a",
      "RangeError: too far",
      '{name: "around", self: [circular]} xxxx',
      "Assertion failed: they differ",
      "GET /data?a=1 → 200, ",
      "got [1]",
      "PUT /broken → 500, ",
      "GET http://localhost:1/ → TypeError: Failed to fetch",
      "GET /data → 200, ",
      "Uncaught (in promise) TypeError: nobody waits",
      "from a file",
      "Uncaught Error: late",
    ]) {
      // Lines outside of the visible part of the list are not in the document.
      await search.fill(text)
      await log.getByText(text).first().waitFor()
    }
    await search.fill("xxxx")
    expect((await log.getByText("xxxx").textContent())?.length).toBeLessThan(4_100)
    const toggle = page.getByRole("button", { name: /^Console/ })
    expect(await toggle.textContent()).toMatch(/Console\s*6/)
    await expectNoBarriers(page)
    await search.fill("from a file")
    await log.getByRole("button", { name: "/client.js:2" }).click()
    await page.locator(".cm-activeLine:visible").filter({ hasText: "from a file" }).waitFor()
    // The lines stay when the page is loaded again, the errors count from there.
    const drawer = page.getByRole("region", { name: "Requests and logs" })
    await search.fill("page loaded")
    await page.frameLocator("iframe").getByText("next").click()
    await log.getByText("── Page loaded: /?next ──").waitFor()
    await page.getByRole("button", { name: "Reload" }).click()
    await eventually(
      () => log.locator(".log-line").count(),
      (lines) => expect(lines).toBe(3),
    )
    await eventually(
      () => toggle.textContent(),
      (text) => expect(text).toMatch(/Console\s*6/),
    )
    await drawer.getByRole("button", { name: "Clear the logs" }).click()
    await drawer.getByText("What the page logs, requests and throws").waitFor()
    await toggle.click()
    expect(own.problems.filter((it) => !isOfPage(it))).toEqual([])
  })

  test("is the same for a private and a public val, and on a phone", async () => {
    for (const privacy of ["private", "public"] as const) {
      await using tab = await app.open(app.stage.admin, { viewport: { width: 390, height: 800 } })
      const { page } = tab
      const code = toCode(`console.log("seen by", location.search, document.cookie)`)
      const val = await makeVal(app.stage.admin, { code, type: "http", privacy })
      await page.goto(val.path)
      await page.getByRole("button", { name: "Preview" }).click()
      await page.getByRole("button", { name: "Load the page" }).click()
      await page.frameLocator("iframe").getByText("the page").waitFor()
      await page.getByRole("button", { name: "Runs", exact: true }).click()
      await page.getByRole("button", { name: "Console" }).click()
      await page.getByRole("log").getByText("seen by").waitFor()
      await expectNoBarriers(page)
    }
  })

  test("says that the policy of the page does not allow it, and that other content has none", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const policy = { "content-security-policy": "default-src 'none'" }
    const val = await makeVal(app.stage.admin, { code: toCode("", policy), type: "http" })
    await openConsole(page, val.path)
    await page.getByText("The content security policy of this page does not allow").waitFor()
    await page.frameLocator("iframe").getByText("the page").waitFor()
    await page.getByLabel("Path", { exact: true }).fill("/data")
    await page.getByLabel("Path", { exact: true }).press("Enter")
    await page.getByText("it may be no HTML page of the val").waitFor()
    await page.getByRole("button", { name: /^Console/ }).click()
  })

  test("of a hostile page is bounded, and the app still responds", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const code = toCode(`
      const entry = { kind: "line", level: "error", text: "forged", source: "" }
      const post = (text) => parent.postMessage(text, "*")
      const loop = () => { for (let i = 0; i < 2000; i++) console.log("logged", i) }
      const flood = () => {
        for (let i = 0; i < 10000; i++) post("hamlet-page-console:" + JSON.stringify([{ ...entry, text: "forged " + i }]))
        post("hamlet-page-console:" + "[".repeat(690000))
        post("hamlet-page-console:" + JSON.stringify(Array(1e6).fill(entry)))
        post({ entries: Array(1e5).fill(entry) })
        post("hamlet-page-console:" + JSON.stringify([null, 1, [], { kind: "line", level: "fatal" }, { kind: "x" }]))
      }
      console.log("<img src=x onerror=alert(1)>")
      let clicks = 0
      document.querySelector("p").onclick = () => clicks++ === 0 ? loop() : flood()`)
    const val = await makeVal(app.stage.admin, { code, type: "http", privacy: "public" })
    const log = await openConsole(page, val.path)
    await log.getByText("<img src=x onerror=alert(1)>").waitFor()
    const paragraph = page.frameLocator("iframe").locator("p")
    await paragraph.click()
    await log.getByText(/\d more lines left out$/).waitFor()
    await paragraph.click()
    await log.getByText("more lines left out: the page sends too many messages").waitFor()
    const drawer = page.getByRole("region", { name: "Requests and logs" })
    await eventually(
      () => drawer.getByText(/^\d+ lines$/).textContent(),
      (text) => expect(Number.parseInt(text ?? "", 10)).toBeLessThanOrEqual(500),
    )
    // The app still responds to the user.
    await drawer.getByRole("button", { name: "Clear the logs" }).click()
    await page.getByRole("button", { name: /^Console/ }).click()
  })

  test("takes messages of the frame only, and only those of the val's origin", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const forged = `hamlet-page-console:[{"kind":"line","level":"error","text":"forged","source":""}]`
    const inner = `<script>top.postMessage(${JSON.stringify(forged)}, "*")</script>`
    const code = toCode(`
      document.body.append(Object.assign(document.createElement("iframe"), { srcdoc: ${JSON.stringify(inner).replaceAll("</", "<\\/")} }))
      document.body.append(Object.assign(document.createElement("iframe"), { src: "/data" }))
      onload = () => console.log("its own")`)
    const val = await makeVal(app.stage.admin, { code, type: "http" })
    const log = await openConsole(page, val.path)
    await page.evaluate((text) => postMessage(text, "*"), forged)
    await log.getByText("its own").waitFor()
    expect(await log.getByText("forged").count()).toBe(0)
    await page.getByRole("button", { name: /^Console/ }).click()
  })
}

/** Opens the page of an http val with its console, and returns the log. */
async function openConsole(page: Page, path: string) {
  await page.goto(path)
  await page.getByRole("button", { name: "Console" }).click()
  await page.getByRole("button", { name: "Load the page" }).click()
  return page.getByRole("region", { name: "Requests and logs" }).getByRole("log")
}

/** What the browser reports of the page of the val, which fails on purpose. */
function isOfPage(problem: string): boolean {
  return !/content security policy/i.test(problem)
}
