import { expect, test } from "bun:test"
import type { Person } from "../../dev/app-stage.ts"
import { expectNoBarriers } from "../support/check-page.ts"
import { describeApp } from "../support/describe-app.ts"
import { eventually } from "../support/eventually.ts"
import {
  expectText,
  findEditor,
  findStatus,
  findVersion,
  makeVal,
  replaceText,
} from "../support/val-page.ts"

describeApp("versions", (app) => {
  async function makeThree(owner: Person, privacy: "public" | "private" = "private") {
    const val = await makeVal(owner, { code: `export default () => "one"`, privacy })
    for (const word of ["two", "three"])
      await owner.client.createVersion({ val_id: val.id, code: `export default () => "${word}"` })
    return { ...val, versionsPath: `${val.path}/versions` }
  }

  test("leave the texts of files that have not changed since one that was deleted", async () => {
    const { client } = app.stage.admin
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeVal(app.stage.admin, { code: "export default 1" })
    await client.createFile({ val_id: val.id, path: "notes.txt", type: "file", content: "kept" })
    await client.createVersion({ val_id: val.id, code: "export default 2" })
    await client.deleteVersion({ val_id: val.id, version: 2 })
    await page.goto(`${val.path}?file=notes.txt`)
    const editor = page.getByRole("textbox", { name: /notes.txt$/ })
    await expectText(editor, "kept")
    await replaceText(page, editor, "changed")
    await page.keyboard.press("Control+s")
    await findVersion(page, 4).waitFor()
    await client.createVersion({ val_id: val.id, code: "export default 3" })
    await client.deleteVersion({ val_id: val.id, version: 4 })
    await page.goto(`${val.path}/settings`)
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download as .zip" }).click(),
    ])
    // The names of files are not compressed.
    expect(await Bun.file(await download.path()).text()).toContain("notes.txt")
    expect(own.problems).toEqual([])
  })

  test("are compared, any two of them, inline and side by side", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeThree(app.stage.admin)
    await page.goto(val.versionsPath)
    const rows = page.getByRole("region", { name: "Versions" }).getByRole("listitem")
    await rows.nth(2).waitFor()
    await eventually(
      () => rows.getByRole("link").allTextContents(),
      (found) => expect(found).toEqual(["v3", "v2", "v1"]),
    )
    const changed = page.getByRole("region", { name: "Changes", exact: true })
    const inline = (from: number, to: number) =>
      changed.getByLabel(`Changes from version ${from} to version ${to}`, { exact: true })
    await inline(2, 3).getByText('"three"').waitFor()
    await changed.getByText('"two"').waitFor()
    // Changed words have a background: a line through or under them would hide what they say.
    const marks = changed.locator(".cm-changedText, .cm-deletedText")
    const styles = () =>
      marks.evaluateAll((all) =>
        all.map((mark) => {
          const { textDecorationLine, backgroundColor } = getComputedStyle(mark)
          return [textDecorationLine, backgroundColor.endsWith(" 0)")]
        }),
      )
    await eventually(styles, (found) =>
      expect(found).toEqual([
        ["none", false],
        ["none", false],
      ]),
    )
    await changed.getByRole("combobox", { name: "From" }).selectOption("v1")
    await inline(1, 3).getByText('"three"').waitFor()
    await changed.getByText('"one"').waitFor()
    await changed.getByRole("combobox", { name: "Layout" }).selectOption("Side by side")
    await changed
      .getByRole("textbox", { name: "Changes from version 1 to version 3: before" })
      .getByText('"one"')
      .waitFor()
    await changed
      .getByRole("textbox", { name: "Changes from version 1 to version 3: after" })
      .getByText('"three"')
      .waitFor()
    await expectNoBarriers(page)
    await changed.getByRole("combobox", { name: "To" }).selectOption("v2")
    await changed
      .getByRole("textbox", { name: "Changes from version 1 to version 2: after" })
      .getByText('"two"')
      .waitFor()
    // The address contains the compared versions.
    await page.reload()
    await changed
      .getByRole("textbox", { name: "Changes from version 1 to version 2: after" })
      .getByText('"two"')
      .waitFor()
    await changed.getByRole("combobox", { name: "From" }).selectOption("v2")
    await changed.getByText("The code of both versions is the same").waitFor()
    await rows.first().getByRole("link", { name: "v3" }).click()
    await changed
      .getByRole("textbox", { name: "Changes from version 2 to version 3: after" })
      .waitFor()
    expect(own.problems).toEqual([])
  })

  test("that are old can be run", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeThree(app.stage.admin)
    await page.goto(val.versionsPath)
    await page.getByRole("button", { name: "Run version 1" }).click()
    await page.getByRole("link", { name: "Open the run" }).click()
    await page.waitForURL("**/runs/*")
    await page.getByText('"one"').waitFor()
    expect(own.problems).toEqual([])
  })

  test("are restored as new ones, and unsaved text is set aside", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeThree(app.stage.admin)
    await page.goto(val.path)
    const editor = await findEditor(page)
    await replaceText(page, editor, "export default () => 'typed'")
    await page.getByRole("link", { name: "Versions" }).click()
    const restore = page.getByRole("button", { name: "Restore version 1" })
    await restore.click()
    await page
      .getByRole("dialog", { name: "Restore version 1?" })
      .getByRole("button", { name: "Restore its code" })
      .click()
    await findVersion(page, 4).waitFor()
    // A second click at the same place must not restore another version.
    expect(await page.locator("[aria-label^='Restore version']:hover").count()).toBe(0)
    await page
      .getByRole("region", { name: "Changes", exact: true })
      .getByLabel("Changes from version 3 to version 4", { exact: true })
      .waitFor()
    expect(await app.stage.admin.client.getVal({ val_id: val.id })).toMatchObject({
      version: 4,
      code: val.code,
    })
    await page.getByRole("link", { name: "Code", exact: true }).click()
    await expectText(editor, val.code)
    await page.getByText(/Your unsaved text was set aside/).waitFor()
    await page.getByRole("button", { name: "Restore" }).click()
    await editor.getByText("'typed'").waitFor()
    // The restored text is based on version 3: saving shows the newer version, which the page may
    // find before.
    await findStatus(page, "Unsaved changes").or(findStatus(page, "Changed elsewhere")).waitFor()
    await editor.press("Control+s")
    await page
      .getByRole("dialog", { name: "Version 4 was saved elsewhere" })
      .getByRole("button", { name: "Save mine" })
      .click()
    await findVersion(page, 5).waitFor()
    expect(own.problems).toEqual([])
  })

  test("are deleted one by one, and the remaining ones can be compared", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeThree(app.stage.admin)
    await page.goto(val.versionsPath)
    await page.getByRole("button", { name: "Delete version 2" }).click()
    await page
      .getByRole("dialog", { name: "Delete version 2?" })
      .getByRole("button", { name: "Delete version 2" })
      .click()
    const changed = page.getByRole("region", { name: "Changes", exact: true })
    await changed.getByLabel("Changes from version 1 to version 3", { exact: true }).waitFor()
    await page.goto(`${val.versionsPath}?from=2&to=3`)
    await changed.getByText("Version 2 was deleted").waitFor()
    await page.getByRole("button", { name: "Delete version 3" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Delete version 3" }).click()
    await findVersion(page, 1).first().waitFor()
    await page.getByRole("button", { name: "Delete version 1" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Delete version 1" }).click()
    await page.getByText(/Cannot delete version 1: it is the only one/).waitFor()
    expect(own.problems).toEqual([])
  })

  test("of another user can be viewed and run, and nothing more", async () => {
    const val = await makeThree(await app.stage.person("ada"), "public")
    await using own = await app.openOwn()
    const { page } = own
    await page.goto(val.versionsPath)
    await page.getByRole("button", { name: "Run version 1" }).waitFor()
    expect(await page.getByRole("button", { name: /^(Restore|Delete) version/ }).count()).toBe(0)
    await using visitor = await app.open()
    await visitor.page.goto(val.versionsPath)
    await visitor.page
      .getByRole("region", { name: "Changes", exact: true })
      .getByText('"three"')
      .waitFor()
    expect(await visitor.page.getByRole("button", { name: /version/ }).count()).toBe(0)
    expect([...own.problems, ...visitor.problems]).toEqual([])
  })

  /** Six versions: two files, a push of three, an edit with a note. */
  async function makeFiles(owner: Person, branchId?: string, id?: string) {
    const made = id ?? (await makeVal(owner, { code: "export default 1\n" })).id
    const change = (
      changes: Parameters<typeof owner.client.changeFiles>[0]["changes"],
      note = "",
    ) =>
      owner.client.changeFiles({
        val_id: made,
        changes,
        ...(note === "" ? {} : { note }),
        ...(branchId === undefined ? {} : { branch_id: branchId }),
      })
    await change([{ path: "lib/a.txt", content: "first\n" }], "Add a library")
    for (const path of ["b.txt", "c.txt", "d.txt"]) await change([{ path, content: `${path}\n` }])
    await change(
      [
        { path: "lib/a.txt", newPath: "lib/moved.txt", content: "second\n" },
        { path: "b.txt", delete: true },
        { path: "c.txt", content: "changed\n" },
      ],
      "Tidy up",
    )
    const val = await owner.client.getVal({ val_id: made })
    return { ...val, versionsPath: `/u/${owner.username}/${val.name}/versions` }
  }

  const listPaths = async (owner: Person, val_id: string, branch_id = val_id) => {
    const { data } = await owner.client.listFiles({ val_id, branch_id, path: "", recursive: true })
    return data.flatMap(({ path, type }) => (type === "directory" ? [] : [path]))
  }

  test("of several files say what each has changed, and a push is one row", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeFiles(app.stage.admin)
    await page.goto(val.versionsPath)
    const versions = page.getByRole("region", { name: "Versions" })
    await versions.getByText("Tidy up").waitFor()
    await eventually(
      () => versions.locator(".table-name").allTextContents(),
      (found) => expect(found).toEqual(["v6", "v3 to v5", "v2", "v1"]),
    )
    const paths = versions.getByRole("list", { name: "Changed files" }).first()
    expect(await paths.getByRole("listitem").allTextContents()).toEqual([
      "−deleted b.txt",
      "~changed c.txt",
      "→moved lib/moved.txt",
    ])
    const changed = page.getByRole("region", { name: "Changes", exact: true })
    await changed.getByText("3 files: 1 changed, 1 moved, 1 deleted").waitFor()
    await changed.getByText("lib/a.txt → lib/moved.txt").waitFor()
    await changed
      .getByLabel("lib/moved.txt: Changes from version 5 to version 6")
      .getByText("second")
      .waitFor()
    await expectNoBarriers(page)
    await versions.getByRole("link", { name: "v3 to v5" }).click()
    await changed.getByText("3 files added").waitFor()
    await versions.getByRole("button", { name: "Show versions v3 to v5" }).click()
    await versions.getByRole("link", { name: "v4", exact: true }).click()
    await changed.getByLabel("Changes from version 3 to version 4").getByText("c.txt").waitFor()
    await changed.getByRole("link", { name: "Compare v4 with the newest" }).click()
    await changed.getByText("4 files: 1 added, 1 changed, 1 moved, 1 deleted").waitFor()
    await changed.getByRole("link", { name: "Compare v6 with the version before" }).click()
    await changed.getByText("3 files:").waitFor()
    expect(own.problems).toEqual([])
  })

  test("of one file are listed alone, and it is restored without the others", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const { admin } = app.stage
    const val = await makeFiles(admin)
    await page.goto(val.versionsPath)
    const versions = page.getByRole("region", { name: "Versions" })
    const changed = page.getByRole("region", { name: "Changes", exact: true })
    await versions.getByRole("link", { name: "c.txt" }).first().click()
    await versions.getByText("Versions that changed c.txt").waitFor()
    await eventually(
      () => versions.locator(".table-name").allTextContents(),
      (found) => expect(found).toEqual(["v6", "v4"]),
    )
    await changed.getByLabel("Changes from version 4 to version 6").getByText("changed").waitFor()
    await changed.getByRole("button", { name: "Restore v4 of c.txt" }).click()
    await page
      .getByRole("dialog", { name: "Restore v4 of c.txt?" })
      .getByRole("button", { name: "Restore the file" })
      .click()
    await versions.getByText("Restored c.txt of version 4").waitFor()
    expect(await listPaths(admin, val.id)).toEqual(["c.txt", "d.txt", "lib/moved.txt", "main.tsx"])
    const read = await admin.client.getFileContent({ val_id: val.id, path: "c.txt" })
    expect(await read.text()).toBe("c.txt\n")
    await versions.getByRole("button", { name: "Note of version 7" }).click()
    const note = page.getByRole("dialog", { name: "Note of version 7" })
    await note.getByLabel("Note").fill("As it was")
    await note.getByRole("button", { name: "Save note" }).click()
    // The note has a line of its own, below the number and the time.
    const row = versions.getByRole("listitem").filter({ hasText: "As it was" })
    const noted = await row.getByText("As it was").boundingBox()
    const time = await row.locator("time").boundingBox()
    expect(noted?.y).toBeGreaterThanOrEqual((time?.y ?? 0) + (time?.height ?? 0))
    // A file that was deleted comes back.
    await versions.getByRole("link", { name: "All files" }).click()
    await versions.getByRole("link", { name: "v6", exact: true }).click()
    await changed.getByRole("button", { name: "Restore v5 of b.txt" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Restore the file" }).click()
    await findVersion(page, 8).waitFor()
    expect(await listPaths(admin, val.id)).toContain("b.txt")
    expect(own.problems).toEqual([])
  })

  test("of a branch are restored there, and main stays as it is", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const { admin } = app.stage
    const { id } = await makeVal(admin, { code: "export default 1\n" })
    const branch = await admin.client.createBranch({ val_id: id, name: "try" })
    const val = await makeFiles(admin, branch.id, id)
    await page.goto(`${val.versionsPath}?branch=try`)
    await page.getByRole("button", { name: "Restore version 1", exact: true }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Restore all files" }).click()
    const versions = page.getByRole("region", { name: "Versions" })
    await versions.getByText("Restored version 1").waitFor()
    await versions.getByRole("listitem").first().getByText("current").waitFor()
    expect(await listPaths(admin, id, branch.id)).toEqual(["lib/a.txt", "main.tsx"])
    expect(await listPaths(admin, id)).toEqual(["main.tsx"])
    expect(await page.getByRole("button", { name: /^Delete version/ }).count()).toBe(0)
    await page.route("**/restore*", (route) => route.abort())
    await page.getByRole("button", { name: "Restore version 5", exact: true }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Restore all files" }).click()
    await page.getByText("The server does not respond").first().waitFor()
    expect(own.problems).toEqual([])
  })
})
