import { beforeAll, expect, test } from "bun:test"
import type { Person } from "../../dev/app-stage.ts"
import { describeApp } from "../support/describe-app.ts"
import { eventually } from "../support/eventually.ts"

describeApp("other users", (app) => {
  let ada: Person
  let bob: Person
  beforeAll(async () => {
    ada = await app.stage.person("ada")
    bob = await app.stage.person("bob")
    await ada.client.updateMe({ bio: "Writes <i>small</i> programs" })
    const base = await ada.client.createVal({
      name: "base",
      code: baseCode,
      privacy: "public",
      readme: "# Base\n\nWhat **others** build upon",
    })
    await ada.client.createVal({
      name: "diary",
      code: "export default 'not for you'",
      privacy: "private",
    })
    const middle = await bob.client.createVal({
      name: "middle",
      code: `import base from "${base.links.module}"\nexport default base\n`,
      privacy: "public",
    })
    await bob.client.createVal({
      name: "top",
      code: `import middle from "${middle.links.module}"\nexport default middle\n`,
      privacy: "public",
    })
  })

  test("the documentation is pages of the app that link to each other and can be searched", async () => {
    await using tab = await app.open()
    const { page } = tab
    await page.goto("/")
    await page.getByRole("link", { name: "Docs", exact: true }).click()
    await page.getByRole("heading", { level: 1, name: "Writing vals" }).waitFor()
    const text = page.locator(".docs-text")
    await text.getByRole("link", { name: "Configuration" }).first().click()
    await page.getByRole("heading", { level: 1, name: "Configuration" }).waitFor()
    expect(new URL(page.url()).pathname).toBe("/docs/configuration")
    await page.getByRole("searchbox").fill("daylight saving")
    await text
      .getByRole("link", { name: /^Schedules/ })
      .first()
      .click()
    await page.getByRole("heading", { level: 1, name: "Schedules" }).waitFor()
    expect(await page.getByRole("searchbox").inputValue()).toBe("")
    const raw = await page.getByRole("link", { name: "As Markdown" }).getAttribute("href")
    expect(raw).toBe("/docs/schedules.md")
    await page.goto("/docs/web-app")
    const picture = text.locator("img").first()
    await eventually(
      () => picture.evaluate((image: HTMLImageElement) => image.naturalWidth),
      (found) => expect(found).toBeGreaterThan(0),
    )
    expect(tab.problems).toEqual([])
  })

  test("a signed-out visitor sees public users and vals, and cannot change them", async () => {
    await using tab = await app.open()
    const { page } = tab
    await page.goto("/")
    await page.getByRole("link", { name: "ada/base" }).click()
    await page.getByText("Read only", { exact: true }).waitFor()
    await page.locator(".cm-content").filter({ hasText: "a ?. b" }).waitFor()
    await eventually(
      () => page.getByRole("button", { name: /likes/ }).isDisabled(),
      (found) => expect(found).toBe(true),
    )
    expect(await page.getByRole("button", { name: /Save|Fork/ }).count()).toBe(0)
    await page.getByRole("link", { name: "Discussion" }).click()
    await page.getByText("to comment").waitFor()
    await page.getByRole("link", { name: "ada", exact: true }).click()
    await page.getByText("Writes <i>small</i> programs").waitFor()
    await page.getByText("What others build upon").waitFor()
    await eventually(
      () => page.locator(".val-list .table-name").allTextContents(),
      (found) => expect(found).toEqual(["ada/base"]),
    )
    await page.goto("/u/ada/diary")
    await page.getByRole("heading", { name: "Not found" }).waitFor()
    await page.goto("/u/ada/base/settings")
    await page.getByRole("heading", { name: "Not found" }).waitFor()
    await page.goto("/runs")
    await page.getByText("Sign in to see this").waitFor()
    const response = await page.goto("/no/such/page?x=1")
    expect(response?.status()).toBe(404)
    await page.getByRole("heading", { name: "Not found" }).waitFor()
    await page.goto("/u/not%20a%20name/at-all")
    await page.getByRole("heading", { name: "Not found" }).waitFor()
    expect(tab.problems).toEqual([])
  })

  test("a user likes a val, comments on it, and undoes both", async () => {
    await using tab = await app.open(bob)
    const { page } = tab
    page.on("dialog", (dialog) => void dialog.accept())
    await page.goto("/u/ada/base")
    const like = page.getByRole("button", { name: /likes/ })
    await like.click()
    await page.getByRole("button", { name: "1 likes", pressed: true }).waitFor()
    await page.reload()
    await page.getByRole("button", { name: "1 likes", pressed: true }).click()
    await page.getByRole("button", { name: "0 likes", pressed: false }).waitFor()

    await page.getByRole("link", { name: "Discussion" }).click()
    await page
      .getByLabel("Your comment")
      .fill("Thanks, **really**.\n\n<img src=x>\n\n[a link](https://example.com/x)")
    await page.getByRole("button", { name: "Preview" }).click()
    await page.locator(".card strong").filter({ hasText: "really" }).waitFor()
    await page.getByRole("button", { name: "Comment", exact: true }).click()
    const comment = page.getByRole("listitem").filter({ hasText: "bob" })
    await comment.locator("strong").filter({ hasText: "really" }).waitFor()
    expect(await comment.getByRole("link", { name: "a link" }).getAttribute("rel")).toContain(
      "noopener",
    )
    expect(await comment.locator("img").count()).toBe(0)
    await comment.getByRole("button", { name: "Delete" }).click()
    await page.getByText("No comments yet").waitFor()
    expect(tab.problems).toEqual([])
  })

  test("the graph links from val to val", async () => {
    await using tab = await app.open(bob)
    const { page } = tab
    await page.goto("/u/ada/base/graph")
    const drawing = page.locator(".graph")
    await drawing.getByRole("link", { name: "bob/middle, imports it" }).click()
    await page.waitForURL("**/u/bob/middle/graph")
    await drawing.getByRole("link", { name: "bob/top, imports it" }).waitFor()
    await drawing.getByRole("link", { name: "ada/base, is imported" }).waitFor()
    await drawing.getByRole("link", { name: "bob/top, imports it" }).focus()
    await page.keyboard.press("Enter")
    await page.waitForURL("**/u/bob/top/graph")
    await page
      .getByRole("region", { name: "Imports" })
      .getByRole("link", { name: "bob/middle" })
      .waitFor()
    await eventually(
      () => drawing.getByRole("link").count(),
      (count) => expect(count).toBe(1),
    )
    expect(tab.problems).toEqual([])
  })

  test("a search marks its matches, letters or not", async () => {
    await using tab = await app.open()
    const { page } = tab
    await page.goto("/search")
    await page.getByRole("link", { name: "ada/base" }).waitFor()
    const box = page.getByRole("searchbox")
    const marks = page.locator("mark")
    for (const query of ["a ?. b", "OTHERS", `"100%_\\`, "base"]) {
      await box.fill(query)
      await marks
        .filter({ hasText: query.toLowerCase() === "others" ? "others" : query })
        .first()
        .waitFor()
      await page.waitForURL((url) => url.searchParams.get("q") === query)
      await page.getByRole("link", { name: "ada/base" }).waitFor()
    }
    await page.goto("/search?q=not+for+you")
    await page.getByText("No val matches").waitFor()
    await page.getByRole("link", { name: "Explore" }).click()
    await page.getByRole("link", { name: "ada/base" }).waitFor()
    await eventually(
      () => box.inputValue(),
      (value) => expect(value).toBe(""),
    )
    expect(tab.problems).toEqual([])
  })
})

const baseCode = `// a ?. b, "100%_\\\\ <script>"
export default function base() {
  return "base"
}
`
