import { expect, test } from "bun:test"
import { describeApp } from "../support/describe-app.ts"
import { eventually, seeNote } from "../support/eventually.ts"
import {
  expectText,
  findEditor,
  findStatus,
  findVersion,
  makeVal,
  replaceText,
} from "../support/val-page.ts"

const dot =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

/** The types are loaded slowly on a busy machine. */
const typesMsMax = 120_000

describeApp("a val's page", (app) => {
  test("saves a version with Control-S and reports its number", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeVal(app.stage.admin, { code: "export default () => 1" })
    await page.goto(val.path)
    const editor = await findEditor(page)
    await findVersion(page, 1).waitFor()
    await replaceText(page, editor, "export default () => 2")
    await findStatus(page, "Unsaved changes").waitFor()
    await page.keyboard.press("Control+s")
    await findVersion(page, 2).waitFor()
    await findStatus(page, "Saved").waitFor()
    expect(await app.stage.admin.client.getVal({ val_id: val.id })).toMatchObject({
      version: 2,
      code: "export default () => 2",
    })
    // Nothing has changed: saving creates no version.
    await seeNote(page, "Nothing has changed since version 2", () =>
      page.keyboard.press("Control+s"),
    )
    expect(own.problems).toEqual([])
  })

  test("formats on save, once the palette was told so, and saves code that does not parse", async () => {
    await using own = await app.openTyped()
    const { page } = own
    const val = await makeVal(app.stage.admin, { code: "export default () => 1\n" })
    await page.goto(val.path)
    const editor = await findEditor(page)
    const choose = async (label: string) => {
      await page.keyboard.press("Control+k")
      const palette = page.getByRole("dialog", { name: "Command palette" })
      await palette.getByRole("combobox").fill(label)
      await palette.getByRole("option", { name: label, selected: true }).waitFor()
      await page.keyboard.press("Enter")
      await palette.waitFor({ state: "detached" })
    }
    const save = async (code: string, version: number) => {
      await replaceText(page, editor, code)
      await page.keyboard.press("Control+s")
      await findVersion(page, version).waitFor()
      return (await app.stage.admin.client.getVal({ val_id: val.id })).code
    }
    await choose("Format on save")
    expect(await save("const  a = 'a'\nexport  default ()=>a", 2)).toBe(
      "const a = 'a'\nexport default () => a\n",
    )
    // The error is said once, in the words of the mark in the editor. Code that does not parse is
    // not run, which would repeat it.
    await replaceText(page, editor, "export default (")
    await page.locator(".cm-lint-marker-error").hover({ timeout: typesMsMax })
    const mark = page.locator(".cm-tooltip-lint .cm-diagnosticText")
    const words = ((await mark.textContent()) ?? "").replace(/\.$/, "")
    await page.mouse.move(0, 0)
    await mark.waitFor({ state: "detached" })
    await page.keyboard.press("Control+Enter")
    await findVersion(page, 3).waitFor()
    expect((await app.stage.admin.client.getVal({ val_id: val.id })).code).toBe("export default (")
    await page
      .getByRole("alert")
      .filter({ hasText: `The code does not parse: ${words} (line 1)` })
      .waitFor()
    expect(await page.getByText(/parse|Cannot format|SyntaxError/).count()).toBe(1)
    expect((await app.stage.admin.client.listValRuns({ val_id: val.id })).data).toEqual([])
    // The browser remembers it, and the next page of this profile must not.
    await page.reload()
    await findEditor(page)
    await choose("Stop formatting on save")
    expect(await save("export  default 1", 4)).toBe("export  default 1")
    expect(own.problems).toEqual([])
  })

  test("saves and runs with arguments by Control-Enter", async () => {
    await using own = await app.openTyped()
    const { page } = own
    const val = await makeVal(app.stage.admin, { code: "export default () => 1" })
    await page.goto(val.path)
    const editor = await findEditor(page)
    await page.getByLabel("Arguments as JSON").fill("[6, 3]")
    await replaceText(page, editor, "export default (one: number, other: number) => one * other")
    await editor.press("Control+Enter")
    await page
      .getByRole("region", { name: "Return value" })
      .getByText("18", { exact: true })
      .waitFor()
    await findVersion(page, 2).waitFor()
    // The fields of the signature and the JSON say the same.
    const other = page.getByRole("textbox", { name: "other" })
    await other.waitFor({ timeout: typesMsMax })
    await eventually(
      () => page.getByRole("textbox", { name: "one" }).inputValue(),
      (found) => expect(found).toBe("6"),
    )
    await other.fill("4")
    await eventually(
      () => page.getByLabel("Arguments as JSON").inputValue(),
      (found) => expect(found).toBe("[6,4]"),
    )
    await other.press("Enter")
    await page
      .getByRole("region", { name: "Return value" })
      .getByText("24", { exact: true })
      .waitFor()
    await page.getByLabel("Arguments as JSON").fill("[6,")
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.getByRole("alert").filter({ hasText: "Cannot read the arguments" }).waitFor()
    expect(own.problems).toEqual([])
  })

  test("shows the log while a val runs, and cancels it", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const code = `export default async () => { console.log("begun"); await new Promise((done) => setTimeout(done, 500_000)); console.log("over") }`
    const val = await makeVal(app.stage.admin, { code })
    await page.goto(val.path)
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.getByRole("log").getByText("begun").waitFor()
    await page.locator(".status").getByText("Running").waitFor()
    // The run stays while another tab is shown.
    await page.getByRole("link", { name: "Versions" }).click()
    await page.getByRole("region", { name: "Changes", exact: true }).waitFor()
    await page.getByRole("link", { name: "Code", exact: true }).click()
    await page.getByRole("log").getByText("begun").waitFor()
    await page.getByRole("button", { name: "Cancel" }).click()
    await page.locator(".status").getByText("Cancelled").waitFor()
    expect(await page.getByRole("log").textContent()).not.toContain("over")
    expect(own.problems).toEqual([])
  })

  test("cancels a run that the server has not created yet", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const code = "export default () => new Promise((done) => setTimeout(done, 500_000))"
    const val = await makeVal(app.stage.admin, { code })
    const cancelled = Promise.withResolvers<void>()
    await page.route(`**/v1/vals/${val.id}/runs`, async (route) => {
      await cancelled.promise
      await route.continue()
    })
    await page.goto(val.path)
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.getByRole("button", { name: "Cancel" }).click()
    cancelled.resolve()
    await page.locator(".status").getByText("Cancelled").waitFor()
    expect(own.problems).toEqual([])
  })

  test("resumes following a run when the connection is lost", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeVal(app.stage.admin, { code: "export default () => 'there'" })
    let isLost = true
    await page.route(/\/v1\/runs\/[^/]+\/logs$/, (route) =>
      isLost ? route.abort() : route.fallback(),
    )
    // Otherwise the run may have ended before the page begins to follow it.
    await page.route(/\/v1\/runs\/[^/]+$/, async (route) => {
      const response = await route.fetch()
      const run = await response.json()
      await route.fulfill({
        response,
        json: isLost ? { ...run, status: "running", returnValue: null } : run,
      })
    })
    await page.goto(val.path)
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.getByText("The server does not respond; trying again…").waitFor()
    isLost = false
    await page.getByRole("region", { name: "Return value" }).getByText("there").waitFor()
    await page.unrouteAll({ behavior: "ignoreErrors" })
    expect(own.problems).toEqual([])
  })

  test("follows a run whose first responses are lost", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeVal(app.stage.admin, { code: "export default () => 'there'" })
    const stopping = { code: "unavailable", message: "The server is shutting down" }
    let reads = 0
    await page.route(/\/v1\/runs\/[^/]+$/, (route) => {
      reads += 1
      // Each is sent three times.
      if (reads <= 3) return route.abort()
      return reads <= 6 ? route.fulfill({ status: 503, json: stopping }) : route.fallback()
    })
    await page.goto(val.path)
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.getByRole("region", { name: "Return value" }).getByText("there").waitFor()
    await page.unrouteAll({ behavior: "ignoreErrors" })
    expect(own.problems).toEqual([])
  })

  test("waits for the record of a run that has just ended", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeVal(app.stage.admin, { code: "export default () => 'there'" })
    let isEnded = false
    let readsAfterEnd = 0
    await page.route(/\/v1\/runs\/[^/]+\/logs$/, async (route) => {
      const response = await route.fetch()
      isEnded = true
      await route.fulfill({ response })
    })
    await page.route(/\/v1\/runs\/[^/]+$/, async (route) => {
      const response = await route.fetch()
      readsAfterEnd += isEnded ? 1 : 0
      await route.fulfill({
        response,
        json: {
          ...(await response.json()),
          ...(readsAfterEnd < 2 ? { status: "running", returnValue: null } : {}),
        },
      })
    })
    await page.goto(val.path)
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.getByRole("region", { name: "Return value" }).getByText("there").waitFor()
    expect(readsAfterEnd).toBe(2)
    await page.unrouteAll({ behavior: "ignoreErrors" })
    expect(own.problems).toEqual([])
  })

  test("shows the returned value as a tree, a table and a picture", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const code = `export default (what: string) =>
      what === "picture" ? "data:image/png;base64,${dot}" : [{ name: "Ada", born: 1815 }, { name: "Grace", born: 1906 }]`
    const val = await makeVal(app.stage.admin, { code })
    await page.goto(val.path)
    const returned = page.getByRole("region", { name: "Return value" })
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await returned.getByText("born: ").first().waitFor()
    await returned.getByRole("button", { name: "Table" }).click()
    await returned.getByRole("columnheader", { name: "born" }).waitFor()
    expect(await returned.getByRole("cell").allInnerTexts()).toEqual([
      "Ada",
      "1815",
      "Grace",
      "1906",
    ])
    await page.getByLabel("Arguments as JSON").fill('"picture"')
    await page.getByLabel("Arguments as JSON").press("Enter")
    const picture = returned.getByRole("img", { name: "The returned value" })
    await picture.waitFor()
    expect(
      await picture.evaluate((image: HTMLImageElement) =>
        image.decode().then(() => image.naturalWidth),
      ),
    ).toBe(1)
    expect(own.problems).toEqual([])
  })

  test("links an error to its line", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const lines = Array.from({ length: 120 }, (_, index) => `// line ${index + 1}`)
    lines[99] = `export default function () { throw new TypeError("no good") }`
    const val = await makeVal(app.stage.admin, { code: lines.join("\n") })
    await page.goto(val.path)
    const editor = await findEditor(page)
    await page.getByRole("button", { name: "Run", exact: true }).click()
    const alert = page.getByRole("alert").filter({ hasText: "TypeError: no good" })
    await alert.getByRole("link", { name: `${val.name}.tsx:100` }).click()
    await editor.locator(".cm-activeLine").filter({ hasText: "no good" }).waitFor()
    expect(own.problems).toEqual([])
  })

  test("shows the readme, and lets its owner write it", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeVal(app.stage.admin, {
      code: "export default 1",
      readme: "# About *this*\n\n- [x] done\n- [ ] open\n\n```ts\nconst one = 1\n```",
    })
    await page.goto(`${val.path}/readme`)
    await page.getByRole("heading", { name: "About this" }).waitFor()
    await eventually(
      () => page.locator(".markdown li").allInnerTexts(),
      (found) => expect(found).toEqual(["☑ done", "☐ open"]),
    )
    await eventually(
      () => page.locator(".markdown pre .code-word").allTextContents(),
      (found) => expect(found).toEqual(["const"]),
    )
    await page.getByRole("button", { name: "Edit" }).click()
    const editor = page.getByRole("textbox", { name: `Code of root/${val.name}/README.md` })
    await editor.waitFor()
    await replaceText(page, editor, "## Other words")
    const preview = page.getByRole("region", { name: "Preview" })
    await preview.getByRole("heading", { name: "Other words" }).waitFor()
    // Another tab and back, and a reload: nothing is lost.
    const bar = page.getByRole("navigation", { name: "Val", exact: true })
    await bar.getByRole("link", { name: "Runs" }).click()
    await bar.getByRole("link", { name: "Readme" }).click()
    await page.getByRole("heading", { name: "Other words" }).waitFor()
    await bar.getByRole("link", { name: "Code" }).click()
    await editor.getByText("Other words").waitFor()
    await page.reload()
    await editor.getByText("Other words").waitFor()
    // The readme is saved elsewhere: the user sees the difference first.
    await app.stage.admin.client.updateVal({ val_id: val.id, readme: "from elsewhere" })
    await editor.press("Control+s")
    const dialog = page.getByRole("dialog")
    await dialog.getByText("from elsewhere").waitFor()
    expect((await app.stage.admin.client.getVal({ val_id: val.id })).readme).toBe("from elsewhere")
    await dialog.getByRole("button", { name: /^Save mine/ }).click()
    await eventually(
      async () => (await app.stage.admin.client.getVal({ val_id: val.id })).readme,
      (readme) => expect(readme).toBe("## Other words"),
    )
    // The preview gives way to the result of the file that runs.
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.getByRole("region", { name: "Return value" }).waitFor()
    await preview.waitFor({ state: "detached" })
    expect(own.problems).toEqual([])
  })

  test("changes name, privacy and type, and the address with the name", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeVal(app.stage.admin, { code: "export default () => new Response('hi')" })
    const taken = await makeVal(app.stage.admin, { code: "export default 1" })
    await page.goto(`${val.path}/settings`)
    await page.getByLabel("Name").fill(taken.name)
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByRole("alert").filter({ hasText: "Cannot" }).waitFor()
    await page.getByLabel("Name").fill("renamed")
    await page.getByLabel("Privacy").selectOption("public")
    await page.getByLabel("Type").selectOption("http")
    await page.getByRole("button", { name: "Save" }).click()
    await page.waitForURL("**/u/root/renamed/settings")
    await page.getByRole("heading", { name: /root.*renamed/ }).waitFor()
    await page.getByText("Public", { exact: true }).waitFor()
    expect(await app.stage.admin.client.getVal({ val_id: val.id })).toMatchObject({
      name: "renamed",
      privacy: "public",
      type: "http",
    })
    expect(own.problems).toEqual([])
  })

  test("is deleted by typing its name, and not before", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeVal(app.stage.admin, { code: "export default 1" })
    await page.goto(val.path)
    await replaceText(page, await findEditor(page), "export default 2")
    await page.getByRole("link", { name: "Settings" }).click()
    await page.getByRole("button", { name: "Delete…" }).click()
    const sure = page.getByRole("button", { name: "Delete permanently" })
    await page.getByLabel(/^Type its name/).fill(val.name.slice(0, -1))
    await eventually(
      () => sure.isDisabled(),
      (found) => expect(found).toBe(true),
    )
    await page.getByLabel(/^Type its name/).fill(val.name)
    await sure.click()
    await page.waitForURL(`${app.stage.url}/`)
    expect(
      await app.stage.admin.client.getVal({ val_id: val.id }).catch(({ status }) => status),
    ).toBe(404)
    const kept = () =>
      page.evaluate((id) => Object.keys(localStorage).filter((key) => key.includes(id)), val.id)
    await eventually(kept, (keys) => expect(keys).toEqual([]))
    expect(own.problems).toEqual([])
  })

  test("of another user can be read, liked and forked, and not changed", async () => {
    const ada = await app.stage.person("ada")
    const val = await makeVal(ada, { code: "export default () => 'mine'", privacy: "public" })
    await using own = await app.openOwn()
    const { page } = own
    await page.goto(val.path)
    const editor = await findEditor(page)
    await editor.focus()
    await page.keyboard.insertText("more")
    await expectText(editor, "export default () => 'mine'")
    await page.getByText("Read only", { exact: true }).waitFor()
    expect(await page.getByRole("button", { name: "Save" }).count()).toBe(0)
    expect(await page.getByRole("link", { name: "Settings" }).count()).toBe(0)
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.getByRole("region", { name: "Return value" }).getByText("mine").waitFor()
    await page.getByRole("button", { name: "0 likes" }).click()
    await page.getByRole("button", { name: "1 likes", pressed: true }).click()
    await page.getByRole("button", { name: "0 likes", pressed: false }).waitFor()
    await page.getByRole("button", { name: "Fork" }).click()
    await page.getByRole("heading", { name: new RegExp(`root.*${val.name}`) }).waitFor()
    await page.getByRole("button", { name: "Save" }).waitFor()
    const origin = val.path.replace("/u/", "")
    await page.getByText(`Forked from ${origin} v1`).waitFor()
    await page.getByRole("button", { name: "Fork" }).click()
    await page.getByRole("heading", { name: new RegExp(`root.*${val.name}_2`) }).waitFor()
    await page.goto(`${val.path}/graph`)
    const forks = page.getByRole("region", { name: "Forks" })
    await forks.getByRole("link", { name: `root/${val.name}`, exact: true }).waitFor()
    await page.goto(`${val.path}/settings`)
    await page.getByText("Not found").waitFor()
    expect(own.problems).toEqual([])
    await using visitor = await app.open()
    await visitor.page.goto(val.path)
    await visitor.page.getByText("Read only", { exact: true }).waitFor()
    await eventually(
      () => visitor.page.getByRole("button", { name: "0 likes" }).isDisabled(),
      (found) => expect(found).toBe(true),
    )
    expect(await visitor.page.getByRole("button", { name: "Fork" }).count()).toBe(0)
    expect(visitor.problems).toEqual([])
  })
})
