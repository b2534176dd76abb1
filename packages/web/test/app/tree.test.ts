import { describe, expect, test } from "bun:test"
import type { Locator, Page } from "playwright-core"
import { expectNoBarriers, findTooWide } from "../support/check-page.ts"
import { type App, describeApp } from "../support/describe-app.ts"
import { eventually } from "../support/eventually.ts"
import { findEditor, findStatus, findVersion, makeVal, replaceText } from "../support/val-page.ts"

describeApp("the tree of files", (app) => {
  describe("the tree", () => defineTree(app))
  describe("tabs, saving and drafts", () => defineTabs(app))
  describe("a narrow window", () => defineNarrow(app))
})

const module = "export const value = 1\n"

/** A val with folders and a file for each trigger. */
async function makeFiles(app: App) {
  const { admin } = app.stage
  const val = await makeVal(admin, {
    code: "export default () => new Response('')\n",
    type: "http",
  })
  const { client } = admin
  await client.changeFiles({
    val_id: val.id,
    branch_id: val.id,
    changes: [
      { path: "nightly.ts", type: "interval", content: "export default () => 1\n" },
      { path: "inbox.ts", type: "email", content: "export default () => 1\n" },
      {
        path: "seed.ts",
        type: "script",
        content: `export default () => { throw new Error("no") }\n`,
      },
      { path: "lib/dates.ts", type: "script", content: module },
      { path: "lib/format.ts", type: "script", content: module },
      { path: "notes.txt", type: "file", content: "one\n" },
    ],
  })
  const listPaths = async () => {
    const { data } = await client.listFiles({
      val_id: val.id,
      branch_id: val.id,
      path: "",
      recursive: true,
      limit: 100,
      offset: 0,
    })
    return data
      .filter(({ type }) => type !== "directory")
      .map(({ path, type }) => `${path} ${type}`)
      .toSorted()
  }
  return { ...val, listPaths }
}

/** A row by the start of its accessible name. */
function findRow(page: Page, name: string): Locator {
  return page.getByRole("treeitem", { name: new RegExp(`^${RegExp.escape(name)}(,|$)`) })
}

async function listRows(page: Page): Promise<readonly (string | null)[]> {
  const rows = await page.getByRole("treeitem").all()
  return await Promise.all(rows.map((row) => row.getAttribute("aria-label")))
}

async function expectFocus(row: Locator): Promise<void> {
  await eventually(
    () => row.evaluate((element) => element === document.activeElement),
    (isFocused) => expect(isFocused).toBe(true),
  )
}

function defineTree(app: App): void {
  test("is not there for one file, which has a quiet way to a second", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeVal(app.stage.admin, { code: "export default 1", readme: "# It" })
    await page.goto(val.path)
    await findEditor(page)
    expect(await page.getByRole("tree").count()).toBe(0)
    await page.getByRole("button", { name: "+ file" }).click()
    const dialog = page.getByRole("dialog", { name: "New file" })
    await dialog.getByLabel("Path").fill("MAIN.tsx")
    await dialog.getByText("paths must differ in more than case").waitFor()
    expect(await dialog.getByRole("button", { name: "Create" }).isDisabled()).toBe(true)
    await dialog.getByLabel("Path").fill("lib/hello.ts")
    await dialog.getByRole("combobox", { name: /^Type/ }).selectOption("http")
    await dialog.getByRole("button", { name: "Create" }).click()
    await eventually(
      () => listRows(page),
      (rows) => expect(rows).toEqual(["lib, folder", "hello.ts, HTTP, new", "main.tsx, script"]),
    )
    const editor = await findEditor(page)
    await editor.getByText("Response.json").waitFor()
    await page.keyboard.press("Control+s")
    await findVersion(page, 2).waitFor()
    await findRow(page, "hello.ts").waitFor()
    await page.getByRole("treeitem", { name: "hello.ts, HTTP", exact: true }).waitFor()
    expect(own.problems).toEqual([])
  })

  test("shows what starts a file, its next time, and that its last run failed", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeFiles(app)
    const { client } = app.stage.admin
    await client.putSchedule({ val_id: val.id, file: "nightly.ts", every: "1h" })
    await client.createRun({ val_id: val.id, file: "seed.ts", args: [] })
    const read = () => client.listValRuns({ val_id: val.id })
    await eventually(read, ({ data }) => {
      const run = data.find(({ file }) => file?.path === "seed.ts")
      expect(run?.status).toBe("failed")
    })
    await page.goto(val.path)
    await eventually(
      () => listRows(page),
      (rows) =>
        expect(rows).toEqual([
          "lib, folder",
          "dates.ts",
          "format.ts",
          "inbox.ts, email",
          "main.tsx, HTTP",
          expect.stringMatching(/^nightly.ts, interval, next at /),
          "notes.txt",
          "seed.ts, script, last run failed",
        ]),
    )
    const badge = findRow(page, "nightly.ts").locator(".tree-badge")
    expect(await badge.getAttribute("data-text")).toMatch(/^\d\d:\d\d$/)
    await expectNoBarriers(page)
    await page.emulateMedia({ colorScheme: "dark" })
    await expectNoBarriers(page)
    await page.keyboard.press("Control+b")
    await page.getByRole("tree").waitFor({ state: "detached" })
    await page.getByRole("button", { name: "Files beside the code" }).click()
    await page.getByRole("tree").waitFor()
    for (const width of [900, 1240, 2560]) {
      await page.setViewportSize({ width, height: 800 })
      await eventually(
        () => findTooWide(page),
        (found) => expect({ width, found }).toEqual({ width, found: [] }),
      )
    }
    expect(own.problems).toEqual([])
  })

  test("is used with the keyboard alone: open, fold, rename, delete and undo", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeFiles(app)
    await page.goto(val.path)
    await findRow(page, "main.tsx").focus()
    await page.keyboard.press("Home")
    await expectFocus(findRow(page, "lib"))
    await page.keyboard.press("ArrowLeft")
    await findRow(page, "dates.ts").waitFor({ state: "detached" })
    // The page remembers which folders are open.
    await page.reload()
    await findRow(page, "lib").waitFor()
    expect(await findRow(page, "dates.ts").count()).toBe(0)
    await findRow(page, "lib").focus()
    await page.keyboard.press("ArrowRight")
    await findRow(page, "dates.ts").waitFor()
    await page.keyboard.press("ArrowRight")
    await expectFocus(findRow(page, "dates.ts"))
    await page.keyboard.press("Enter")
    await page.getByRole("tab", { name: "dates.ts", selected: true }).waitFor()
    await page.keyboard.press("F2")
    const field = page.getByRole("textbox", { name: "New name of dates.ts" })
    await field.waitFor()
    await page.keyboard.insertText("format")
    await page.keyboard.press("Enter")
    await page.getByRole("alert").filter({ hasText: "there is a file with that name" }).waitFor()
    await field.fill("times.ts")
    await page.keyboard.press("Enter")
    await page.getByRole("tab", { name: /^times.ts/, selected: true }).waitFor()
    await expectFocus(findRow(page, "times.ts"))
    await page.keyboard.press("Delete")
    await page.getByRole("treeitem", { name: "times.ts, deleted" }).waitFor()
    await page.getByRole("button", { name: "Undo", exact: true }).click()
    await page.getByRole("treeitem", { name: "times.ts, unsaved" }).waitFor()
    await findRow(page, "notes.txt").focus()
    await page.keyboard.press("Shift+F10")
    await page.getByRole("menuitem", { name: "Rename" }).waitFor()
    await page.getByRole("menuitemradio", { name: "File", checked: true }).waitFor()
    await page.keyboard.press("Escape")
    await expectFocus(findRow(page, "notes.txt"))
    await page.keyboard.press("Delete")
    await page.getByRole("treeitem", { name: "notes.txt, deleted" }).waitFor()
    await findRow(page, "seed.ts").focus()
    await page.keyboard.press("Shift+F10")
    await page.getByRole("menuitemradio", { name: "Interval" }).click()
    await findRow(page, "seed.ts, interval").waitFor()
    await expectNoBarriers(page)
    await page.keyboard.press("Control+s")
    await findVersion(page, 3).waitFor()
    expect(await val.listPaths()).toEqual([
      "inbox.ts email",
      "lib/format.ts script",
      "lib/times.ts script",
      "main.tsx http",
      "nightly.ts interval",
      "seed.ts interval",
    ])
    expect(own.problems).toEqual([])
  })

  test("moves files and folders by dragging, and refuses what would be in the way", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeFiles(app)
    await page.goto(val.path)
    await findRow(page, "notes.txt").dragTo(findRow(page, "lib"))
    await page.locator("[title='lib/notes.txt']").waitFor()
    await findRow(page, "dates.ts").dragTo(findRow(page, "main.tsx"))
    await page.locator(".tree-row[title='dates.ts']").waitFor()
    await page.getByRole("button", { name: "New file" }).click()
    await page.getByRole("dialog").getByLabel("Path").fill("lib/dates.ts")
    await page.getByRole("button", { name: "Create" }).click()
    await page.locator(".tree-row[title='lib/dates.ts']").dragTo(findRow(page, "main.tsx"))
    await page.getByText(`Cannot use "dates.ts": there is a file with that name`).waitFor()
    await page.keyboard.press("Control+s")
    await findVersion(page, 3).waitFor()
    expect(await val.listPaths()).toEqual([
      "dates.ts script",
      "inbox.ts email",
      "lib/dates.ts script",
      "lib/format.ts script",
      "lib/notes.txt file",
      "main.tsx http",
      "nightly.ts interval",
      "seed.ts script",
    ])
    expect(own.problems).toEqual([])
  })

  test("takes files that are dropped on a folder, and asks before it replaces a text", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeFiles(app)
    await page.goto(val.path)
    await findRow(page, "lib").waitFor()
    const asked = page.waitForEvent("dialog")
    const dropped = dropFiles(findRow(page, "lib"), {
      "dates.ts": "export const dropped = 1\n",
      "more.http.ts": "export default () => new Response()\n",
      "photo.png": "x",
    })
    const dialog = await asked
    expect(dialog.message()).toContain("Replace the text of 1 file? lib/dates.ts")
    await dialog.accept()
    await dropped
    await page.getByText("Added 2 files; left out 1 file: lib/photo.png").waitFor()
    await findRow(page, "more.http.ts, HTTP, new").waitFor()
    await page.getByRole("textbox", { name: /dates/ }).getByText("dropped").waitFor()
    await page.keyboard.press("Control+s")
    await findVersion(page, 3).waitFor()
    expect(await val.listPaths()).toContain("lib/more.http.ts http")
    expect(own.problems).toEqual([])
  })
}

/** Drops files from outside on a row, as the browser does. */
async function dropFiles(row: Locator, files: Readonly<Record<string, string>>): Promise<void> {
  await row.evaluate((element, given) => {
    const dataTransfer = new DataTransfer()
    for (const [name, text] of Object.entries(given)) dataTransfer.items.add(new File([text], name))
    for (const kind of ["dragover", "drop"])
      element.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer }))
  }, files)
}

function defineTabs(app: App): void {
  test("follow the keyboard, also while the address follows the tabs", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeFiles(app)
    await page.goto(`${val.path}?file=lib/dates.ts`)
    await page.getByRole("textbox", { name: /dates/ }).waitFor()
    const open = page.getByRole("tablist", { name: "Open files" })
    await page.getByRole("treeitem", { name: "main.tsx" }).click()
    await open.getByRole("tab", { name: "main.tsx", selected: true }).waitFor()
    await page.waitForFunction(() => !location.search.includes("file"))
    await open.getByRole("tab", { name: "dates.ts" }).click()
    await page.waitForFunction(() => location.search.includes("dates"))
    // The second key comes when the first one has changed the address, and the page is not rendered yet.
    const frames = 20
    await open.evaluate(async (list, count) => {
      const press = (key: string) =>
        list.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }))
      const pressed = Promise.withResolvers<void>()
      const replaceState = history.replaceState.bind(history)
      history.replaceState = (...args) => {
        history.replaceState = replaceState
        replaceState(...args)
        queueMicrotask(() => pressed.resolve(void press("ArrowRight")))
      }
      press("ArrowLeft")
      await pressed.promise
      for (let frame = 0; frame < count; frame++) await new Promise(requestAnimationFrame)
    }, frames)
    expect(await open.getByRole("tab", { selected: true }).textContent()).toStartWith("dates.ts")
    expect(new URL(page.url()).searchParams.get("file")).toBe("lib/dates.ts")
    expect(own.problems).toEqual([])
  })

  test("have an arrow only while some of them are outside", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeFiles(app)
    await page.goto(val.path)
    const open = page.getByRole("tablist", { name: "Open files" })
    for (const name of ["format.ts", "inbox.ts", "nightly.ts", "seed.ts", "notes.txt"]) {
      await findRow(page, name).click()
      await open.getByRole("tab", { name, selected: true }).waitFor()
    }
    await open.getByRole("tab", { name: "main.tsx" }).click()
    await page.setViewportSize({ width: 390, height: 844 })
    const hasArrow = () => open.evaluate((list) => list.hasAttribute("data-more-after"))
    await eventually(hasArrow, (found) => expect(found).toBe(true))
    // Nothing is scrolled, and the row keeps its size.
    for (const name of ["format.ts", "inbox.ts"])
      await open.getByRole("tab", { name }).locator(".file-tab-close").click()
    await eventually(hasArrow, (found) => expect(found).toBe(false))
    expect(own.problems).toEqual([])
  })

  test("keep selection, scroll position and undo, and Control-P opens any file", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeFiles(app)
    await page.goto(val.path)
    await findEditor(page)
    await page.keyboard.press("Control+p")
    await page.getByRole("combobox", { name: "A file of this val" }).fill("ldat")
    const matches = page.getByRole("listbox", { name: "Matches" })
    await matches.getByRole("option", { name: "lib/dates.ts" }).waitFor()
    await page.keyboard.press("Enter")
    const dates = page.getByRole("textbox", { name: /dates/ })
    await dates.waitFor()
    const lines = Array.from({ length: 200 }, (_, index) => `// line ${index + 1}`).join("\n")
    await replaceText(page, dates, lines)
    const scroller = page.locator(".code-host:not([hidden]) .cm-scroller")
    const readTop = () => scroller.evaluate((element) => element.scrollTop)
    const top = await eventually(readTop, (found) => expect(found).toBeGreaterThan(500))
    const open = page.getByRole("tablist", { name: "Open files" })
    await open.getByRole("tab", { name: "dates.ts (unsaved)", selected: true }).press("ArrowLeft")
    await open.getByRole("tab", { name: "main.tsx", selected: true }).waitFor()
    expect(await page.locator(".code-host:visible").count()).toBe(1)
    await expectFocus(open.getByRole("tab", { name: "main.tsx" }))
    await page.keyboard.press("ArrowRight")
    await dates.waitFor()
    await eventually(readTop, (found) => expect(found).toBe(top))
    // The tab has the focus a moment after it was chosen.
    await expectFocus(open.getByRole("tab", { name: "dates.ts (unsaved)", selected: true }))
    await dates.focus()
    await page.keyboard.insertText("!")
    await page.getByText("// line 200!").waitFor()
    // A new name changes none of them, and types follow it.
    await page.getByRole("treeitem", { name: "dates.ts, unsaved" }).press("F2")
    await page.getByRole("textbox", { name: "New name of dates.ts" }).fill("dates.tsx")
    await page.keyboard.press("Enter")
    await open.getByRole("tab", { name: "dates.tsx (unsaved)", selected: true }).waitFor()
    await dates.focus()
    for (let turn = 0; turn < 4; turn++) await page.keyboard.press("Control+z")
    await dates.getByText("export const value = 1").waitFor()
    await page.keyboard.press("Control+End")
    await page.keyboard.insertText("// more")
    // Closing keeps the changes, without a question.
    await open.getByRole("tab", { name: "dates.tsx (unsaved)" }).click({ button: "middle" })
    await open.getByRole("tab", { name: "main.tsx", selected: true }).waitFor()
    await page.getByRole("treeitem", { name: "dates.tsx, unsaved" }).click()
    await dates.getByText("// more").waitFor()
    await open.getByRole("tab", { name: "dates.tsx (unsaved)" }).locator(".file-tab-close").click()
    await dates.waitFor({ state: "detached" })
    await expectNoBarriers(page)
    expect(own.problems).toEqual([])
  })

  test("save three changed files as one version with a note, after a look at them", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeFiles(app)
    await page.goto(val.path)
    await replaceText(page, await findEditor(page), "export default () => new Response('two')\n")
    await findStatus(page, "Unsaved changes").waitFor()
    expect(await page.getByRole("button", { name: /files changed/ }).count()).toBe(0)
    await findRow(page, "format.ts").click()
    const format = page.getByRole("textbox", { name: /format/ })
    await replaceText(page, format, "export const changed = 2\n")
    await findRow(page, "notes.txt").focus()
    await page.keyboard.press("Delete")
    await findRow(page, "inbox.ts").focus()
    await page.keyboard.press("F2")
    await page.keyboard.insertText("letters")
    await page.keyboard.press("Enter")
    // Drafts of all of them survive.
    await findRow(page, "letters.ts").waitFor()
    await page.reload()
    await findRow(page, "letters.ts, email, unsaved").waitFor()
    await page.getByRole("treeitem", { name: "notes.txt, deleted" }).waitFor()
    await page.getByRole("button", { name: "4 files changed" }).click()
    const dialog = page.getByRole("dialog", { name: "Unsaved changes" })
    await dialog.getByText("4 files: 2 changed, 1 moved, 1 deleted", { exact: true }).waitFor()
    await dialog.getByRole("button", { name: "moved inbox.ts → letters.ts" }).waitFor()
    await dialog.getByRole("button", { name: "changed lib/format.ts" }).waitFor()
    await dialog.getByText("export const changed = 2").waitFor()
    await expectNoBarriers(page)
    await dialog.getByRole("button", { name: "Discard the changes of letters.ts" }).click()
    await dialog.getByText("3 files: 2 changed, 1 deleted", { exact: true }).waitFor()
    await page.getByLabel("Note for this version").fill("Three at once")
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click()
    await findVersion(page, 3).waitFor()
    const { data } = await app.stage.admin.client.listVersions({ val_id: val.id })
    expect(data[0]).toMatchObject({ version: 3, note: "Three at once" })
    expect(await val.listPaths()).toEqual([
      "inbox.ts email",
      "lib/dates.ts script",
      "lib/format.ts script",
      "main.tsx http",
      "nightly.ts interval",
      "seed.ts script",
    ])
    const deleted = ["dates.ts", "seed.ts"]
    for (const name of deleted) {
      await findRow(page, name).focus()
      await page.keyboard.press("Delete")
    }
    await page.getByRole("button", { name: "2 files changed" }).click()
    for (const name of deleted)
      await dialog.getByRole("button", { name: new RegExp(`^Discard .*${name}$`) }).click()
    await dialog.getByText("Nothing has changed.").waitFor()
    expect(await dialog.getByText(/^\d+ files/).count()).toBe(0)
    expect(own.problems).toEqual([])
  })
}

function defineNarrow(app: App): void {
  test("shows the files, the code, the result or the runs", async () => {
    await using tab = await app.open(app.stage.admin)
    const { page } = tab
    const val = await makeFiles(app)
    await page.setViewportSize({ width: 899, height: 800 })
    await page.goto(val.path)
    const parts = page.getByRole("navigation", { name: "Parts of the val" })
    const regions = ["Files", "Code", "Result", "Requests and logs"]
    const listShown = async () => {
      const shown = await Promise.all(
        regions.map((name) => page.getByRole("region", { name, exact: true }).count()),
      )
      return regions.filter((_, at) => (shown[at] ?? 0) > 0)
    }
    const expectShown = (name: string) =>
      eventually(listShown, (shown) => expect(shown).toEqual([name]))
    await expectShown("Code")
    for (const width of [390, 899]) {
      await page.setViewportSize({ width, height: 800 })
      for (const [button, region] of [
        ["Files", "Files"],
        ["Preview", "Result"],
        ["Runs", "Requests and logs"],
        ["Code", "Code"],
      ] as const) {
        await parts.getByRole("button", { name: button, exact: true }).click()
        await expectShown(region)
        expect({ width, button, found: await findTooWide(page) }).toEqual({
          width,
          button,
          found: [],
        })
      }
    }
    await parts.getByRole("button", { name: "Files" }).click()
    await expectNoBarriers(page)
    await findRow(page, "format.ts").click()
    await expectShown("Code")
    await page.getByRole("textbox", { name: /format/ }).waitFor()
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await expectShown("Result")
    await page.setViewportSize({ width: 900, height: 800 })
    await eventually(listShown, (shown) => expect(shown).toEqual(regions))
    expect(tab.problems).toEqual([])
  })
}
