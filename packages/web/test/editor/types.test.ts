import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import type { Page } from "playwright-core"
import { type EditorServer, startEditorServer } from "../../dev/editor-server.ts"
import { describeInBrowser } from "../support/describe-in-browser.ts"
import { eventually } from "../support/eventually.ts"
import {
  expectText,
  getCalls,
  getText,
  goToEndOf,
  openEditor,
  show,
  waitForMarked,
} from "../support/open-editor.ts"
import type { OpenPage } from "../support/open-page.ts"

/** The service starts slowly on a busy machine. */
const waitMsMax = 120_000
const vals = {
  "/v/ada/greet": `import type { Guest } from "./guest"
/** Says hello to a guest. */
export function greet(guest: Guest, times = 1): string {
  return \`Hello \${guest.name} \`.repeat(times)
}
`,
  "/v/ada/guest": "export interface Guest {\n  name: string\n  visits: number\n}\n",
  "/v/ada/guest@1": "export interface Guest {\n  first: boolean\n}\n",
}

/**
 * The types of a version as the server has them: of a package with types in `@types`, and one with
 * its own.
 */
const typesOfVersion = {
  state: "ready",
  imports: [
    { specifier: "npm:zed@1", resolved: "npm:zed@1.2.3" },
    { specifier: "npm:bare/sub", resolved: "npm:bare@4.0.0/sub" },
  ],
  files: [
    { path: "zed@1.2.3/node_modules/zed/package.json", text: '{ "types": "./index.d.ts" }' },
    {
      path: "zed@1.2.3/node_modules/zed/index.d.ts",
      text: `import type { Inner } from "inner"
export interface Schema<T> { parse(value: unknown): T; inner: Inner }
/** Describes a text. */
export declare function string(message?: string): Schema<string>
export * as z from "./index.js"
`,
    },
    { path: "inner@2.0.0/node_modules/inner/index.d.ts", text: "export type Inner = 'inner'" },
    { path: "@types+bare@4.1.0/node_modules/@types/bare/sub.d.ts", text: "export const sub: 12" },
  ],
  links: [
    { path: "imports/zed@1.2.3/node_modules/zed", target: "../../../zed@1.2.3/node_modules/zed" },
    { path: "zed@1.2.3/node_modules/inner", target: "../../inner@2.0.0/node_modules/inner" },
    {
      path: "imports/bare@4.0.0/node_modules/@types/bare",
      target: "../../../../@types+bare@4.1.0/node_modules/@types/bare",
    },
  ],
}
const locked = { valId: "v1", version: 1 }

let server: EditorServer
let tab: OpenPage

describeInBrowser("the editor's types", (getBrowser) => {
  beforeAll(async () => {
    const api = { "/v1/vals/v1/versions/1/types": typesOfVersion }
    server = await startEditorServer({ port: 0, vals, api })
    tab = await openEditor(getBrowser(), server.origin)
    tab.page.setDefaultTimeout(waitMsMax)
  })

  afterAll(() => server?.stop())

  afterEach(() => expect(tab.problems).toEqual([]))

  let shown = 0

  /**
   * One tab for all tests, since the service starts slowly; each test has its own document.
   */
  function withCode(
    title: string,
    code: string,
    run: (page: Page) => Promise<void>,
    props: Parameters<typeof show>[1] = {},
  ): void {
    test(title, async () => {
      shown += 1
      await show(tab.page, { value: code, path: `ada/document${shown}.tsx`, ...props })
      await run(tab.page)
    })
  }

  const options = (page: Page) => page.locator(".cm-tooltip-autocomplete li .cm-completionLabel")

  /** To check that there is no error, a test waits for a later one that is always reported. */
  const deliberate = "\nconst deliberate: number = true\n"

  describe("the type service", () => {
    withCode(
      "underlines an error where it is, and no longer when it is mended",
      "const count: number = 1\nconst word: string = 2\n",
      async (page) => {
        await waitForMarked(page, ["word"])
        expect(
          await page
            .locator(".cm-line", { has: page.locator(".cm-lintRange-error") })
            .textContent(),
        ).toBe("const word: string = 2")
        await goToEndOf(page, "word: string = 2")
        await page.keyboard.press("Backspace")
        await page.keyboard.type('"two"')
        await waitForMarked(page, [])
      },
    )

    withCode("offers what Deno has", `${deliberate}Deno.env.\n`, async (page) => {
      // The service has the document once it reports an error in it.
      await waitForMarked(page, ["deliberate"])
      await goToEndOf(page, "Deno.env.")
      await page.keyboard.press("Control+Space")
      await options(page)
        .filter({ hasText: /^toObject$/ })
        .waitFor()
      await options(page).getByText("toObject").click()
      await expectText(page, `${deliberate}Deno.env.toObject\n`)
    })

    withCode(
      "offers first what TypeScript ranks first",
      `declare const z: { _default: 1; any: 3; text: 5 }\nz\n${deliberate}`,
      async (page) => {
        await waitForMarked(page, ["deliberate"])
        await goToEndOf(page, "const z")
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("End")
        await page.keyboard.type(".")
        await eventually(
          () => options(page).allTextContents(),
          (found) => expect(found).toEqual(["any", "text", "_default"]),
        )
        await page.keyboard.press("Escape")
      },
    )

    withCode(
      "offers members of what an imported val gives, and says what they are",
      `import { greet } from "/v/ada/greet"\nimport type { Guest } from "https://esm.town/v/ada/guest"\nexport const visit = (guest: Guest) => guest.\nexport const wrong: Guest = 1\n`,
      async (page) => {
        // The error appears once the val is loaded.
        await waitForMarked(page, ["wrong"])
        await goToEndOf(page, "=> guest.")
        await page.keyboard.type("v")
        await options(page)
          .filter({ hasText: /^visits$/ })
          .waitFor()
        await page
          .locator(".cm-completionInfo")
          .getByText("(property) Guest.visits: number")
          .waitFor()
        await options(page).getByText("visits").click()
        await eventually(
          () => getText(page),
          (text) => expect(text).toContain("=> guest.visits\n"),
        )
      },
    )

    withCode(
      "takes a version for what it was",
      'import type { Guest } from "./guest@1"\nexport const isNew = ({ visits }: Guest) => 1\n',
      async (page) => {
        await waitForMarked(page, ["visits"])
      },
    )

    withCode(
      "knows the standard library under all of its addresses",
      `import { blob } from "https://esm.town/v/std/blob"
import { sqlite } from "/std/sqlite.ts"
await blob.set(1, "one")
await sqlite.execute(2)
// Columns that are named like methods of arrays.
const { rows } = await sqlite.execute("select at, keys from visits")
for (const row of rows) console.log(new Date(row.at), row.keys + 1, row.map((value) => value.x))
for (const { at } of rows) console.log(new Date(at))
`,
      async (page) => {
        await waitForMarked(page, ["1", "2"])
      },
    )

    withCode(
      "knows all modules of the standard library as vals for Val Town import them",
      `import { email } from "https://esm.town/v/std/email"
import { OpenAI } from "https://esm.town/v/std/OpenAI"
import { readFile, parseVal } from "https://esm.town/v/std/utils@85-main/index.ts"
import { sqlite } from "https://esm.town/v/std/sqlite2"
import { fetch as proxied } from "https://esm.town/v/std/fetch?v=4"
import { blob } from "https://esm.town/v/std/blob/main.ts"
import { sqlite as own } from "/std/sqlite/main.ts"
import { sqlite as shared } from "https://esm.town/v/std/sqlite/global.ts"
await email({ subject: 1 })
const { choices } = await new OpenAI().chat.completions.create({ model: "m", messages: [] })
const content: number = choices[0].message.content
const readme: number = await readFile("/README.md", import.meta.url)
const version: string = parseVal(import.meta.url).version
await sqlite.batch(3)
await proxied(4)
await blob.set(5, "five")
await own.execute(6)
await shared.execute(7)
`,
      async (page) => {
        await waitForMarked(page, [
          "subject",
          "content",
          "readme",
          "version",
          "3",
          "4",
          "5",
          "6",
          "7",
        ])
      },
    )

    withCode(
      "reports no errors for a val of Val Town that this server does not have",
      `import { someone } from "https://esm.town/v/someone/else"\nexport default someone\n${deliberate}`,
      async (page) => {
        await waitForMarked(page, ["deliberate"])
      },
    )

    withCode(
      "says the same of the runtime as the runtime does",
      `await new Promise((resolve) => setTimeout(resolve, 300))
setInterval((name: string) => name, 1, "ada")
process.env.DEBUG = "1"
delete process.env.DEBUG
Deno.env.set("NAME", "value")
Deno.env.delete("NAME")
using socket = await Deno.connect({ hostname: "example.com", port: 5432 })
const secure = await Deno.connectTls({ hostname: "example.com", port: 443 })
await Deno.startTls(socket, { hostname: "example.com" })
Deno.serve((request) => new Response(request.url))
const cache = await caches.open("pages")
localStorage.setItem("a", String(await cache.match("http://example.com/")))
sessionStorage.removeItem("a")
await console.email({ html: "<b>done</b>" }, "A subject")
const due = ({ lastRunAt, scheduledAt }: Interval) => scheduledAt.getTime() - (lastRunAt?.getTime() ?? 0)
const received = ({ attachments: [file], auth }: Email) => auth.isFromVerified && file?.name
const wrong: number = process.env.DEBUG
secure.close()
${deliberate}`,
      async (page) => {
        await waitForMarked(page, ["wrong", "deliberate"])
      },
    )

    withCode(
      "warns of what vals do not have, and says why",
      `const command = new Deno.Command("ls")
Deno.listen({ port: 80 })
const listen = (port: number) => port
listen(1)
await Deno.connect({ port: 5432 })
export default command
`,
      async (page) => {
        const warned = page.locator(".cm-lintRange-warning")
        await eventually(
          () => warned.allTextContents(),
          (texts) => expect(texts).toEqual(["Command", "listen"]),
        )
        await warned.first().hover()
        await page
          .getByText("Cannot use Deno.Command in a val: a val cannot start programs")
          .waitFor()
      },
    )

    withCode(
      "shows the type and the documentation of what the mouse is on",
      'import { greet } from "./greet"\nexport const wrong: number = greet({ name: "ada", visits: 1 })\n',
      async (page) => {
        await waitForMarked(page, ["wrong"])
        await page.locator(".cm-line").nth(1).getByText("greet", { exact: true }).hover()
        await page
          .locator(".cm-types pre")
          .filter({ hasText: "(alias) greet(guest: Guest, times?: number): string" })
          .waitFor()
        await page
          .locator(".cm-types p")
          .getByText("Says hello to a guest.", { exact: true })
          .waitFor()
      },
    )

    withCode(
      "says that a val is not there",
      'import { nothing } from "./nothing"\nexport default nothing\n',
      async (page) => {
        await waitForMarked(page, ['"./nothing"'])
        await page.locator(".cm-lintRange-error").hover()
        await page
          .getByText('The import "./nothing" does not work: there is no such val that you may see')
          .waitFor()
      },
    )

    withCode(
      "knows the modules and globals of Node",
      `import { readFileSync } from "node:fs"
import { setTimeout as wait } from "node:timers/promises"
import { EventEmitter } from "node:events"
import { Readable } from "node:stream"
const wrong: number = readFileSync("/tmp/a", "utf8")
const size: string = Buffer.from("a").length
await wait(1)
new EventEmitter().once("a", () => {})
process.env.DEBUG = process.argv[0] ?? "1"
const timer = setTimeout(() => {}, 1)
clearTimeout(timer)
const response = new Response(await fetch("https://example.com").then((r) => r.body))
Readable.from(["a"]).on("data", console.log)
const url = new URL(import.meta.url)
export default [response.status, url.href, Deno.env.get("A")]
require("fs")
`,
      async (page) => {
        await waitForMarked(page, ["wrong", "size", "require"])
      },
    )

    withCode(
      "reports no errors for modules without types",
      `/** @jsxImportSource https://esm.sh/react@19 */
import { Hono, type Context } from "npm:hono@4"
import { z } from "jsr:@zod/zod"
import * as React from "https://esm.sh/react@19?deps=x"
import { createHash } from "node:crypto"
import lodash from "lodash"
type Input = z.infer<typeof schema>
const schema = z.object({ name: z.string() })
const app = new Hono()
app.get("/", async (c: Context) => c.html(<Page title={lodash.capitalize("x")} />))
class Other extends Hono<Input> {}
function Page({ title }: { title: string }) {
  const [count, setCount] = React.useState<number>(0)
  return <button onClick={(event) => setCount(event.detail + count)}>{title}<></></button>
}
if (typeof document !== "undefined") document.body.append(process.env.HOME ?? createHash("sha256"))
const timer = setTimeout(() => new Other(), 1)
clearTimeout(timer)
export default app.fetch
${deliberate}`,
      async (page) => {
        await waitForMarked(page, ["deliberate"])
      },
    )
  })

  describe("packages", () => {
    withCode(
      "have the types of the lockfile, with those of their dependencies and of @types",
      `import { z } from "npm:zed@1"\nimport { sub } from "npm:bare/sub"
export const one: "inner" = z.string().inner\nexport const wrong: string = sub\nz.\n`,
      async (page) => {
        await waitForMarked(page, ["wrong"])
        await goToEndOf(page, "\nz.".trim())
        await page.keyboard.press("Control+Space")
        await options(page)
          .filter({ hasText: /^string$/ })
          .waitFor()
        await page.keyboard.press("Escape")
      },
      { locked },
    )
  })

  describe("commands", () => {
    withCode(
      "go to the definition of a name: F12, here and in another val",
      'import { greet } from "/v/ada/greet"\nconst deliberate: number = greet\nfunction here() {}\nhere()\n',
      async (page) => {
        await waitForMarked(page, ["deliberate"])
        await goToEndOf(page, "number = gre")
        await page.keyboard.press("F12")
        const definition = { kind: "val", user: "ada", name: "greet", file: null, line: 3 }
        await eventually(
          () => getCalls(page),
          (calls) => expect(calls.at(-1)).toEqual(["definition", definition]),
        )
        await page.locator(".cm-line", { hasText: /^here\(\)$/ }).click({
          modifiers: ["Control"],
          position: { x: 12, y: 8 },
        })
        // The name is selected: typing replaces it.
        await page.waitForFunction(() => getSelection()?.toString() === "here")
      },
    )

    withCode(
      "show the parameters of a call while it is typed, until Escape",
      'import { greet } from "/v/ada/greet"\nconst deliberate: number = greet\ngreet\n',
      async (page) => {
        await waitForMarked(page, ["deliberate"])
        await page.locator(".cm-content").focus()
        await page.keyboard.press("Control+End")
        await page.keyboard.type("greet(")
        const help = page.locator(".cm-signature")
        await help.locator("strong").getByText("guest: Guest").waitFor()
        await page.keyboard.type("x, ")
        await help.locator("strong").getByText("times?: number").waitFor()
        await page.keyboard.press("Escape")
        await help.waitFor({ state: "detached" })
      },
    )

    withCode(
      "rename a name everywhere: F2",
      "const deliberate: number = true\nconst one = 1\nexport const two = { one }\n",
      async (page) => {
        await waitForMarked(page, ["deliberate"])
        await goToEndOf(page, "const on")
        await page.keyboard.press("F2")
        await page.getByRole("textbox", { name: "New name" }).waitFor()
        await page.keyboard.type("first")
        await page.keyboard.press("Enter")
        await expectText(
          page,
          "const deliberate: number = true\nconst first = 1\nexport const two = { one: first }\n",
        )
      },
    )

    withCode(
      "list quick fixes by Control-., among them imports",
      'import type { Guest as Known } from "/v/ada/guest"\nconst deliberate: Known = 1\nconst blank: Guest = { name: "", visits: 1 }\n',
      async (page) => {
        // The first error appears once the module is loaded.
        await waitForMarked(page, ["deliberate", "Guest"])
        await goToEndOf(page, "blank: Gue")
        await page.keyboard.press("Control+Period")
        const fix = page
          .locator(".cm-tooltip-autocomplete li")
          .getByText('Import Guest from "/v/ada/guest"')
        await fix.click()
        await eventually(
          () => getText(page),
          (text) =>
            expect(text).toStartWith(
              'import type { Guest as Known } from "/v/ada/guest"\nimport { Guest } from "/v/ada/guest"\n',
            ),
        )
        await waitForMarked(page, ["deliberate"])
      },
    )
  })

  describe("formatting", () => {
    withCode(
      "puts the code in order and leaves the cursor at what it was at",
      `export  default function(){\nconst word='a'\n      return   word }\n${deliberate}`,
      async (page) => {
        // The editor has the service once it shows an error; before that, it has no formatter.
        await waitForMarked(page, ["deliberate"])
        await goToEndOf(page, "word=")
        await page.keyboard.press("Shift+Alt+KeyF")
        await expectText(
          page,
          `export default function() {\n  const word = 'a'\n  return word\n}\n${deliberate}`,
        )
        await eventually(
          () => getCalls(page),
          (calls) => expect(calls.at(-1)).toEqual(["format", { ok: true, isChanged: true }]),
        )
        await page.keyboard.type("!")
        await eventually(
          () => getText(page),
          (text) => expect(text).toContain("word =! 'a'"),
        )
      },
    )

    withCode("says why it cannot, and changes nothing", "const = 1\nif (\n", async (page) => {
      await page.locator(".cm-lint-marker-error").first().waitFor()
      await page.locator(".cm-content").focus()
      await page.keyboard.press("Shift+Alt+KeyF")
      const refusal = [
        "format",
        { ok: false, message: "Cannot format the code: Variable declaration expected (line 1)" },
      ]
      await eventually(
        () => getCalls(page),
        (calls) => expect(calls.at(-1)).toEqual(refusal),
      )
      expect(await getText(page)).toBe("const = 1\nif (\n")
    })
  })
})
