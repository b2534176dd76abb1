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
    // It is based on version 3: saving shows the newer version, which the page may find before.
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
})
