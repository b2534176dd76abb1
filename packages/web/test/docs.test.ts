import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { routeNames, routes } from "@hamlet/contract"
import type { BrowserContextOptions, Locator, Page } from "playwright-core"
import { startDocsServer } from "../dev/docs-server.ts"
import { buildDocsPage } from "../src/index.ts"
import { expectNoBarriers } from "./support/check-page.ts"
import { expectNoPaleTexts } from "./support/contrast.ts"
import { describeInBrowser } from "./support/describe-in-browser.ts"
import { eventually } from "./support/eventually.ts"
import { type OpenDocs, openDocs } from "./support/open-docs.ts"
import { realDocument } from "./support/real-api.ts"

const hostile = `<img src=x onerror="globalThis.isHurt = true"><script>globalThis.isHurt = true</script>`
const token = "a-token-that-must-not-be-shown"

interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly headers: Headers
  readonly body: string
}

let server: Bun.Server<undefined>
let seen: SeenRequest[] = []
let isDocumentBroken = false
const open: OpenDocs[] = []

async function respond(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  if (pathname === "/openapi.json")
    return isDocumentBroken ? new Response("no", { status: 503 }) : Response.json(realDocument)
  seen.push({
    method: request.method,
    path: pathname + search,
    headers: request.headers,
    body: await request.text(),
  })
  return Response.json(
    { name: "hello", code: hostile, readme: null },
    { status: 201, headers: { "x-hostile": hostile } },
  )
}

describeInBrowser("docs page", (getBrowser) => {
  beforeAll(async () => {
    server = startDocsServer({ port: 0, page: await buildDocsPage(), respond })
  })

  afterAll(() => server?.stop(true))

  afterEach(async () => {
    const tabs = open.splice(0)
    for (const tab of tabs) await tab.close()
    seen = []
    isDocumentBroken = false
    expect(tabs.flatMap((tab) => tab.problems)).toEqual([])
  })

  /** A test with the page at a hash. */
  function inBrowser(
    title: string,
    hash: string,
    run: (page: Page) => Promise<void>,
    options: BrowserContextOptions = {},
  ): void {
    test(title, async () => {
      const tab = await openDocs(getBrowser(), server.url.origin, {
        viewport: { width: 1440, height: 900 },
        ...options,
      })
      open.push(tab)
      await tab.page.goto(`${server.url.origin}/docs${hash}`)
      await tab.page.locator("h1").waitFor()
      await run(tab.page)
    })
  }

  describe("reading", () => {
    inBrowser(
      "lists every route of the table, in the side bar and on the overview",
      "",
      async (page) => {
        const paths = Object.fromEntries(routeNames.map((name) => [name, routes[name].path]))
        const inSideBar = await sideBar(page)
          .locator("a.nav-link")
          .evaluateAll((all) => all.map((link) => link.getAttribute("href")?.slice(1)))
        expect(inSideBar.filter((name) => name !== undefined && name in paths).sort()).toEqual(
          [...routeNames].sort(),
        )
        const inMain = await page
          .locator("main a[href^='#']:has(.path)")
          .evaluateAll((all) =>
            all.map((link) => [
              link.getAttribute("href")?.slice(1),
              link.querySelector(".path")?.textContent,
            ]),
          )
        expect(Object.fromEntries(inMain)).toMatchObject(paths)
      },
    )

    inBrowser(
      "filters after `/`, opens the first match with Enter, and clears with Escape",
      "",
      async (page) => {
        await page.keyboard.press("/")
        await page.keyboard.type("delete comment")
        const found = () => sideBar(page).locator("a.nav-link").allTextContents()
        await eventually(found, (names) => expect(names).toEqual(["DELDelete comment"]))
        await page.keyboard.press("Enter")
        await page.locator("h1", { hasText: "Delete comment" }).waitFor()
        await page.keyboard.press("/")
        await page.keyboard.type("zzz")
        await sideBar(page).getByText("Nothing matches “zzz”").waitFor()
        await page.keyboard.press("Escape")
        // The overview and the pages of the documentation are there too.
        await eventually(found, (names) => expect(names).toHaveLength(routeNames.length + 2))
      },
    )

    inBrowser(
      "opens the operation that the address names, and shows its fields, responses and errors",
      "#createVersion",
      async (page) => {
        await expectText(page.locator("h1"), "Create version")
        await eventually(
          () => page.title(),
          (title) => expect(title).toContain("Create version"),
        )
        await eventually(
          () => page.locator(".auth-note").textContent(),
          (found) => expect(found).toContain("val:write"),
        )
        await eventually(
          () => page.locator(".error-code").allTextContents(),
          (found) => expect(found).toContain("version_conflict"),
        )
        await page.locator(".response-details .nested summary").first().click()
        await page
          .locator(".nested .field-name")
          .getByText("endpoint", { exact: true })
          .first()
          .waitFor()
      },
    )

    inBrowser(
      "goes to the next operation and back, and moves the focus",
      "#getMe",
      async (page) => {
        await page.locator(".pager-next").click()
        await page.locator("h1", { hasText: "Update me" }).waitFor()
        await expectFocus(page, (element) => element?.tagName, "H1")
        await page.goBack()
        await page.locator("h1", { hasText: "Get me" }).waitFor()
      },
    )

    inBrowser("reports an unknown operation", "#%E0%A4%A", async (page) => {
      await page.locator("h1", { hasText: "No such operation" }).waitFor()
    })

    inBrowser("reports a missing API description, and tries again", "", async (page) => {
      isDocumentBroken = true
      await page.reload()
      await page.getByText("Cannot load /openapi.json: the server responded 503").waitFor()
      isDocumentBroken = false
      await page.getByRole("button", { name: "Try again" }).click()
      await page.locator("h1", { hasText: "Hamlet API" }).waitFor()
    })
  })

  describe("trying", () => {
    inBrowser(
      "sends the form with the token, and shows a hostile response as text",
      "#createVal",
      async (page) => {
        await openForm(page)
        await page.getByLabel("Token").fill(token)
        await page.locator("[data-name=code]").fill("export default 1")
        await page.locator("[data-name=privacy]").selectOption("unlisted")
        await page.locator("[data-name=Idempotency-Key]").fill("once")
        await page.getByRole("button", { name: "Send POST" }).click()
        await page.locator(".status-ok", { hasText: "201 Created" }).waitFor()

        expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual(["POST /v1/vals"])
        expect(JSON.parse(seen[0]?.body ?? "")).toEqual({
          code: "export default 1",
          privacy: "unlisted",
        })
        expect(seen[0]?.headers.get("authorization")).toBe(`Bearer ${token}`)
        expect(seen[0]?.headers.get("idempotency-key")).toBe("once")
        expect(seen[0]?.headers.get("content-type")).toBe("application/json")

        const shown = await page.locator(".response-body").textContent()
        expect(JSON.parse(shown ?? "")).toMatchObject({ code: hostile })
        await expectInView(page, ".response-body")
        await page.getByText(/\d headers/).click()
        await expectText(page.locator(".headers"), hostile)
        expect(await page.locator("#app img, #app script").count()).toBe(0)
        expect(await page.evaluate(() => "isHurt" in globalThis)).toBe(false)
      },
    )

    inBrowser(
      "shows a snippet that follows the form and does not contain the token",
      "#getVersion",
      async (page) => {
        const snippet = page.locator("#snippet")
        await openForm(page)
        await page.getByLabel("Token").fill(token)
        await page.locator("[data-name=val_id]").fill("a b")
        await page.locator("[data-name=version]").fill("7")
        for (const name of ["curl", "fetch"]) {
          await page.getByRole("tab", { name }).click()
          await expectText(snippet, "/v1/vals/a%20b/versions/7")
        }
        await page.keyboard.press("ArrowRight")
        await expectText(snippet, 'client.getVersion({\n  val_id: "a b",\n  version: 7,\n})')
        expect(await page.locator("#app").textContent()).not.toContain(token)
      },
    )

    inBrowser(
      "requires path parameters before sending, and gives advice on a value",
      "#listValRuns",
      async (page) => {
        await openForm(page)
        await page.locator("[data-name=limit]").fill("500")
        await page.getByText("should be at most 100").waitFor()
        await page.keyboard.press("Enter")
        await page.getByText("Fill in val_id: it is part of the path").waitFor()
        await expectFocus(page, (element) => element?.getAttribute("data-name"), "val_id")
        expect(seen).toEqual([])
      },
    )

    inBrowser("keeps the form when another operation is opened", "#createComment", async (page) => {
      await openForm(page)
      await page.locator("[data-name=comment]").fill("Nice")
      await page.getByRole("tab", { name: "JSON" }).click()
      const json = page.getByLabel("Body as JSON").first().locator("textarea")
      await eventually(
        () => json.inputValue(),
        (text) => expect(text).toBe('{\n  "comment": "Nice"\n}'),
      )
      await page.getByRole("tab", { name: "Fields" }).click()
      await page.locator(".pager-next").click()
      await page.locator("h1", { hasText: "Delete comment" }).waitFor()
      await page.goBack()
      await eventually(
        () => page.locator("[data-name=comment]").inputValue(),
        (text) => expect(text).toBe("Nice"),
      )
    })

    inBrowser(
      "keeps the token in memory, in session storage on request, never in local storage",
      "#getMe",
      async (page) => {
        const stored = () =>
          page.evaluate(() => [Object.values(sessionStorage), Object.values(localStorage)])
        await openForm(page)
        await page.getByLabel("Token").fill(token)
        expect(await stored()).toEqual([[], []])
        await page.getByLabel("Keep it until this tab is closed").check()
        await eventually(stored, (texts) => expect(texts).toEqual([[token], []]))
        await page.reload()
        await openForm(page)
        await eventually(
          () => page.getByLabel("Token").inputValue(),
          (text) => expect(text).toBe(token),
        )
        await page.getByLabel("Keep it until this tab is closed").uncheck()
        await eventually(stored, (texts) => expect(texts).toEqual([[], []]))
      },
    )
  })

  describe("looks and keys", () => {
    inBrowser("can be read in both colours, without barriers that axe finds", "", async (page) => {
      const look = async () => {
        for (const [colorScheme, colour] of [
          ["dark", "rgb(14, 16, 18)"],
          ["light", "rgb(255, 255, 255)"],
        ] as const) {
          await page.emulateMedia({ colorScheme })
          const ground = () =>
            page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
          await eventually(ground, (found) => expect(found).toBe(colour))
          await expectNoPaleTexts(page)
        }
        await expectNoBarriers(page)
      }
      await look()
      await sideBar(page).locator('a[href="#createVal"]').click()
      await openForm(page)
      await page.locator("[data-name=name]").fill("1")
      await page.getByRole("button", { name: "Send POST" }).click()
      await page.locator(".response-body").waitFor()
      await look()
    })

    inBrowser("stores the chosen colours", "", async (page) => {
      const expectGround = (color: string) =>
        eventually(
          () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor),
          (ground) => expect(ground).toBe(color),
        )
      const button = sideBar(page).locator(".theme-button")
      await button.click()
      await button.click()
      await expectGround("rgb(14, 16, 18)")
      await page.reload()
      await expectGround("rgb(14, 16, 18)")
      await page.emulateMedia({ colorScheme: "dark" })
      await button.click()
      await button.click()
      await expectGround("rgb(255, 255, 255)")
    })

    inBrowser("has a button that skips the side bar", "#getMe", async (page) => {
      await page.keyboard.press("Tab")
      await expectFocus(page, (element) => element?.textContent, "Skip to the content")
      await page.keyboard.press("Enter")
      await expectFocus(page, (element) => element?.id, "main")
      await page.keyboard.press("Tab")
      // The first element depends on the fonts: Chromium makes scrollable text focusable.
      await expectFocus(
        page,
        (element) => element?.id !== "main" && element?.closest("main")?.id,
        "main",
      )
      expect(
        await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle),
      ).toBe("solid")
    })

    inBrowser(
      "fits a phone, and lists the operations in a dialog",
      "",
      async (page) => {
        await eventually(
          () => overflow(page),
          (pixels) => expect(pixels).toBe(0),
        )
        await page.getByRole("button", { name: "Operations" }).click()
        await page.locator("dialog a[href='#createToken']").click()
        await page.locator("h1", { hasText: "Create token" }).waitFor()
        await page.locator("dialog").waitFor({ state: "hidden" })
        await page.getByRole("button", { name: "Go to the form" }).click()
      },
      { viewport: { width: 360, height: 740 } },
    )

    // On a phone only: showing all operations once takes seconds of CPU time.
    inBrowser(
      "opens every operation, and none is too wide for a phone",
      "",
      async (page) => {
        // In the page: a click from outside takes ten times as long.
        const opened = await page.evaluate(async (names) => {
          const { body } = document
          const isTooWide = () => body.scrollWidth > body.clientWidth
          const paths: Record<string, string | null | undefined> = {}
          for (const name of names) {
            document.querySelector<HTMLElement>(`a.nav-link[href="#${name}"]`)?.click()
            while (document.querySelector(".crumb-id")?.textContent !== name)
              await new Promise((resolve) => setTimeout(resolve))
            for (let frames = 0; isTooWide() && frames < 300; frames += 1)
              await new Promise((resolve) => requestAnimationFrame(resolve))
            if (isTooWide()) return `${name} is too wide`
            paths[name] = document.querySelector(".endpoint .path")?.textContent
          }
          return paths
        }, routeNames)
        expect(opened).toEqual(
          Object.fromEntries(routeNames.map((name) => [name, routes[name].path])),
        )
      },
      { viewport: { width: 360, height: 740 } },
    )
  })
})

const sideBar = (page: Page) => page.locator(".side")

async function openForm(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Try it", exact: true }).click()
}

async function expectInView(page: Page, selector: string): Promise<void> {
  const isInView = (element: Element) => {
    const { top, bottom } = element.getBoundingClientRect()
    return top >= 0 && bottom <= innerHeight
  }
  await eventually(
    () => page.locator(selector).evaluate(isInView),
    (isSeen) => expect(isSeen).toBe(true),
  )
}

async function overflow(page: Page): Promise<number> {
  return await page.evaluate(() => document.body.scrollWidth - document.body.clientWidth)
}

async function expectText(element: Locator, text: string): Promise<void> {
  await eventually(
    () => element.textContent(),
    (shown) => expect(shown).toContain(text),
  )
}

async function expectFocus(
  page: Page,
  read: (element: Element | null) => unknown,
  value: string,
): Promise<void> {
  const focused = async () =>
    (await page.evaluateHandle(() => document.activeElement)).evaluate(read)
  await eventually(focused, (found) => expect(found).toBe(value))
}
