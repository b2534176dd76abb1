import { expect } from "bun:test"
import type { Locator, Page } from "playwright-core"
import type { Person } from "../../dev/app-stage.ts"
import { eventually } from "../eventually.ts"

/** What a val is made of for a test. */
export interface ValGiven {
  readonly code: string
  readonly type?: "http" | "script"
  readonly privacy?: "public" | "unlisted" | "private"
  readonly readme?: string
}

let count = 0

/** Makes a val over the API; its path is that of its page. */
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

/** The editor of a val's code, once it can be typed into. */
export async function findEditor(page: Page): Promise<Locator> {
  const editor = page.getByRole("textbox", { name: /^Code of / })
  await editor.waitFor()
  return editor
}

/**
 * Replaces everything in an editor, as somebody would who pastes. Over a selection Chromium would
 * copy its style, which the policy refuses.
 */
export async function replaceText(page: Page, editor: Locator, text: string): Promise<void> {
  await editor.focus()
  await page.keyboard.press("Control+a")
  await page.keyboard.press("Delete")
  await page.keyboard.insertText(text)
}

/**
 * Waits until this is all that is in an editor, for texts that are short enough to be on the
 * screen.
 */
export async function expectText(editor: Locator, text: string): Promise<void> {
  const read = async () =>
    (await editor.locator(".cm-line").allInnerTexts())
      .map((line) => line.replace(/\n$/, ""))
      .join("\n")
  await eventually(read, (shown) => expect(shown).toBe(text))
}

/** The version that the head of the page tells. */
export function findVersion(page: Page, version: number): Locator {
  return page
    .getByRole("banner")
    .or(page.locator("header"))
    .getByRole("link", { name: `v${version}`, exact: true })
}

/** How the text stands to what is saved. */
export function findStatus(page: Page, text: string): Locator {
  return page.getByRole("region", { name: "Code" }).getByRole("status").filter({ hasText: text })
}
