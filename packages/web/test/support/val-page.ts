import { expect } from "bun:test"
import type { Locator, Page } from "playwright-core"
import type { Person } from "../../dev/app-stage.ts"
import { eventually } from "./eventually.ts"

/** The input of `makeVal`. */
export interface ValGiven {
  readonly code: string
  readonly type?: "http" | "script" | "interval" | "email"
  readonly privacy?: "public" | "unlisted" | "private"
  readonly readme?: string
}

let count = 0

/** Creates a val through the API; `path` is the path of its page. */
export async function makeVal(
  owner: Person,
  { code, type = "script", privacy = "private", readme }: ValGiven,
) {
  count += 1
  const made = await owner.client.createVal({
    name: `val${count}`,
    code,
    type,
    privacy,
    readme: readme ?? null,
  })
  return { ...made, path: `/u/${owner.username}/${made.name}` }
}

/** The code editor, once it accepts input. */
export async function findEditor(page: Page): Promise<Locator> {
  const editor = page.getByRole("textbox", { name: /^Code of / })
  await editor.waitFor()
  return editor
}

/**
 * Replaces the text of an editor, like pasting. Typing over a selection would make Chromium copy its
 * style, which the CSP blocks.
 */
export async function replaceText(page: Page, editor: Locator, text: string): Promise<void> {
  await editor.focus()
  await page.keyboard.press("Control+a")
  await page.keyboard.press("Delete")
  await page.keyboard.insertText(text)
}

/** Waits until an editor contains exactly this text, which must fit on the screen. */
export async function expectText(editor: Locator, text: string): Promise<void> {
  const read = async () =>
    (await editor.locator(".cm-line").allInnerTexts())
      .map((line) => line.replace(/\n$/, ""))
      .join("\n")
  await eventually(read, (shown) => expect(shown).toBe(text))
}

/** The version in the head of the page. */
export function findVersion(page: Page, version: number): Locator {
  const header = page.getByRole("banner").or(page.locator("header"))
  // The menu of the versions, or the link to them.
  const name = new RegExp(`^v${version}( ▾)?$`)
  return header.getByRole("button", { name }).or(header.getByRole("link", { name }))
}

/** The save status of the code. */
export function findStatus(page: Page, text: string): Locator {
  return page.locator(".val-bar").getByRole("status").filter({ hasText: text })
}
