import { expect } from "bun:test"
import type { Browser, Page } from "playwright-core"
import type { Harness } from "../../dev/editor-page.tsx"
import { eventually } from "./eventually.ts"
import { type OpenPage, openPage } from "./open-page.ts"

/** The globals of the page. */
export interface HarnessWindow {
  readonly harness: Harness
}

type Shown = Omit<
  Parameters<Harness["show"]>[0],
  | "handle"
  | "typeService"
  | "onChange"
  | "onSave"
  | "onRun"
  | "onFormat"
  | "onDefinition"
  | "onProblem"
  | "formatCode"
>

/** An empty tab with the editor's page, which records problems. */
export async function openEditor(browser: Browser, origin: string): Promise<OpenPage> {
  const tab = await openPage(browser, origin, { viewport: { width: 1200, height: 800 } })
  await tab.page.goto(origin)
  await tab.page.waitForFunction(() => "harness" in globalThis)
  return tab
}

/** Shows an editor and waits for it. */
export async function show(page: Page, shown: Shown): Promise<void> {
  await page.evaluate(
    (props) => (globalThis as unknown as HarnessWindow).harness.show(props),
    shown,
  )
  await page.locator(".cm-content").waitFor()
}

export function getText(page: Page): Promise<string | undefined> {
  return page.evaluate(() =>
    (globalThis as unknown as HarnessWindow).harness.handle.current?.getText(),
  )
}

/** Waits until the editor has this text. */
export async function expectText(page: Page, text: string): Promise<void> {
  await eventually(
    () => getText(page),
    (found) => expect(found).toBe(text),
  )
}

export function getCalls(page: Page): Promise<unknown[][]> {
  return page.evaluate(() => (globalThis as unknown as HarnessWindow).harness.calls)
}

/** Puts the cursor after the first occurrence of a text. */
export async function goToEndOf(page: Page, text: string): Promise<void> {
  await page.evaluate((text) => {
    const { current } = (globalThis as unknown as HarnessWindow).harness.handle
    const lines = current?.getText().split("\n") ?? []
    const line = lines.findIndex((line) => line.includes(text))
    current?.goToLine(line + 1, (lines[line]?.indexOf(text) ?? 0) + text.length + 1)
    current?.focus()
  }, text)
}

/** Waits until exactly these texts are underlined as errors. */
export async function waitForMarked(page: Page, texts: readonly string[]): Promise<void> {
  const isSame = (texts: readonly string[]) =>
    [...document.querySelectorAll(".cm-lintRange-error")]
      .map(({ textContent }) => textContent)
      .join("\n") === texts.join("\n")
  await page.waitForFunction(isSame, texts)
}
