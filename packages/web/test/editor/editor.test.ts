import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import type { Page } from "playwright-core"
import { type EditorServer, startEditorServer } from "../../dev/editor-server.ts"
import { expectNoBarriers } from "../support/check-page.ts"
import { expectNoPaleTexts } from "../support/contrast.ts"
import { describeInBrowser } from "../support/describe-in-browser.ts"
import { eventually } from "../support/eventually.ts"
import {
  expectText,
  getCalls,
  getText,
  goToEndOf,
  type HarnessWindow,
  openEditor,
  show,
} from "../support/open-editor.ts"
import type { OpenPage } from "../support/open-page.ts"

/** Code with every colour. */
const sample = `/** @jsxImportSource https://esm.sh/react */
import { greet } from "./greet" // a comment
@decorated
export class Guest<T extends string> extends Person {
  static #visits: number = 12_000n ?? /a+b/gi
  greet = async (name?: T): Promise<void> => { if (!this.done) return null }
}
label: for (const key in { shorthand, "quoted": true, [computed]: \`text \${1 + 2} \\n\` }) break label
const page = <main class="wide" {...props}>text &amp; more<Other.Part /></main>
`

/** The types are loaded slowly on a busy machine. */
const typesMsMax = 120_000

let server: EditorServer
const open: OpenPage[] = []

describeInBrowser("the editor", (getBrowser) => {
  beforeAll(async () => {
    server = await startEditorServer({ port: 0, vals: {} })
  })

  afterAll(() => server?.stop())

  afterEach(async () => {
    const tabs = open.splice(0)
    for (const tab of tabs) await tab.close()
    expect(tabs.flatMap(({ problems }) => problems)).toEqual([])
  })

  /** A test with its own tab. */
  function inBrowser(title: string, run: (page: Page) => Promise<void>): void {
    test(title, async () => {
      const tab = await openEditor(getBrowser(), server.origin)
      open.push(tab)
      await run(tab.page)
    })
  }

  describe("CodeEditor", () => {
    inBrowser("is loaded when it is first shown, and not before", async (page) => {
      const loaded = () =>
        page.evaluate(
          () =>
            performance.getEntriesByType("resource").filter(({ name }) => name.endsWith(".js"))
              .length,
        )
      const before = await loaded()
      await show(page, { value: sample, hasTypes: false })
      expect(await loaded()).toBeGreaterThan(before)
      expect(before).toBeLessThanOrEqual(2)
    })

    inBrowser("colours the code", async (page) => {
      await show(page, { value: sample, hasTypes: false })
      // Lines that are not parsed yet have no colours.
      const colors = () =>
        Promise.all(
          ["import", "// a comment", "12_000n", '"./greet"', "Guest"].map((text) =>
            colorOf(page, text),
          ),
        )
      await eventually(colors, (found) => expect(new Set(found).size).toBe(5))
      await page.locator(".cm-lineNumbers").getByText("9", { exact: true }).waitFor()
    })

    inBrowser(
      "calls the listeners of its keys, and handles the other keys itself",
      async (page) => {
        await show(page, { value: "let a = 1\n", hasTypes: false })
        await goToEndOf(page, "let a = 1")
        await page.keyboard.press("Control+KeyS")
        await page.keyboard.press("Control+Enter")
        await page.keyboard.press("Control+Slash")
        await eventually(
          () => getCalls(page),
          (calls) => expect(calls).toEqual([["save"], ["run"], ["change", "// let a = 1\n"]]),
        )
        await page.keyboard.press("Control+KeyZ")
        await expectText(page, "let a = 1\n")
        await page.keyboard.type("(")
        await expectText(page, "let a = 1()\n")
      },
    )

    inBrowser("indents with Tab, and leaves with Tab after Escape", async (page) => {
      await show(page, { value: "a", hasTypes: false })
      await page.getByRole("textbox", { name: "Code of ada/hello" }).focus()
      await page.keyboard.press("Tab")
      await expectText(page, "  a")
      // Tab leaves the editor for two seconds after Escape, which may pass between the two keys.
      const leaveBy = (key: string, to: string) =>
        eventually(
          async () => {
            await page.keyboard.press("Escape")
            await page.keyboard.press(key)
            return readFocus(page)
          },
          (focused) => expect(focused).toBe(to),
        )
      await leaveBy("Tab", "After")
      await page.keyboard.press("Shift+Tab")
      await leaveBy("Shift+Tab", "Before")
      const hint = page.locator(
        `[id="${await page.getByRole("textbox").getAttribute("aria-describedby")}"]`,
      )
      await eventually(
        () => hint.textContent(),
        (found) => expect(found).toContain("press Escape and then Tab"),
      )
    })

    inBrowser("indents a new line by what it is, whatever follows it", async (page) => {
      await show(page, { value: "export default () => 1\n", hasTypes: false })
      await page.getByRole("textbox", { name: "Code of ada/hello" }).focus()
      await page.keyboard.press("Control+Home")
      await page.keyboard.insertText('import { a } from "npm:b"')
      await page.keyboard.press("Enter")
      await page.keyboard.insertText("const c = a()")
      await page.keyboard.press("Enter")
      await expectText(page, 'import { a } from "npm:b"\nconst c = a()\nexport default () => 1\n')
      await page.keyboard.insertText("if (c)")
      // A line that is not parsed yet has no colours, and is indented like the one before.
      await page.locator(".cm-line span").getByText("if", { exact: true }).waitFor()
      await page.keyboard.press("Enter")
      await page.keyboard.insertText("call()")
      await page.keyboard.press("Enter")
      await page.keyboard.insertText("function d() {}")
      await page.locator(".cm-line span").getByText("function", { exact: true }).waitFor()
      await page.keyboard.press("ArrowLeft")
      await page.keyboard.press("Enter")
      await page.keyboard.insertText("call(")
      await page.keyboard.press("Enter")
      await page.keyboard.insertText("c)")
      await expectText(
        page,
        'import { a } from "npm:b"\nconst c = a()\nif (c)\n  call()\nfunction d() {\n  call(\n    c)\n}export default () => 1\n',
      )
    })

    inBrowser(
      "shows the code where it stays when the editor and the types are loaded",
      async (page) => {
        const value = Array.from({ length: 1_200 }, (_, index) => `line${index + 1}`).join("\n")
        // The place of the first letter of each kind of view, from the first frame on.
        await page.evaluate(() => {
          const places = new Set<string>()
          Object.assign(globalThis, { places })
          const look = () => {
            const host = document.querySelector(".code-editor-plain pre:last-child, .cm-line")
            const text = host && document.createTreeWalker(host, NodeFilter.SHOW_TEXT).nextNode()
            if (!text) return
            const range = document.createRange()
            range.setStart(text, 0)
            range.setEnd(text, 1)
            const { left, top } = range.getBoundingClientRect()
            places.add(`${host.localName} ${left.toFixed(1)} ${top.toFixed(1)}`)
          }
          const next = () => {
            look()
            requestAnimationFrame(next)
          }
          next()
          new MutationObserver(look).observe(document, { subtree: true, childList: true })
        })
        await show(page, { value: `const wrong: number = true\n${value}` })
        await page.locator(".cm-lint-marker").first().waitFor({ timeout: typesMsMax })
        const places = await page.evaluate(() => [
          ...(globalThis as unknown as { places: Set<string> }).places,
        ])
        expect(places.map((place) => place.split(" ")[0])).toEqual(["pre", "div"])
        expect(new Set(places.map((place) => place.replace(/^\w+/, ""))).size).toBe(1)
      },
    )

    inBrowser("finds and replaces", async (page) => {
      await show(page, { value: "one two one\n", hasTypes: false })
      await goToEndOf(page, "two")
      await page.keyboard.press("Control+KeyF")
      await page.getByRole("textbox", { name: "Find" }).focus()
      await page.keyboard.press("Control+KeyA")
      await page.keyboard.type("one")
      await page.locator(".cm-searchMatch").nth(1).waitFor()
      await page.getByRole("textbox", { name: "Replace" }).focus()
      await page.keyboard.type("three")
      await page.getByRole("button", { name: "replace all" }).click()
      await expectText(page, "three two three\n")
      await page.keyboard.press("Escape")
      await page.locator(".cm-search").waitFor({ state: "detached" })
    })

    inBrowser("replaces only what differs, and keeps the cursor", async (page) => {
      await show(page, { value: "first\nsecond\nthird\n", hasTypes: false })
      await goToEndOf(page, "sec")
      await page.evaluate(() =>
        (globalThis as unknown as HarnessWindow).harness.handle.current?.setText(
          "new first\nsecond\nlast\n",
        ),
      )
      expect(await getCalls(page)).toEqual([])
      await page.keyboard.type("!")
      await expectText(page, "new first\nsec!ond\nlast\n")
      // Rendering again with the old value changes nothing.
      await show(page, { value: "first\nsecond\nthird\n", hasTypes: false })
      await expectText(page, "new first\nsec!ond\nlast\n")
      await show(page, { value: "another", path: "ada/other.tsx", hasTypes: false })
      await expectText(page, "another")
    })

    inBrowser("goes to a line, at most to the last", async (page) => {
      const value = Array.from({ length: 500 }, (_, index) => `line${index + 1}`).join("\n")
      await show(page, { value, hasTypes: false, goTo: { line: 400, column: 3 } })
      await page.locator(".cm-activeLine").getByText("line400").waitFor()
      await page.locator(".cm-content").focus()
      await page.keyboard.type("|")
      await eventually(
        () => getText(page),
        (text) => expect(text).toContain("li|ne400"),
      )
      await show(page, { value, hasTypes: false, goTo: { line: 1e9 } })
      await page.locator(".cm-activeLine").getByText("line500").waitFor()
    })

    inBrowser("does not change read-only text, and lets it be selected", async (page) => {
      await show(page, { value: "read me", hasTypes: false, readOnly: true })
      await page.locator(".cm-content").focus()
      await page.keyboard.type("x")
      await expectText(page, "read me")
      await eventually(
        () => page.getByRole("textbox").getAttribute("aria-readonly"),
        (found) => expect(found).toBe("true"),
      )
      await show(page, { value: "read me", hasTypes: false, readOnly: false })
      await page.keyboard.type("x")
      await expectText(page, "xread me")
    })

    inBrowser("writes Markdown and JSON", async (page) => {
      await show(page, {
        value: "# Title\n\n```ts\nconst a = 1\n```\n",
        language: "markdown",
        path: "ada/readme.md",
      })
      await page.locator(".cm-line span").getByText("const", { exact: true }).waitFor()
      await show(page, { value: '{"a":[1,true]}', language: "json", path: "ada/data.json" })
      await page.evaluate(() =>
        (globalThis as unknown as HarnessWindow).harness.handle.current?.format(),
      )
      await expectText(page, '{\n  "a": [\n    1,\n    true\n  ]\n}\n')
    })

    inBrowser("works without the type service when that cannot be loaded", async (page) => {
      await page.goto(`${server.origin}/?libs=none`)
      await page.waitForFunction(() => "harness" in globalThis)
      const started = page.waitForEvent("worker")
      await show(page, { value: "const first = 1\nfi" })
      const worker = await started
      if (page.workers().includes(worker)) await worker.waitForEvent("close")
      await page.locator(".cm-content").focus()
      await page.keyboard.press("Control+End")
      await page.keyboard.press("Control+Space")
      // The list ignores keys for a moment after it opens, but not clicks.
      await page.locator(".cm-completionLabel").getByText("first").click()
      await expectText(page, "const first = 1\nfirst")
      await page.keyboard.press("Shift+Alt+KeyF")
      const refusal = [
        "format",
        { ok: false, message: "Cannot format the code: the formatter is not loaded" },
      ]
      await eventually(
        () => getCalls(page),
        (calls) => expect(calls.at(-1)).toEqual(refusal),
      )
    })
  })

  describe("DiffView", () => {
    const before = Array.from({ length: 60 }, (_, index) => `const line${index} = ${index}`).join(
      "\n",
    )
    const after = before.replace("line30 = 30", "line30 = 31").replace("const line40 = 40\n", "")

    for (const layout of ["inline", "side-by-side"] as const) {
      inBrowser(`shows ${layout} what differs and folds what does not`, async (page) => {
        await showDiff(page, before, after, layout)
        const read = () => page.locator("#app").textContent()
        await eventually(read, (text) => {
          for (const part of ["line30 = 30", "line30 = 31", "line40 = 40", "unchanged lines"])
            expect(text).toContain(part)
          expect(text).not.toContain("line10 = 10")
        })
        await page.locator(".cm-collapsedLines").first().click()
        await page.getByText("const line10 = 10").first().waitFor()
        await showDiff(page, before, after, layout, false)
        await page.getByText("const line50 = 50").first().waitFor()
        await expectNoBarriers(page)
      })
    }
  })

  inBrowser(
    "every colour has contrast on every background, and axe finds nothing",
    async (page) => {
      await show(page, { value: sample, hasTypes: false })
      await page.locator(".cm-content").focus()
      await page.keyboard.press("Control+KeyF")
      await page.locator(".cm-search").waitFor()
      await page.evaluate(addSwatches)
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme })
        await expectNoPaleTexts(page)
        // The selection is a layer behind the text.
        await expectNoBarriers(page, { hasLayers: true })
      }
    },
  )

  inBrowser("differences can be read in both colours and both layouts", async (page) => {
    const changed = sample.replaceAll("greet", "welcome").replace("12_000n", "13")
    for (const layout of ["inline", "side-by-side"] as const) {
      await showDiff(page, sample, changed, layout)
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme })
        await expectNoPaleTexts(page)
      }
    }
  })
})

const readFocus = (page: Page) => page.evaluate(() => document.activeElement?.textContent)
const colorOf = (page: Page, text: string) =>
  page
    .locator(".cm-line span")
    .getByText(text, { exact: true })
    .first()
    .evaluate((element) => getComputedStyle(element).color)

async function showDiff(
  page: Page,
  before: string,
  after: string,
  layout: "inline" | "side-by-side",
  isCollapsed = true,
): Promise<void> {
  const props = { before, after, layout, path: "ada/hello.tsx", label: "Changes", isCollapsed }
  await page.evaluate(
    (props) => (globalThis as unknown as HarnessWindow).harness.showDiff(props),
    props,
  )
  await page.locator(".cm-content").first().waitFor()
}

/** Runs in the page: the colours of code on backgrounds of other elements, as the selection. */
function addSwatches(): void {
  for (const ground of [
    "--page",
    "--raised",
    "--accent-ground",
    "--ok-ground",
    "--danger-ground",
  ]) {
    for (const color of [
      "--code-key",
      "--code-string",
      "--code-number",
      "--code-word",
      "--code-comment",
      "--text",
      "--text-soft",
    ]) {
      const swatch = document.createElement("p")
      swatch.textContent = `${color} on ${ground}`
      swatch.style.color = `var(${color})`
      swatch.style.backgroundColor = `var(${ground})`
      document.querySelector("#app main")?.append(swatch)
    }
  }
}
