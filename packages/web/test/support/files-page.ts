import type { Locator, Page } from "playwright-core"
import type { Person } from "../../dev/app-stage.ts"
import { findEditor, makeVal, replaceText } from "./val-page.ts"

/** Files by their paths. */
export type Texts = Readonly<Record<string, string>>

/** Creates a val of several files; the text of `main.tsx` is its code. It is at version 2. */
export async function makeFiles(owner: Person, { "main.tsx": code = "", ...others }: Texts) {
  const val = await makeVal(owner, { code })
  await writeFiles(owner, val.id, others)
  return val
}

/** Writes files elsewhere, as one version. */
export function writeFiles(owner: Person, valId: string, texts: Texts, branchId = valId) {
  const changes = Object.entries(texts).map(([path, content]) => ({ path, content }))
  return owner.client.changeFiles({ val_id: valId, branch_id: branchId, changes })
}

/** All files of a branch in its newest version, with their texts. */
export async function readFiles(owner: Person, valId: string, branchId = valId): Promise<Texts> {
  const { client } = owner
  const texts: Record<string, string> = {}
  for (;;) {
    const { data, links } = await client.listFiles({
      val_id: valId,
      branch_id: branchId,
      path: "",
      recursive: true,
      limit: 100,
      offset: Object.keys(texts).length,
    })
    for (const { path, type } of data) {
      const place = { val_id: valId, branch_id: branchId, path }
      const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
      texts[path] =
        type === "directory"
          ? "(directory)"
          : decoder.decode(await (await client.getFileContent(place)).arrayBuffer())
    }
    if (links.next === undefined) return texts
  }
}

/** Shows a file of the val, as a link does. Returns its editor. */
export async function openFile(page: Page, path: string): Promise<Locator> {
  await page.evaluate((path) => {
    const query = new URLSearchParams(location.search)
    query.set("file", path)
    const link = document.createElement("a")
    link.href = `?${query}`
    document.body.append(link)
    link.click()
    link.remove()
  }, path)
  const editor = page.getByRole("textbox", { name: new RegExp(`^Code of .*/${toPattern(path)}$`) })
  await editor.waitFor()
  return editor
}

/** Replaces the text of a file in its editor. */
export async function typeInFile(page: Page, path: string, text: string): Promise<Locator> {
  const editor = await openFile(page, path)
  await replaceText(page, editor, text)
  return editor
}

/** The tab of an open file. */
export function findTab(page: Page, name: string): Locator {
  return page.getByRole("tablist", { name: "Open files" }).getByRole("tab", { name })
}

/** Opens the page of a val. Returns the editor. */
export async function openVal(page: Page, path: string): Promise<Locator> {
  await page.goto(path)
  return await findEditor(page)
}

/** Waits until the browser has stored a text, as it does a moment after the last key. */
export async function waitForStored(page: Page, text: string): Promise<void> {
  await page.waitForFunction(
    (text) => Object.values(localStorage).some((stored) => String(stored).includes(text)),
    text,
  )
}

function toPattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
}
