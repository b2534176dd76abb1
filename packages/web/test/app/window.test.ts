import { expect, test } from "bun:test"
import type { Page } from "playwright-core"
import { expectNoBarriers } from "../support/check-page.ts"
import { describeApp } from "../support/describe-app.ts"
import { eventually } from "../support/eventually.ts"
import { findTab, makeFiles, openVal } from "../support/files-page.ts"
import { findEditor, makeVal } from "../support/val-page.ts"

describeApp("the window of a val", (app) => {
  test("ends in the editor after Ctrl P, New file and Create, with the tab in sight", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const names = Array.from({ length: 16 }, (_, at) => `a-file-with-a-name-${at}.ts`)
    const files = Object.fromEntries(names.map((name) => [name, "export const one = 1\n"]))
    const val = await makeFiles(app.stage.admin, { "main.tsx": "export default 1\n", ...files })
    await openVal(page, val.path)
    for (const name of names) {
      await page.keyboard.press("Control+p")
      await page.getByRole("combobox", { name: "A file of this val" }).waitFor()
      await page.keyboard.type(name)
      await page.getByRole("listbox").getByRole("option", { name }).first().waitFor()
      await page.keyboard.press("Enter")
      await waitForFocus(page, `/${name}`)
    }
    await expectInSight(page, names.at(-1) ?? "")
    await findTab(page, "main.tsx").focus()
    await page.keyboard.press("Home")
    await expectInSight(page, "main.tsx")
    await page.keyboard.press("End")
    await expectInSight(page, names.at(-1) ?? "")
    await page.getByRole("button", { name: "New file" }).first().click()
    await page.getByRole("dialog").getByLabel("Path").fill("made.ts")
    await page.keyboard.press("Enter")
    await waitForFocus(page, "/made.ts")
    await expectInSight(page, "made.ts")
    await page.goto("/new")
    await page.getByLabel("Name").fill("made_here")
    await page.getByRole("button", { name: "Create" }).click()
    await waitForFocus(page, "/made_here/main.tsx")
    expect(own.problems).toEqual([])
  })

  test("begins the order of Tab with the bar", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeFiles(app.stage.admin, { "main.tsx": "export default 1\n", "b.ts": "" })
    await page.goto("/")
    await page.getByRole("link", { name: val.name }).first().click()
    await findEditor(page)
    await page.keyboard.press("Tab")
    expect(await page.evaluate(() => document.activeElement?.closest(".val-bar") !== null)).toBe(
      true,
    )
    expect(own.problems).toEqual([])
  })

  test("keeps Versions, Branches, Runs and Settings in sight beside a branch", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const { client } = app.stage.admin
    const val = await makeVal(app.stage.admin, { code: "export default 1" })
    await client.createBranch({ val_id: val.id, name: "another-look" })
    for (const width of [1440, 1340]) {
      await page.setViewportSize({ width, height: 900 })
      await page.goto(`${val.path}?branch=another-look`)
      await findEditor(page)
      const tabs = page.getByRole("navigation", { name: "Val" })
      for (const name of ["Versions", "Branches", "Runs", "Settings"]) {
        const box = await tabs.getByRole("link", { name }).boundingBox()
        expect((box?.x ?? width) + (box?.width ?? 0)).toBeLessThan(width)
      }
      const isCut = await tabs.evaluate((nav) => nav.scrollWidth > nav.clientWidth)
      expect([width, isCut]).toEqual([width, false])
    }
    await expectNoBarriers(page)
    expect(own.problems).toEqual([])
  })

  test("offers visitors the app first", async () => {
    const val = await makeVal(app.stage.admin, {
      code: "export default () => new Response()",
      type: "http",
      privacy: "public",
    })
    const visitor = await app.stage.person("visitor")
    await using own = await app.open(visitor)
    const { page } = own
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 800 })
      await page.goto(val.path)
      const link = page.getByRole("link", { name: "Open the app" })
      await link.waitFor()
      expect(await link.getAttribute("href")).toBe(val.links.endpoint ?? "")
      await expectNoBarriers(page)
    }
    expect(own.problems).toEqual([])
  })

  test("shows the file that has the readable address first, whatever was added", async () => {
    const { client } = app.stage.admin
    const { id } = await client.createFolder({ name: "lasting", privacy: "public" })
    const code = "export default () => new Response()"
    for (const path of ["zebra.http.ts", "api.http.ts"])
      await client.createFile({ val_id: id, path, type: "http", content: code })
    await using own = await app.open()
    await own.page.goto(`/u/${app.stage.admin.username}/lasting`)
    const link = own.page.getByRole("link", { name: "Open the app" })
    await link.waitFor()
    expect(await link.getAttribute("href")).toMatch(/-lasting\./)
    await own.page.getByRole("tab", { name: /zebra\.http\.ts/ }).waitFor()
  })
})

/** Waits until the editor of a file has the focus. */
async function waitForFocus(page: Page, end: string): Promise<void> {
  await page.waitForFunction(
    (end) => document.activeElement?.getAttribute("aria-label")?.endsWith(end) === true,
    end,
  )
}

/** Waits until the whole tab of a file can be seen. */
async function expectInSight(page: Page, name: string): Promise<void> {
  await eventually(
    () =>
      findTab(page, name).evaluate((tab) => {
        const [one, list] = [tab, tab.parentElement ?? tab].map((element) =>
          element.getBoundingClientRect(),
        )
        return one && list && one.left >= list.left - 1 && one.right <= list.right + 1
      }),
    (isSeen) => expect(isSeen).toBe(true),
  )
}
