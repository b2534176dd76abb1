import { beforeAll, expect, test } from "bun:test"
import { routeNames, routes } from "@hamlet/contract"
import type { Page } from "playwright-core"
import type { Person } from "../../dev/app-stage.ts"
import { describeApp } from "../support/describe-app.ts"
import { eventually } from "../support/eventually.ts"

const hostile = `<img src=x onerror="globalThis.isHurt = true"><script>globalThis.isHurt = true</script>`

describeApp("API reference", (app) => {
  let ada: Person
  beforeAll(async () => {
    ada = await app.stage.person("ada")
  })

  test("lists every route of the table, beside the page and in it", async () => {
    await using tab = await app.open()
    const { page } = tab
    await page.goto("/docs")
    await heading(page, "API reference")
    const namesIn = (selector: string) =>
      page
        .locator(`${selector} a[href^='/docs#']`)
        .evaluateAll((all) => all.map((link) => link.getAttribute("href")?.slice("/docs#".length)))
    expect((await namesIn("nav")).toSorted()).toEqual(routeNames.toSorted())
    expect((await namesIn("article")).toSorted()).toEqual(routeNames.toSorted())
    const paths = await page.locator("article a .path").allTextContents()
    expect(paths.toSorted()).toEqual(routeNames.map((name) => routes[name].path).toSorted())
    expect(tab.problems).toEqual([])
  })

  test("filters by words, and opens an operation, which takes the focus", async () => {
    await using tab = await app.open()
    const { page } = tab
    await page.goto("/docs")
    await page.getByRole("searchbox").fill("zzz")
    await heading(page, "No operation matches")
    await page.getByRole("searchbox").fill("delete comment")
    const hits = page.locator("article a")
    await eventually(
      () => hits.count(),
      (count) => expect(count).toBe(1),
    )
    await hits.press("Enter")
    await heading(page, "Delete comment")
    await eventually(
      () => page.evaluate(() => document.activeElement?.tagName),
      (name) => expect(name).toBe("H1"),
    )
    await page.getByRole("link", { name: "Get me", exact: true }).click()
    await heading(page, "Get me")
    await page.goBack()
    await heading(page, "Delete comment")
    await page.goto("/docs#%E0%A4%A")
    await heading(page, "Not found")
    expect(tab.problems).toEqual([])
  })

  test("shows fields, nested fields, the scope and the errors of an operation", async () => {
    await using tab = await app.open()
    const { page } = tab
    await page.goto("/docs#createVersion")
    await heading(page, "Create version")
    await page.getByText("Scope of the token: val:write").waitFor()
    await page.getByText("version_conflict").waitFor()
    await page.locator(".nested summary").first().click()
    await page.locator(".nested .schema-name").first().waitFor()
  })

  test("sends the form by keyboard, keeps it, and shows a hostile response as text", async () => {
    await using tab = await app.open(ada)
    const { page } = tab
    await page.goto("/docs#createVal")
    await page.getByRole("button", { name: "Try it" }).press("Enter")
    const body = page.getByRole("textbox", { name: "Body" })
    await body.fill(JSON.stringify({ name: "sent", code: "export default 1", readme: hostile }))
    const command = page.getByRole("region", { name: "The request as a command" })
    await command.getByText("$HAMLET_TOKEN").waitFor()
    await page.getByRole("button", { name: "Send POST" }).press("Enter")
    const response = page.getByRole("region", { name: "Response", exact: true })
    await response.getByText("200 OK").waitFor()
    const received = page.getByRole("region", { name: "Response body" })
    expect(JSON.parse((await received.textContent()) ?? "")).toMatchObject({
      name: "sent",
      readme: hostile,
    })
    expect(await page.locator("main img, main script").count()).toBe(0)
    expect(await page.evaluate(() => "isHurt" in globalThis)).toBe(false)
    await page.getByRole("link", { name: "Get me", exact: true }).click()
    await heading(page, "Get me")
    await page.goBack()
    await heading(page, "Create val")
    expect(await body.inputValue()).toContain('"sent"')
    expect(tab.problems).toEqual([])
  })

  test("sends nothing without the parameters of the path, and never shows a token", async () => {
    await using tab = await app.open()
    const { page } = tab
    const sent: string[] = []
    page.on("request", (request) => sent.push(new URL(request.url()).pathname))
    await page.goto("/docs#getUserByName")
    await page.getByRole("button", { name: "Try it" }).click()
    const name = page.getByLabel("username")
    const send = page.getByRole("button", { name: "Send GET" })
    await send.click()
    expect(await name.evaluate((element) => element === document.activeElement)).toBe(true)
    // Browsers would request /v1/.
    await name.fill("..")
    await send.click()
    await name.fill("ada")
    await page.getByLabel("Token").fill("a-token-that-must-not-be-shown")
    await send.click()
    await page.getByText("401 Unauthorized").waitFor()
    expect(sent.filter((path) => path.startsWith("/v1/alias"))).toEqual(["/v1/alias/ada"])
    expect(await page.locator("main").textContent()).not.toContain("must-not-be-shown")
  })

  // On a phone only: showing all operations once takes seconds of CPU time.
  test("opens every operation, and none is too wide for a phone", async () => {
    await using tab = await app.open()
    const { page } = tab
    await page.setViewportSize({ width: 360, height: 740 })
    await page.goto("/docs")
    await heading(page, "API reference")
    // In the page: a click from outside takes ten times as long.
    const opened = await page.evaluate(async (names) => {
      const { body } = document
      const paths: Record<string, string | null | undefined> = {}
      const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve))
      for (const name of names) {
        document.querySelector<HTMLElement>(`nav a[href="/docs#${name}"]`)?.click()
        const find = () => document.querySelector("nav [aria-current][href*='#']")
        while (find()?.getAttribute("href") !== `/docs#${name}`) await nextFrame()
        if (body.scrollWidth > body.clientWidth) return `${name} is too wide`
        paths[name] = document.querySelector(".reference-endpoint .path")?.textContent
      }
      return paths
    }, routeNames)
    expect(opened).toEqual(Object.fromEntries(routeNames.map((name) => [name, routes[name].path])))
  })
})

async function heading(page: Page, name: string): Promise<void> {
  await page.getByRole("heading", { level: 1, name, exact: true }).waitFor()
}
