import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { routeNames, routes } from "@hamlet/contract"
import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import { startBrowser } from "../dev/browser.ts"
import { startDocsServer } from "../dev/docs-server.ts"
import { buildDocsPage } from "../src/index.ts"
import { findPaleTexts } from "./contrast.ts"
import { type OpenDocs, openDocs } from "./open-docs.ts"
import { realDocument } from "./real-api.ts"

const timeoutMs = 60_000
const hostile = `<img src=x onerror="globalThis.isHurt = true"><script>globalThis.isHurt = true</script>`
const token = "a-token-that-nobody-may-see"

interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly headers: Headers
  readonly body: string
}

let browser: Browser | undefined
let server: Bun.Server<undefined>
let seen: SeenRequest[] = []
let isDocumentBroken = false
const open: OpenDocs[] = []

async function answer(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  if (pathname === "/openapi.json") return isDocumentBroken ? new Response("no", { status: 503 }) : Response.json(realDocument)
  seen.push({ method: request.method, path: pathname + search, headers: request.headers, body: await request.text() })
  return Response.json({ name: "hello", code: hostile, readme: null }, { status: 201, headers: { "x-hostile": hostile } })
}

beforeAll(async () => {
  browser = await startBrowser()
  server = startDocsServer({ port: 0, page: await buildDocsPage(), answer })
}, timeoutMs)

afterAll(async () => {
  await browser?.close()
  await server.stop(true)
})

afterEach(async () => {
  const tabs = open.splice(0)
  for (const tab of tabs) await tab.close()
  seen = []
  isDocumentBroken = false
  expect(tabs.flatMap((tab) => tab.problems)).toEqual([])
})

/** A test with the page at an address; where there is no browser it is noted as not run. */
function inBrowser(title: string, hash: string, run: (page: Page) => Promise<void>, options: BrowserContextOptions = {}): void {
  test(
    title,
    async () => {
      if (!browser) return
      const tab = await openDocs(browser, server.url.origin, { viewport: { width: 1440, height: 900 }, ...options })
      open.push(tab)
      await tab.page.goto(`${server.url.origin}/docs${hash}`)
      await tab.page.locator("h1").waitFor()
      await run(tab.page)
    },
    timeoutMs,
  )
}

const sideBar = (page: Page) => page.locator(".side")
const title = (page: Page) => page.locator("h1").textContent()

async function openForm(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Try it", exact: true }).click()
}

async function expectInView(page: Page, selector: string): Promise<void> {
  const isInView = (element: Element) => {
    const { top, bottom } = element.getBoundingClientRect()
    return top >= 0 && bottom <= innerHeight
  }
  expect(await page.locator(selector).evaluate(isInView)).toBe(true)
}

async function overflow(page: Page): Promise<number> {
  return await page.evaluate(() => document.body.scrollWidth - document.body.clientWidth)
}

describe("docs page: reading", () => {
  inBrowser("lists every route of the table, in the side bar and on the overview", "", async (page) => {
    for (const name of routeNames) {
      expect(await sideBar(page).locator(`a[href="#${name}"]`).count()).toBe(1)
      expect(await page.locator(`main a[href="#${name}"] .path`).textContent()).toBe(routes[name].path)
    }
  })

  inBrowser("opens every operation, whatever its answers and parameters are", "", async (page) => {
    for (const name of routeNames) {
      await sideBar(page).locator(`a[href="#${name}"]`).click()
      await page.locator(".crumb-id", { hasText: name }).waitFor()
      expect(await page.locator(".endpoint .path").textContent()).toBe(routes[name].path)
    }
  })

  inBrowser("filters by `/`, opens the first with Enter, and empties with Escape", "", async (page) => {
    await page.keyboard.press("/")
    await page.keyboard.type("delete version")
    expect(await sideBar(page).locator("a.nav-link").allTextContents()).toEqual(["DELDelete version"])
    await page.keyboard.press("Enter")
    await page.locator("h1", { hasText: "Delete version" }).waitFor()
    await page.keyboard.press("/")
    await page.keyboard.type("zzz")
    expect(await sideBar(page).getByText("Nothing matches “zzz”").count()).toBe(1)
    await page.keyboard.press("Escape")
    expect(await sideBar(page).locator("a.nav-link").count()).toBe(routeNames.length + 1)
  })

  inBrowser("opens the operation that the address names, and shows its fields, answers and errors", "#createVersion", async (page) => {
    expect(await title(page)).toBe("Create version")
    expect(await page.title()).toContain("Create version")
    expect(await page.locator(".auth-note").textContent()).toContain("val:write")
    expect(await page.locator(".error-code").allTextContents()).toContain("version_conflict")
    await page.locator(".answer-details .nested summary").first().click()
    expect(await page.locator(".nested .field-name").allTextContents()).toContain("endpoint")
  })

  inBrowser("goes on to the next operation and back, and moves the focus along", "#getMe", async (page) => {
    await page.locator(".pager-next").click()
    await page.locator("h1", { hasText: "Update me" }).waitFor()
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("H1")
    await page.goBack()
    await page.locator("h1", { hasText: "Get me" }).waitFor()
  })

  inBrowser("says so when the address names nothing", "#%E0%A4%A", async (page) => {
    expect(await title(page)).toBe("No such operation")
  })

  inBrowser("says so when the description is missing, and tries again", "", async (page) => {
    isDocumentBroken = true
    await page.reload()
    await page.getByText("Cannot load /openapi.json: the server answered 503").waitFor()
    isDocumentBroken = false
    await page.getByRole("button", { name: "Try again" }).click()
    await page.locator("h1", { hasText: "Hamlet API" }).waitFor()
  })
})

describe("docs page: trying", () => {
  inBrowser("sends what is typed with the token, and shows a hostile answer as text", "#createVal", async (page) => {
    await openForm(page)
    await page.getByLabel("Token").fill(token)
    await page.locator("[data-name=code]").fill("export default 1")
    await page.locator("[data-name=privacy]").selectOption("unlisted")
    await page.locator("[data-name=Idempotency-Key]").fill("once")
    await page.getByRole("button", { name: "Send POST" }).click()
    await page.locator(".status-ok", { hasText: "201 Created" }).waitFor()

    expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual(["POST /v1/vals"])
    expect(JSON.parse(seen[0]?.body ?? "")).toEqual({ code: "export default 1", privacy: "unlisted" })
    expect(seen[0]?.headers.get("authorization")).toBe(`Bearer ${token}`)
    expect(seen[0]?.headers.get("idempotency-key")).toBe("once")
    expect(seen[0]?.headers.get("content-type")).toBe("application/json")

    const shown = await page.locator(".answer-body").textContent()
    expect(JSON.parse(shown ?? "")).toMatchObject({ code: hostile })
    await expectInView(page, ".answer-body")
    await page.getByText(/\d headers/).click()
    expect(await page.locator(".answer-headers").textContent()).toContain(hostile)
    expect(await page.locator("#app img, #app script").count()).toBe(0)
    expect(await page.evaluate(() => "isHurt" in globalThis)).toBe(false)
  })

  inBrowser("writes a snippet that follows what is typed and does not hold the token", "#getVersion", async (page) => {
    const snippet = page.locator("#snippet")
    await openForm(page)
    await page.getByLabel("Token").fill(token)
    await page.locator("[data-name=val_id]").fill("a b")
    await page.locator("[data-name=version]").fill("7")
    for (const name of ["curl", "fetch"]) {
      await page.getByRole("tab", { name }).click()
      expect(await snippet.textContent()).toContain("/v1/vals/a%20b/versions/7")
    }
    await page.keyboard.press("ArrowRight")
    expect(await snippet.textContent()).toContain('client.getVersion({\n  val_id: "a b",\n  version: 7,\n})')
    expect(await page.locator("#app").textContent()).not.toContain(token)
  })

  inBrowser("asks for a path parameter before it sends, and advises on a value", "#listValRuns", async (page) => {
    await openForm(page)
    await page.locator("[data-name=limit]").fill("500")
    await page.getByText("should be at most 100").waitFor()
    await page.keyboard.press("Enter")
    await page.getByText("Fill in val_id: it is part of the path").waitFor()
    expect(await page.evaluate(() => document.activeElement?.getAttribute("data-name"))).toBe("val_id")
    expect(seen).toEqual([])
  })

  inBrowser("keeps what is typed when one goes elsewhere and comes back", "#createComment", async (page) => {
    await openForm(page)
    await page.locator("[data-name=comment]").fill("Nice")
    await page.getByRole("tab", { name: "JSON" }).click()
    expect(await page.getByLabel("Body as JSON").first().locator("textarea").inputValue()).toBe('{\n  "comment": "Nice"\n}')
    await page.getByRole("tab", { name: "Fields" }).click()
    await page.locator(".pager-next").click()
    await page.locator("h1", { hasText: "Delete comment" }).waitFor()
    await page.goBack()
    expect(await page.locator("[data-name=comment]").inputValue()).toBe("Nice")
  })

  inBrowser("keeps the token in memory, in the tab only when asked, never in the local storage", "#getMe", async (page) => {
    const stored = () => page.evaluate(() => [Object.values(sessionStorage), Object.values(localStorage)])
    await openForm(page)
    await page.getByLabel("Token").fill(token)
    expect(await stored()).toEqual([[], []])
    await page.getByLabel("Keep it until this tab is closed").check()
    expect(await stored()).toEqual([[token], []])
    await page.reload()
    await openForm(page)
    expect(await page.getByLabel("Token").inputValue()).toBe(token)
    await page.getByLabel("Keep it until this tab is closed").uncheck()
    expect(await stored()).toEqual([[], []])
  })
})

describe("docs page: looks and keys", () => {
  for (const colorScheme of ["light", "dark"] as const) {
    inBrowser(
      `can be read in ${colorScheme} colours`,
      "",
      async (page) => {
        const ground = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
        expect(ground).toBe(colorScheme === "light" ? "rgb(255, 255, 255)" : "rgb(17, 19, 22)")
        expect(await page.evaluate(findPaleTexts)).toEqual([])
        await sideBar(page).locator('a[href="#createVal"]').click()
        await openForm(page)
        await page.locator("[data-name=name]").fill("1")
        await page.getByRole("button", { name: "Send POST" }).click()
        await page.locator(".answer-body").waitFor()
        expect(await page.evaluate(findPaleTexts)).toEqual([])
      },
      { colorScheme },
    )
  }

  inBrowser("lets one choose the colours, and remembers", "", async (page) => {
    const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
    const button = sideBar(page).locator(".theme-button")
    await button.click()
    await button.click()
    expect(await ground()).toBe("rgb(17, 19, 22)")
    await page.reload()
    expect(await ground()).toBe("rgb(17, 19, 22)")
    await page.emulateMedia({ colorScheme: "dark" })
    await button.click()
    await button.click()
    expect(await ground()).toBe("rgb(255, 255, 255)")
  })

  inBrowser("lets the keyboard skip the side bar", "#getMe", async (page) => {
    await page.keyboard.press("Tab")
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to the content")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Copy the path")
    expect(await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle)).toBe("solid")
  })

  inBrowser(
    "fits a phone, and has its routes in a menu",
    "",
    async (page) => {
      expect(await overflow(page)).toBe(0)
      await page.getByRole("button", { name: "Operations" }).click()
      await page.locator("dialog a[href='#createToken']").click()
      await page.locator("h1", { hasText: "Create token" }).waitFor()
      expect(await page.locator("dialog").isVisible()).toBe(false)
      await page.getByRole("button", { name: "Go and try it" }).click()
      for (const name of routeNames) {
        await page.goto(`${server.url.origin}/docs#${name}`)
        await page.locator(".crumb-id", { hasText: name }).waitFor()
        expect({ name, overflow: await overflow(page) }).toEqual({ name, overflow: 0 })
      }
    },
    { viewport: { width: 360, height: 740 } },
  )
})
