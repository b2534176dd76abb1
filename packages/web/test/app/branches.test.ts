import { expect, test } from "bun:test"
import type { Locator, Page } from "playwright-core"
import type { Person } from "../../dev/app-stage.ts"
import { expectNoBarriers } from "../support/check-page.ts"
import { describeApp } from "../support/describe-app.ts"
import { eventually } from "../support/eventually.ts"
import { expectText, makeVal, replaceText } from "../support/val-page.ts"

const base = ["one", "two", "three", "four", "five"]
const toText = (lines: readonly string[]) => `${lines.join("\n")}\n`

/** A val with several files and a branch `try`. */
async function makeBranch(owner: Person) {
  const made = await makeVal(owner, { code: "export default 1\n", type: "http", privacy: "public" })
  const { client } = owner
  const write = (branchId: string, files: Readonly<Record<string, string | null>>) =>
    client.changeFiles({
      val_id: made.id,
      branch_id: branchId,
      changes: Object.entries(files).map(([path, content]) =>
        content === null ? { path, delete: true as const } : { path, content },
      ),
    })
  await write(made.id, { "lib/lines.txt": toText(base), "lib/old.txt": "old\n", "gone.txt": "x\n" })
  const branch = await client.createBranch({ val_id: made.id, name: "try" })
  const read = async (branchId: string, path: string) =>
    await (await client.getFileContent({ val_id: made.id, branch_id: branchId, path })).text()
  return { ...made, client, branch, write, read, branchesPath: `${made.path}/branches` }
}

function changes(page: Page): Locator {
  return page.getByRole("region", { name: "Changes", exact: true })
}

function mergePanel(page: Page): Locator {
  return page.getByRole("region", { name: "Merge try into main" })
}

describeApp("branches", (app) => {
  test("are made, chosen and deleted in a menu that a val without them hardly shows", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeVal(app.stage.admin, { code: "export default 1" })
    await page.goto(val.path)
    const menu = page.getByRole("button", { name: "Branch main" })
    await menu.waitFor()
    expect(await menu.textContent()).toBe("")
    expect(await page.getByRole("link", { name: "Branches" }).count()).toBe(0)
    await menu.focus()
    await page.keyboard.press("ArrowDown")
    const items = page.getByRole("menu", { name: "Branch main" })
    await items.getByRole("menuitemradio", { name: "main" }).waitFor()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    const dialog = page.getByRole("dialog", { name: "New branch" })
    await dialog.getByLabel("Name").fill("main")
    await dialog.getByRole("button", { name: "Create branch" }).click()
    await dialog
      .getByRole("alert")
      .getByText(/the val has one of that name/)
      .waitFor()
    await dialog.getByLabel("Name").fill("try.1")
    await dialog.getByRole("button", { name: "Create branch" }).click()
    await page.waitForURL("**?branch=try.1")
    const other = page.getByRole("button", { name: "Branch try.1" })
    await other.click()
    await page.getByRole("menuitemradio", { name: "try.1", checked: true }).waitFor()
    await page.getByRole("menuitemradio", { name: "main", checked: false }).waitFor()
    await expectNoBarriers(page)
    await page.getByRole("menuitemradio", { name: "main" }).click()
    await page.waitForURL((url) => !url.search.includes("branch"))
    await eventually(
      () => menu.textContent(),
      (text) => expect(text).toBe("main"),
    )
    await menu.click()
    await page.getByRole("menuitemradio", { name: "try.1" }).click()
    await other.click()
    await page.getByRole("menuitem", { name: "Delete this branch…" }).click()
    await page
      .getByRole("dialog", { name: "Delete branch try.1?" })
      .getByRole("button", { name: "Delete branch" })
      .click()
    await menu.waitFor()
    const { data } = await app.stage.admin.client.listBranches({ val_id: val.id })
    expect(data.map(({ name }) => name)).toEqual(["main"])
    expect(own.problems).toEqual([])
  })

  test("leave the tabs of the val a line of their own on a phone", async () => {
    await using tab = await app.open(app.stage.admin)
    const { page } = tab
    const val = await makeVal(app.stage.admin, { code: "export default 1" })
    await app.stage.admin.client.createBranch({ val_id: val.id, name: "feature-login" })
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(`${val.path}?branch=feature-login`)
    const run = page.getByRole("button", { name: "Run", exact: true })
    const code = page.getByRole("link", { name: "Code", exact: true })
    await run.waitFor()
    const places = async () => [await run.boundingBox(), await code.boundingBox()]
    await eventually(places, ([button, link]) => {
      expect((button?.y ?? 0) + (button?.height ?? 0)).toBeLessThanOrEqual(link?.y ?? 0)
      expect(button?.x).toBeGreaterThan(195)
    })
    expect(tab.problems).toEqual([])
  })

  test("have a page of their own, and are compared file by file", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeBranch(app.stage.admin)
    await val.write(val.branch.id, { "lib/new.txt": "new\n", "gone.txt": null })
    await val.client.changeFiles({
      val_id: val.id,
      branch_id: val.branch.id,
      changes: [{ path: "lib/old.txt", newPath: "moved.txt" }],
    })
    await val.write(val.id, { "lib/lines.txt": "other on main\n" })
    await page.goto(`${val.path}?branch=try`)
    await page.getByRole("button", { name: "Branch try" }).click()
    const preview = page.getByRole("menuitem", { name: "Open its page" })
    expect(await preview.getAttribute("href")).toMatch(/^http:\/\/\w+--[0-9a-f]{32}\./)
    await page.getByRole("menuitem", { name: "Compare and merge" }).click()
    const files = changes(page).getByRole("listitem")
    await eventually(
      () => files.getByRole("button", { expanded: true }).allTextContents(),
      (found) =>
        expect(found).toEqual([
          "−deleted gone.txt",
          "+added lib/new.txt",
          "→moved lib/old.txt → moved.txt",
        ]),
    )
    await changes(page).getByLabel("lib/new.txt: Changes on try").getByText("new").waitFor()
    await changes(page).getByText("Its text is the same.").waitFor()
    await expectNoBarriers(page)
    await changes(page).getByRole("combobox", { name: "Compared with" }).selectOption("main")
    await changes(page)
      .getByLabel("lib/lines.txt: Changes from main to try")
      .getByText("three")
      .waitFor()
    await changes(page).getByRole("combobox", { name: "Layout" }).selectOption("Side by side")
    await changes(page)
      .getByRole("textbox", { name: "lib/lines.txt: Changes from main to try: before" })
      .getByText("other on main")
      .waitFor()
    expect(own.problems).toEqual([])
  })

  test("are merged into main as one version with a note", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeBranch(app.stage.admin)
    await val.write(val.branch.id, { "lib/lines.txt": toText(["ONE", ...base.slice(1)]) })
    await val.write(val.branch.id, { "lib/new.txt": "new\n" })
    await val.write(val.id, { "lib/lines.txt": toText([...base.slice(0, 4), "FIVE"]) })
    await page.goto(`${val.branchesPath}?branch=try`)
    await page.getByRole("button", { name: "Merge into main…" }).click()
    const panel = mergePanel(page)
    await panel
      .getByLabel("lib/lines.txt: Changes on try")
      .getByText("ONE", { exact: true })
      .waitFor()
    await expectNoBarriers(page)
    await panel.getByLabel("Note").fill("Take the first line")
    await panel.getByRole("button", { name: "Merge into main" }).click()
    await panel.getByText("main has the changes of try as version 4").waitFor()
    expect(await val.read(val.id, "lib/lines.txt")).toBe(
      toText(["ONE", "two", "three", "four", "FIVE"]),
    )
    expect(await val.read(val.id, "lib/new.txt")).toBe("new\n")
    await panel.getByRole("link", { name: "version 4" }).click()
    await page.getByText("Take the first line").waitFor()
    await page.goBack()
    await changes(page).getByText("Nothing has changed on try since").waitFor()
    await page.getByRole("button", { name: "Merge into main…" }).click()
    await panel.getByText("try has no changes that main does not have").waitFor()
    await panel.getByRole("button", { name: "Merge into main" }).click()
    await panel.getByText("main already has all changes of try").waitFor()
    await panel.getByRole("button", { name: "Delete branch try…" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Delete branch" }).click()
    await page.getByText("There is only main").waitFor()
    expect(own.problems).toEqual([])
  })

  test("that conflict are decided file by file, and nothing typed is lost", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeBranch(app.stage.admin)
    const lines = (word: string) => toText(["one", `two of ${word}`, "three", "four", "five"])
    await val.write(val.branch.id, {
      "lib/lines.txt": lines("try"),
      "lib/old.txt": "old of try\n",
      "gone.txt": null,
    })
    await val.write(val.id, {
      "lib/lines.txt": lines("main"),
      "lib/old.txt": "old of main\n",
      "gone.txt": "changed\n",
    })
    await page.goto(`${val.branchesPath}?branch=try`)
    await page.getByRole("button", { name: "Merge into main…" }).click()
    const panel = mergePanel(page)
    const merge = panel.getByRole("button", { name: "Merge into main" })
    // The conflicts are known before anything is sent.
    await panel.getByText(/same lines of gone\.txt, lib\/lines\.txt, lib\/old\.txt\. The/).waitFor()
    await panel.getByLabel("Note").fill("Together")
    await merge.click()
    await panel.getByText("3 to decide").waitFor()
    expect(await merge.isDisabled()).toBe(true)
    // A file that one branch has deleted.
    await panel.getByRole("button", { name: "Delete it, as try" }).click()
    await panel.getByText("2 to decide").waitFor()
    // The next one is open: what each side did, then a choice and more typing.
    const result = panel.getByRole("textbox", { name: "Result of lib/lines.txt" })
    await result.getByText("<<<<<<< main").waitFor()
    await panel.getByRole("button", { name: "Changes on try" }).click()
    await panel.getByLabel("lib/lines.txt: changes on try").getByText("two of try").waitFor()
    await panel.getByRole("button", { name: "Result" }).click()
    await expectNoBarriers(page)
    await panel.getByRole("button", { name: "Take both" }).click()
    await expectText(result, "one\ntwo of main\ntwo of try\nthree\nfour\nfive\n")
    await replaceText(page, result, "typed by hand\n")
    await panel.getByRole("button", { name: "Use this text" }).click()
    await panel.getByRole("button", { name: "Take all of main" }).click()
    await panel.getByText("All are decided").waitFor()
    // The connection is lost while it is sent.
    await page.route("**/merge", (route) => route.abort())
    await merge.click()
    await panel.getByRole("alert").getByText("The server does not respond").waitFor()
    await page.unroute("**/merge")
    // Meanwhile main is saved: the changes are shown again, and then the same conflicts.
    await val.write(val.id, { "lib/old.txt": "newer of main\n" })
    await merge.click()
    await panel.getByText("A branch was saved meanwhile, so nothing was merged").waitFor()
    await merge.click()
    await panel.getByText("1 to decide").waitFor()
    await panel.getByRole("button", { name: /lib\/old\.txt/ }).click()
    await panel.getByText("Your text is still here").waitFor()
    await expectText(panel.getByRole("textbox", { name: "Result of lib/old.txt" }), "old of main\n")
    await panel.getByRole("button", { name: "Take all of main" }).click()
    await merge.click()
    await panel.getByText("main has the changes of try as version 5").waitFor()
    expect(await val.read(val.id, "lib/lines.txt")).toBe("typed by hand\n")
    expect(await val.read(val.id, "lib/old.txt")).toBe("newer of main\n")
    const { data } = await val.client.listFiles({ val_id: val.id, path: "", recursive: true })
    expect(data.map(({ path }) => path)).not.toContain("gone.txt")
    const history = await val.client.listHistory({ val_id: val.id })
    expect(history.data[0]).toMatchObject({ version: 5, note: "Together" })
    expect(own.problems).toEqual([])
  })

  test("of another user can be compared and nothing more, and deleted ones are missed", async () => {
    const val = await makeBranch(await app.stage.person("ada"))
    await val.write(val.branch.id, { "lib/new.txt": "new\n" })
    await using own = await app.openOwn()
    const { page } = own
    await page.goto(`${val.branchesPath}?branch=try`)
    await changes(page).getByLabel("Changes on try", { exact: true }).getByText("new").waitFor()
    expect(await page.getByRole("button", { name: /Merge|Delete|New branch/ }).count()).toBe(0)
    await val.client.deleteBranch({ val_id: val.id, branch_id: val.branch.id })
    await page.goto(`${val.path}/versions?branch=try`)
    await page.getByRole("heading", { name: "There is no branch try" }).waitFor()
    await page.getByRole("link", { name: "Go to main" }).click()
    await page.getByRole("region", { name: "Versions" }).getByText("current").waitFor()
    expect(own.problems).toEqual([])
  })

  test("with a thousand files and the longest text stay usable", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeVal(app.stage.admin, { code: "export default 1\n" })
    const { client } = app.stage.admin
    const branch = await client.createBranch({ val_id: val.id, name: "many" })
    const long = `${"a line that is long\n".repeat(12_799)}end`
    const names = Array.from({ length: 990 }, (_, index) => `file${1000 + index}.txt`)
    await client.changeFiles({
      val_id: val.id,
      branch_id: branch.id,
      changes: [
        { path: "a-long.txt", content: long },
        ...names.map((path) => ({ path, content: path })),
      ],
    })
    await page.goto(`${val.path}/branches?branch=many`)
    await changes(page).getByText("991 files added").waitFor()
    const rows = changes(page).getByRole("button", { expanded: false })
    expect(await rows.count()).toBe(100)
    await rows.first().click()
    await changes(page).getByRole("button", { name: "Show the difference of a-long.txt" }).click()
    await changes(page).getByLabel("a-long.txt: Changes on many").waitFor()
    await changes(page).getByRole("button", { name: "Show more of 991 files" }).click()
    await changes(page)
      .getByRole("button", { name: names[150] ?? "" })
      .click()
    await changes(page).getByLabel(`${names[150]}: Changes on many`).waitFor()
    expect(own.problems).toEqual([])
  })
})
