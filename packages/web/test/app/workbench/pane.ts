import { expect, test } from "bun:test"
import type { Page } from "playwright-core"
import { expectNoBarriers } from "../../support/check-page.ts"
import type { App } from "../../support/describe-app.ts"
import { eventually, seeNote } from "../../support/eventually.ts"
import {
  findEditor,
  findStatus,
  findVersion,
  makeVal,
  replaceText,
} from "../../support/val-page.ts"

const html = `{ headers: { "content-type": "text/html" } }`

/** A val with two web pages, of which one uses a module. */
async function makeShop(app: App, privacy: "public" | "private" = "private") {
  const code = `import { word } from "./lib/word.ts"
export default () => new Response("<h1>shop " + word + "</h1>", ${html})`
  const val = await makeVal(app.stage.admin, { code, type: "http", privacy, readme: "# Read me" })
  const { files } = await app.stage.admin.client.changeFiles({
    val_id: val.id,
    note: "Add an office",
    changes: [
      { path: "lib/word.ts", type: "script", content: `export const word = "one"` },
      {
        path: "office.ts",
        type: "http",
        content: `export default () => new Response("<h1>office</h1>", ${html})`,
      },
    ],
  })
  return { ...val, files }
}

/** What is beside the code, by the file that it is about. */
export function definePane(app: App): void {
  test("stays at the file that runs while a module is edited, and follows the choice", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeShop(app)
    await page.goto(val.path)
    await page.getByRole("button", { name: "Run", exact: true }).click()
    const frame = page.frameLocator("iframe")
    await frame.getByText("shop one").waitFor()
    await openFile(page, val.path, "lib/word.ts")
    const choice = page.getByLabel("File that runs")
    await eventually(
      () => choice.locator("option:checked").textContent(),
      (label) => expect(label).toBe("main.tsx · HTTP"),
    )
    const editor = await findEditor(page)
    await replaceText(page, editor, `export const word = "two"`)
    await page.keyboard.press("Control+Enter")
    await frame.getByText("shop two").waitFor()
    // The page is that of the chosen file, at once.
    await choice.selectOption({ label: "office.ts · HTTP" })
    await frame.getByText("office").waitFor()
    const office = val.files.find(({ path }) => path === "office.ts")
    await page
      .getByRole("button", { name: `Copy the address: ${office?.links.endpoint}/` })
      .waitFor()
    // The module is still in the editor.
    await editor.getByText(`"two"`).waitFor()
    await openDrawer(page)
    const runs = page.locator(".drawer-run")
    await eventually(
      () => runs.count(),
      (count) => expect(count).toBeGreaterThan(2),
    )
    await page.getByLabel("Runs of").selectOption({ label: "office.ts" })
    await eventually(
      () => runs.allInnerTexts(),
      (texts) => expect(texts.map((text) => text.includes("office.ts"))).toEqual([true]),
    )
    await expectNoBarriers(page)
    expect(own.problems).toEqual([])
  })

  test("lists the problems of all files, each with its line", async () => {
    await using own = await app.openTyped()
    const { page } = own
    const val = await makeShop(app)
    await page.goto(val.path)
    await openFile(page, val.path, "lib/word.ts")
    const editor = await findEditor(page)
    await replaceText(page, editor, `// 1\n// 2\nexport const words: number = "one"`)
    await openFile(page, val.path, "office.ts")
    const problems = page.getByRole("button", { name: /^Problems/ })
    await problems.getByText("2").waitFor()
    await problems.click()
    const list = page.getByRole("list", { name: "Problems" })
    await list.getByText("main.tsx:1").waitFor()
    await expectNoBarriers(page)
    await eventually(
      () => list.getByRole("button").allInnerTexts(),
      (texts) =>
        expect(texts.map((text) => text.replace(/\s+/g, " "))).toEqual([
          "lib/word.ts:3 Type 'string' is not assignable to type 'number'",
          `main.tsx:1 '"./lib/word.ts"' has no exported member named 'word'. Did you mean 'words'?`,
        ]),
    )
    await list.getByText("lib/word.ts:3").click()
    await page.locator(".cm-activeLine:visible").filter({ hasText: "words: number" }).waitFor()
    await replaceText(page, editor, `export const word = "one"`)
    await page.getByText("No problems found").waitFor()
    expect(own.problems).toEqual([])
  })

  test("shares the addresses of a val, and changes who can open it", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeShop(app)
    await page.goto(val.path)
    await page.getByRole("button", { name: "Share" }).click()
    const dialog = page.getByRole("dialog", { name: `Share ${val.name}` })
    await dialog.getByRole("region", { name: "App", exact: true }).getByText("http").waitFor()
    await dialog.getByText("the val is private").waitFor()
    expect(await dialog.getByRole("region", { name: "Code in another page" }).count()).toBe(0)
    await seeNote(page, "Unlisted: anyone with its address can see it", () =>
      dialog.getByLabel("Who can open it").selectOption("unlisted"),
    )
    expect((await app.stage.admin.client.getVal({ val_id: val.id })).privacy).toBe("unlisted")
    await dialog
      .getByRole("region", { name: "Code in another page" })
      .getByText(`/embed/root/${val.name}`)
      .waitFor()
    await dialog.getByText(`import ${val.name} from "`).waitFor()
    await expectNoBarriers(page)
    await page.keyboard.press("Escape")
    await findVersion(page, 2).click()
    await page.getByRole("menuitem", { name: "v2 Add an office" }).waitFor()
    await page.getByRole("menuitem", { name: "All versions" }).click()
    await page.getByRole("region", { name: "Versions" }).waitFor()
    expect(own.problems).toEqual([])
  })

  test("previews unsaved files in draft mode, and saves them only when asked", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const { client } = app.stage.admin
    const val = await makeShop(app)
    await client.updateVal({ val_id: val.id, privacy: "unlisted" })
    const listBranches = async () =>
      (await client.listBranches({ val_id: val.id })).data.map(({ name }) => name)
    await page.goto(val.path)
    await findEditor(page)
    await page.getByRole("button", { name: "More" }).click()
    await page.getByRole("menuitem", { name: "Turn draft mode on" }).click()
    await page.getByText("Those who can open this val can read it").waitFor()
    await page.getByRole("button", { name: "Turn on", exact: true }).click()
    const frame = page.frameLocator("iframe")
    await openFile(page, val.path, "lib/word.ts")
    const editor = await findEditor(page)
    for (const word of ["two", "three"]) {
      await replaceText(page, editor, `export const word = "${word}"`)
      await page.keyboard.press("Control+Enter")
      await frame.getByText(`shop ${word}`).waitFor()
      await page.getByText("Preview of unsaved files").waitFor()
      // Who has the address of the val can read its branches.
      await page.getByText("can read them on its branch draft").waitFor()
      expect((await client.getVal({ val_id: val.id })).version).toBe(2)
    }
    await findStatus(page, "Unsaved changes").waitFor()
    expect(await listBranches()).toEqual(["main", "draft"])
    // The names are not cut while there is anything else that can get narrower.
    for (const width of [1440, 1280, 1120]) {
      await page.setViewportSize({ width, height: 800 })
      const isCut = (part: Element) => part.scrollWidth > part.clientWidth
      const names = await page.locator("h1 > a, h1 > span[title]").all()
      expect(await Promise.all(names.map((name) => name.evaluate(isCut)))).toEqual([false, false])
    }
    await expectNoBarriers(page)
    // The page remembers draft mode and what was typed.
    await page.reload()
    await editor.getByText(`"three"`).waitFor()
    await page.getByRole("button", { name: "Preview", exact: true }).click()
    await frame.getByText("shop three").waitFor()
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await findVersion(page, 3).waitFor()
    await eventually(listBranches, (names) => expect(names).toEqual(["main"]))
    await eventually(
      () => page.getByText("Preview of unsaved files").count(),
      (count) => expect(count).toBe(0),
    )
    // A branch of that name which a person has made is not touched.
    const mine = await client.createBranch({ val_id: val.id, name: "draft" })
    await client.changeFiles({
      val_id: val.id,
      branch_id: mine.id,
      changes: [{ path: "mine.ts", type: "script", content: "export default 1" }],
    })
    await replaceText(page, editor, `export const word = "four"`)
    await page.keyboard.press("Control+Enter")
    await page.getByText("yours has versions of its own").waitFor()
    expect(await client.getBranch({ val_id: val.id, branch_id: mine.id })).toMatchObject({
      version: mine.version + 1,
    })
    expect(own.problems).toEqual([])
  })
}

/** Shows a file in the editor, as a link to it does. */
async function openFile(page: Page, path: string, file: string): Promise<void> {
  await page.evaluate(
    (href) => {
      const link = document.createElement("a")
      link.href = href
      document.body.append(link)
      link.click()
      link.remove()
    },
    `${path}?file=${encodeURIComponent(file)}`,
  )
  await page.getByRole("textbox", { name: new RegExp(`/${file}$`) }).waitFor()
}

async function openDrawer(page: Page): Promise<void> {
  const toggle = page.getByRole("button", { name: "Requests and logs" })
  if ((await toggle.getAttribute("aria-expanded")) === "false") await toggle.click()
}
