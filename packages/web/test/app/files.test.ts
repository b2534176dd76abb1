import { expect, test } from "bun:test"
import type { Page } from "playwright-core"
import { describeApp } from "../support/describe-app.ts"
import { eventually } from "../support/eventually.ts"
import {
  findTab,
  makeFiles,
  openFile,
  openVal,
  readFiles,
  type Texts,
  typeInFile,
  waitForStored,
  writeFiles,
} from "../support/files-page.ts"
import {
  expectText,
  findEditor,
  findStatus,
  findVersion,
  makeVal,
  replaceText,
} from "../support/val-page.ts"

const three: Texts = { "main.tsx": "one", "lib/two.ts": "two", "three.ts": "three" }
const charsMax = 256_000
/** The panes leave little room: the rest of a line may be hidden. */
const atStart = { x: 4, y: 8 }

describeApp("the files of a val", (app) => {
  /** The dialog about what was saved elsewhere. */
  const findDialog = (page: Page, version: number) =>
    page.getByRole("dialog", { name: `Version ${version} was saved elsewhere` })

  test("are saved together as one version, from tabs that stay as they are", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const owner = app.stage.admin
    const val = await makeFiles(owner, three)
    await openVal(page, val.path)
    for (const path of Object.keys(three)) await typeInFile(page, path, `new ${path}`)
    for (const name of ["main.tsx", "two.ts", "three.ts"])
      await findTab(page, `${name} (unsaved)`).waitFor()
    await page.keyboard.press("Control+s")
    await findVersion(page, 3).waitFor()
    expect(await page.getByText("(unsaved)").count()).toBe(0)
    expect(await readFiles(owner, val.id)).toEqual({
      "main.tsx": "new main.tsx",
      lib: "(directory)",
      "lib/two.ts": "new lib/two.ts",
      "three.ts": "new three.ts",
    })
    // Each tab has its own undo, also after the save.
    const editor = await openFile(page, "lib/two.ts")
    await editor.press("Control+z")
    await editor.press("Control+z")
    await expectText(editor, "two")
    await expectText(await openFile(page, "three.ts"), "new three.ts")
    expect(own.problems).toEqual([])
  })

  test("are shown by the address, also back and forward", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const lines = Array.from({ length: 30 }, (_, index) => `// ${index + 1}`).join("\n")
    const val = await makeFiles(app.stage.admin, { ...three, "three.ts": lines })
    await expectText(await openVal(page, `${val.path}?file=lib/two.ts`), "two")
    const readFile = () => new URL(page.url()).searchParams.get("file")
    await openFile(page, "main.tsx")
    await eventually(readFile, (file) => expect(file).toBe(null))
    await page.evaluate(() => {
      const link = document.createElement("a")
      link.href = "?file=three.ts&line=20"
      document.body.append(link)
      link.click()
      link.remove()
    })
    await page.locator(".cm-activeLine:visible").getByText("// 20", { exact: true }).waitFor()
    await page.goBack()
    await expectText(await findEditor(page), "one")
    await page.goBack()
    await expectText(await findEditor(page), "two")
    await page.goForward()
    await expectText(await findEditor(page), "one")
    // The line belongs to the file that the link was about.
    await page.goForward()
    await page.locator(".cm-activeLine:visible").getByText("// 20", { exact: true }).waitFor()
    await (await findEditor(page)).press("Control+Home")
    await findTab(page, "two.ts").click()
    await expectText(await findEditor(page), "two")
    expect(new URL(page.url()).searchParams.get("line")).toBe(null)
    await findTab(page, "three.ts").click()
    await page.locator(".cm-activeLine:visible").getByText("// 1", { exact: true }).waitFor()
    // A file that does not exist: the entry file is shown.
    await page.goto(`${val.path}?file=nothing.ts`)
    await expectText(await findEditor(page), "one")
    expect(own.problems).toEqual([])
  })

  test("that are different ones in two tabs are saved by both without a question", async () => {
    await using own = await app.openOwn()
    const { page, context } = own
    const owner = app.stage.admin
    const val = await makeFiles(owner, three)
    const other = await context.newPage()
    await openVal(page, val.path)
    await openVal(other, val.path)
    await typeInFile(page, "lib/two.ts", "here")
    await typeInFile(other, "three.ts", "there")
    await other.keyboard.press("Control+s")
    await findVersion(other, 3).waitFor()
    await page.bringToFront()
    await (await openFile(page, "lib/two.ts")).press("Control+s")
    await findVersion(page, 4).waitFor()
    const texts = await readFiles(owner, val.id)
    expect([texts["lib/two.ts"], texts["three.ts"]]).toEqual(["here", "there"])
    // The other file has the text that was saved there.
    await expectText(await openFile(page, "three.ts"), "there")
    expect(own.problems).toEqual([])
  })

  test("with the same one changed elsewhere take both changes, mine or theirs", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const owner = app.stage.admin
    const val = await makeFiles(owner, { "main.tsx": "one", "a.ts": "1\n2\n3\n4\n5", "b.ts": "b" })
    await openVal(page, val.path)
    await typeInFile(page, "a.ts", "mine\n2\n3\n4\n5")
    await typeInFile(page, "b.ts", "b, mine")
    await writeFiles(owner, val.id, { "a.ts": "1\n2\n3\n4\ntheirs", "b.ts": "b, theirs" })
    await page.keyboard.press("Control+s")
    const dialog = findDialog(page, 3)
    await dialog.getByText(/a\.ts was changed elsewhere.*fit together/).waitFor()
    await dialog.getByText("1 more of your files").waitFor()
    // What loses nothing comes first.
    const choices = dialog.locator(".dialog-foot").getByRole("button")
    expect((await choices.allTextContents())[0]).toBe("Take both changes")
    await dialog.getByRole("button", { name: "Take both changes" }).click()
    await dialog.getByText("b.ts was changed elsewhere").waitFor()
    expect(await dialog.getByRole("button", { name: "Take both changes" }).count()).toBe(0)
    await dialog.getByRole("button", { name: "Take version 3" }).click()
    await findVersion(page, 4).waitFor()
    expect(await readFiles(owner, val.id)).toEqual({
      "main.tsx": "one",
      "a.ts": "mine\n2\n3\n4\ntheirs",
      "b.ts": "b, theirs",
    })
    await expectText(await openFile(page, "a.ts"), "mine\n2\n3\n4\ntheirs")
    await page.getByText(/set aside/).waitFor()
    await page.getByRole("button", { name: "Restore" }).click()
    const editor = await openFile(page, "b.ts")
    await expectText(editor, "b, mine")
    // The restored text is based on the text before, so that it replaces nothing without a
    // question.
    await editor.press("Control+s")
    const again = findDialog(page, 4)
    await again.getByRole("button", { name: "Save mine as a new version" }).click()
    await findVersion(page, 5).waitFor()
    expect((await readFiles(owner, val.id))["b.ts"]).toBe("b, mine")
    expect(own.problems).toEqual([])
  })

  test("open by a link that is clicked while the page appears", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const val = await makeFiles(app.stage.admin, three)
    // Between the rendering and its effects, which come after the next frame.
    await page.addInitScript(() => {
      new MutationObserver((_, observer) => {
        if (document.querySelector(".panes") === null) return
        observer.disconnect()
        const link = document.createElement("a")
        link.href = "?file=three.ts"
        document.body.append(link)
        link.click()
        link.remove()
      }).observe(document, { childList: true, subtree: true })
    })
    await page.goto(val.path)
    await expectText(page.getByRole("textbox", { name: /^Code of .*\/three\.ts$/ }), "three")
    expect(own.problems).toEqual([])
  })

  test("that were moved, deleted or created elsewhere lose no typed text", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const owner = app.stage.admin
    const { client } = owner
    const val = await makeFiles(owner, { ...three, "gone.ts": "gone" })
    const place = { val_id: val.id, branch_id: val.id }
    // A new file, as a draft has it.
    await openVal(page, val.path)
    await storeDraft(page, val.id, 2, [{ path: "new.ts", text: "new, mine" }])
    await page.reload()
    await typeInFile(page, "lib/two.ts", "two, mine")
    await typeInFile(page, "gone.ts", "gone, mine")
    await client.changeFiles({
      ...place,
      changes: [
        { path: "lib/two.ts", newPath: "moved/two.ts" },
        { path: "gone.ts", delete: true },
        { path: "new.ts", content: "new, theirs" },
      ],
    })
    await page.keyboard.press("Control+s")
    const dialog = findDialog(page, 3)
    await dialog.getByText("gone.ts was deleted elsewhere while you were typing").waitFor()
    await dialog.getByRole("button", { name: "Save mine as a new version" }).click()
    await dialog.getByText("new.ts was changed elsewhere").waitFor()
    await dialog.getByText("new, theirs").waitFor()
    await dialog.getByRole("button", { name: "Save mine as a new version" }).click()
    await findVersion(page, 4).waitFor()
    expect(await readFiles(owner, val.id)).toEqual({
      "main.tsx": "one",
      "three.ts": "three",
      lib: "(directory)",
      moved: "(directory)",
      "moved/two.ts": "two, mine",
      "gone.ts": "gone, mine",
      "new.ts": "new, mine",
    })
    await expectText(await openFile(page, "moved/two.ts"), "two, mine")
    // What is deleted in both places is gone, and can be restored.
    await typeInFile(page, "gone.ts", "typed again")
    await client.changeFiles({ ...place, changes: [{ path: "gone.ts", delete: true }] })
    await page.keyboard.press("Control+s")
    await findDialog(page, 5).getByRole("button", { name: "Delete it here too" }).click()
    await page.getByText(/set aside/).waitFor()
    expect(await findTab(page, "gone.ts").count()).toBe(0)
    await page.getByRole("button", { name: "Restore" }).click()
    await expectText(await openFile(page, "gone.ts"), "typed again")
    expect(own.problems).toEqual([])
  })

  test("keep unsaved changes of several files over a reload and in the next tab", async () => {
    await using own = await app.openOwn()
    const { page, context } = own
    const owner = app.stage.admin
    const val = await makeFiles(owner, { ...three, "old.ts": "old", "same.ts": "same" })
    await openVal(page, val.path)
    const { data } = await owner.client.listFiles({
      val_id: val.id,
      path: "old.ts",
      recursive: true,
    })
    const [saved] = data
    // A file that was renamed and edited, one that was deleted, and a new one.
    await storeDraft(page, val.id, 2, [
      { saved, path: "lib/renamed.ts", text: "renamed" },
      { path: "new.ts", text: "new" },
    ])
    await page.reload()
    await page.getByText(/This is your unsaved text/).waitFor()
    await typeInFile(page, "three.ts", "three, typed")
    await page.reload()
    await expectText(await openFile(page, "three.ts"), "three, typed")
    await expectText(await openFile(page, "lib/renamed.ts"), "renamed")
    await expectText(await openFile(page, "new.ts"), "new")
    // Another tab takes them over when this one is closed.
    await waitForStored(page, "three, typed")
    const next = await context.newPage()
    await page.close()
    await openVal(next, val.path)
    await next.getByText(/Another tab with unsaved text/).waitFor()
    await next.getByRole("button", { name: "Restore" }).click()
    await findStatus(next, "Unsaved changes").waitFor()
    await expectText(await openFile(next, "lib/renamed.ts"), "renamed")
    await next.keyboard.press("Control+s")
    await findVersion(next, 3).waitFor()
    expect(await readFiles(owner, val.id)).toEqual({
      "main.tsx": "one",
      lib: "(directory)",
      "lib/two.ts": "two",
      "same.ts": "same",
      "lib/renamed.ts": "renamed",
      "new.ts": "new",
      "three.ts": "three, typed",
    })
    // A renamed file is the same one.
    const renamed = await owner.client.listFiles({ val_id: val.id, path: "lib/renamed.ts" })
    expect(renamed.data[0]?.id).toBe(saved?.id ?? "")
    expect(own.problems).toEqual([])
  })

  test("keep their line ends, their byte order mark and their length", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const owner = app.stage.admin
    const long = "0123456789abcde\n".repeat(charsMax / 16)
    const val = await makeFiles(owner, {
      "main.tsx": "one",
      "crlf.ts": "a\r\nb\r\nc\r\n",
      "bom.ts": "\uFEFFa\nb",
      "empty.ts": "",
      "long.txt": long,
    })
    await openVal(page, val.path)
    await expectText(await openFile(page, "crlf.ts"), "a\nb\nc\n")
    await expectText(await openFile(page, "empty.ts"), "")
    await openFile(page, "bom.ts")
    await openFile(page, "long.txt")
    // Looking at them changes nothing.
    expect(await page.getByText("(unsaved)").count()).toBe(0)
    for (const path of ["crlf.ts", "bom.ts", "empty.ts"]) {
      await (await openFile(page, path)).press("Control+End")
      await page.keyboard.type("x")
    }
    const editor = await openFile(page, "long.txt")
    await editor.press("Control+Home")
    await page.keyboard.press("Delete")
    await page.keyboard.type("X")
    await page.keyboard.press("Control+s")
    await findVersion(page, 3).waitFor()
    expect(await readFiles(owner, val.id)).toEqual({
      "main.tsx": "one",
      "crlf.ts": "a\r\nb\r\nc\r\nx",
      "bom.ts": "\uFEFFa\nbx",
      "empty.ts": "x",
      "long.txt": `X${long.slice(1)}`,
    })
    expect(own.problems).toEqual([])
  })

  test("may be none, or 300", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const owner = app.stage.admin
    const none = await makeVal(owner, { code: "one" })
    const place = { val_id: none.id, branch_id: none.id }
    await owner.client.changeFiles({ ...place, changes: [{ path: "", delete: true }] })
    await page.goto(none.path)
    await page.getByText("This val has no files yet").waitFor()
    await storeDraft(page, none.id, 2, [{ path: "first.ts", text: "first" }])
    await page.reload()
    await expectText(await findEditor(page), "first")
    await page.keyboard.press("Control+s")
    await findVersion(page, 3).waitFor()
    expect(await readFiles(owner, none.id)).toEqual({ "first.ts": "first" })
    const texts = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [`d${index % 10}/f${index}.ts`, `${index}`]),
    )
    const many = await makeFiles(owner, { "main.tsx": "main", ...texts })
    await openVal(page, `${many.path}?file=d9/f299.ts`)
    await typeInFile(page, "d9/f299.ts", "changed")
    await expectText(await openFile(page, "d0/f0.ts"), "0")
    await page.keyboard.press("Control+s")
    await findVersion(page, 3).waitFor()
    const place300 = { val_id: many.id, path: "d9/f299.ts" }
    const content = await owner.client.getFileContent(place300)
    expect(await content.text()).toBe("changed")
    expect(own.problems).toEqual([])
  })

  test("of another branch are those of the address, and only the owner changes them", async () => {
    await using own = await app.openOwn()
    const { page } = own
    const owner = app.stage.admin
    const val = await makeFiles(owner, three)
    await owner.client.updateVal({ val_id: val.id, privacy: "public" })
    const branch = await owner.client.createBranch({ val_id: val.id, name: "next" })
    await writeFiles(owner, val.id, { "three.ts": "three of next" }, branch.id)
    await openVal(page, `${val.path}?branch=next&file=three.ts`)
    const editor = await findEditor(page)
    await expectText(editor, "three of next")
    await typeInFile(page, "three.ts", "changed")
    await page.keyboard.press("Control+s")
    await eventually(
      () => readFiles(owner, val.id, branch.id),
      (texts) => expect(texts["three.ts"]).toBe("changed"),
    )
    expect(await readFiles(owner, val.id)).toMatchObject(three)
    const reader = await app.stage.person("reader")
    await using tab = await app.open(reader)
    await openVal(tab.page, `${val.path}?file=lib/two.ts`)
    const shown = await findEditor(tab.page)
    await expectText(shown, "two")
    expect(await shown.getAttribute("aria-readonly")).toBe("true")
    await shown.press("x")
    await shown.press("Control+s")
    await expectText(await openFile(tab.page, "main.tsx"), "one")
    expect(tab.page.url()).not.toContain("file=")
    expect(await tab.page.getByText("(unsaved)").count()).toBe(0)
    expect([...own.problems, ...tab.problems]).toEqual([])
  })

  test("have types across each other: errors, definitions, names, imports", async () => {
    await using own = await app.openTyped()
    const { page } = own
    const owner = app.stage.admin
    const code = `import { size } from "./lib/size.ts"
import data from "./data.json" with { type: "json" }
import { size as same } from "@/size.ts"
export const a: string = size
export const b: string = data.count
export const c: string = same
`
    const val = await makeFiles(owner, {
      "main.tsx": code,
      "lib/size.ts": "// The size.\nexport const size = 12\n",
      "data.json": '{ "count": 1 }',
      "deno.json": '{ "imports": { "@/": "./lib/" } }',
      "page.html": "<b class=x>bold</b>",
    })
    const main = await openVal(page, val.path)
    const shown = page.locator(".code-host:not([hidden])")
    const expectMarked = (texts: readonly string[]) =>
      eventually(
        () => shown.locator(".cm-lintRange-error").allInnerTexts(),
        (found) => expect(found).toEqual([...texts]),
      )
    const goToEnd = async (text: string) => {
      await shown.locator(".cm-line").filter({ hasText: text }).first().click({ position: atStart })
      await page.keyboard.press("End")
    }
    await expectMarked(["a", "b", "c"])
    // F12 goes to the other file, at the line.
    await goToEnd("string = size")
    await page.keyboard.press("F12")
    await page.getByRole("textbox", { name: /lib\/size\.ts$/ }).waitFor()
    await shown.locator(".cm-activeLine").getByText("export const size = 12").waitFor()
    // F2 changes the name in all files, and marks them as unsaved.
    await goToEnd("size = 12")
    for (let count = 0; count < "12 = ".length; count += 1) await page.keyboard.press("ArrowLeft")
    await page.keyboard.press("F2")
    await page.getByLabel("New name").fill("total")
    await page.keyboard.press("Enter")
    await findTab(page, "main.tsx (unsaved)").waitFor()
    await findTab(page, "size.ts (unsaved)").waitFor()
    await openFile(page, "main.tsx")
    await shown.getByText("total as same").waitFor()
    await expectMarked(["a", "b", "c"])
    await page.keyboard.press("Control+s")
    await findVersion(page, 3).waitFor()
    // A new file that is not saved, as a draft has it, can be imported; a deleted one cannot.
    const { data } = await owner.client.listFiles({
      val_id: val.id,
      path: "data.json",
      recursive: true,
    })
    await storeDraft(page, val.id, 3, [
      { path: "new.ts", text: "export const fresh = 1" },
      { saved: data[0], path: "data.json", isDeleted: true },
    ])
    await page.reload()
    await replaceText(
      page,
      main,
      `import data from "./data.json"\nimport { fre } from "./new.ts"\n`,
    )
    await expectMarked(['"./data.json"', "fre"])
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("End")
    for (let count = 0; count < ' } from "./new.ts"'.length; count += 1)
      await page.keyboard.press("ArrowLeft")
    await page.keyboard.press("Control+Space")
    await page.getByRole("option", { name: /fresh/ }).waitFor()
    await page.keyboard.press("Escape")
    // Markup has colours.
    await openFile(page, "page.html")
    await eventually(
      () => shown.locator(".cm-line span").count(),
      (count) => expect(count).toBeGreaterThan(1),
    )
    expect(own.problems).toEqual([])
  })

  test("that are unsaved survive the end of the session and a restart of the server", async () => {
    const owner = await app.stage.person("linus")
    await using tab = await app.open(owner)
    const { page } = tab
    const val = await makeFiles(owner, three)
    await openVal(page, val.path)
    for (const path of Object.keys(three)) await typeInFile(page, path, `new ${path}`)
    await owner.client.deleteAllSessions()
    await app.stage.restart()
    await page.keyboard.press("Control+s")
    const dialog = page.getByRole("dialog", { name: "You have been signed out" })
    await dialog.getByLabel("Token").fill(owner.token)
    await dialog.getByRole("button", { name: "Sign in" }).click()
    await dialog.waitFor({ state: "detached" })
    for (const path of Object.keys(three))
      await expectText(await openFile(page, path), `new ${path}`)
    await page.keyboard.press("Control+s")
    await findVersion(page, 3).waitFor()
    expect(await readFiles(owner, val.id)).toMatchObject(
      Object.fromEntries(Object.keys(three).map((path) => [path, `new ${path}`])),
    )
    expect(tab.problems).toEqual([])
  })
})

interface StoredFile {
  readonly saved?: object | undefined
  readonly path: string
  readonly text?: string
  readonly isDeleted?: boolean
}

/** Stores unsaved changes, as the page itself does, in this tab. */
async function storeDraft(
  page: Page,
  branchId: string,
  baseVersion: number,
  files: readonly StoredFile[],
): Promise<void> {
  const drafts = files.map((file) => ({ type: "script", isDeleted: false, ...file }))
  await page.evaluate(
    async ([prefix, draft]) => {
      const key = `${prefix}${sessionStorage.getItem("hamlet.tab")}`
      const isHeld = async () =>
        (await navigator.locks.query()).held?.some((one) => one.name === key)
      // With the lock, the page writes what it has.
      while (!(await isHeld())) await new Promise((resolve) => requestAnimationFrame(resolve))
      localStorage.setItem(key, draft)
    },
    [
      `hamlet.draft.${branchId}.`,
      JSON.stringify({ files: drafts, baseVersion, at: Date.now() }),
    ] as const,
  )
}
