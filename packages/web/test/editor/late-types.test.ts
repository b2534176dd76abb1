import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { type EditorServer, startEditorServer } from "../../dev/editor-server.ts"
import { describeInBrowser } from "../support/describe-in-browser.ts"
import {
  goToEndOf,
  type HarnessWindow,
  openEditor,
  show,
  waitForMarked,
} from "../support/open-editor.ts"
import type { OpenPage } from "../support/open-page.ts"

/** The service starts slowly on a busy machine. */
const waitMsMax = 120_000
const typesPath = "/v1/vals/v1/versions/1/types"
const none = { imports: [], files: [], links: [] }
const typesOfZed = {
  state: "ready",
  imports: [{ specifier: "npm:zed@1", resolved: "npm:zed@1.2.3" }],
  files: [
    { path: "zed@1.2.3/node_modules/zed/package.json", text: '{ "types": "./index.d.ts" }' },
    {
      path: "zed@1.2.3/node_modules/zed/index.d.ts",
      text: "export declare const z: { object(): 1; other(): 2 }\n",
    },
  ],
  links: [
    { path: "imports/zed@1.2.3/node_modules/zed", target: "../../../zed@1.2.3/node_modules/zed" },
  ],
}

/** What people write in the code of a page. */
const client = `import { render } from "npm:preact"
import { useRef, useState } from "npm:preact/hooks"
import { size } from "../size.ts"

interface Item { id: number; title: string }

function App() {
  const [items, setItems] = useState<Item[]>([])
  const input = useRef<HTMLInputElement>(null)
  async function load(event: SubmitEvent) {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const response = await fetch(new URL("/api/items", location.href), { method: "POST", body: form })
    setItems((await response.json()) as Item[])
    input.current?.focus()
    window.scrollTo({ top: 0, behavior: "smooth" })
    history.pushState({}, "", "?page=2")
    localStorage.setItem("count", String(items.length + size))
  }
  return (
    <form onSubmit={load}>
      <input ref={input} name="title" onInput={(event) => console.log((event.target as HTMLInputElement).value)} />
      {items.map((item) => <p key={item.id}>{item.title}</p>)}
    </form>
  )
}

const root = document.querySelector<HTMLDivElement>("#root")
if (root) render(<App />, root)
document.getElementById("menu")?.classList.toggle("open")
window.addEventListener("keydown", (event) => { if (event.key === "Escape") root?.remove() })
const timer: number = setTimeout(() => alert(navigator.userAgent), 1000)
new IntersectionObserver(([entry]) => { if (entry?.isIntersecting) clearTimeout(timer) }).observe(document.body)
for (const node of document.querySelectorAll("a")) node.href = node.href.replace("http:", "https:")
`

let server: EditorServer
let tab: OpenPage
const api: Record<string, unknown> = { [typesPath]: { state: "pending", ...none } }

describeInBrowser("the types that come late", (getBrowser) => {
  beforeAll(async () => {
    server = await startEditorServer({ port: 0, vals: {}, api })
    tab = await openEditor(getBrowser(), server.origin)
    tab.page.setDefaultTimeout(waitMsMax)
  })

  afterAll(() => server?.stop())

  afterEach(() => expect(tab.problems).toEqual([]))

  describe("code that only pages load", () => {
    test("has the types of the DOM, and only the problems that it has in a page", async () => {
      const { page } = tab
      const files = {
        "ada/app/main.tsx": 'import "./size.ts"\nexport default () => new Response()\n',
        "ada/app/size.ts": "export const size = 1\n",
        "ada/app/index.html": '<script type="module" src="/client/index.tsx"></script>',
      }
      await page.evaluate(
        (texts) => (globalThis as unknown as HarnessWindow).harness.addFiles(texts),
        files,
      )
      const path = "ada/app/client/index.tsx"
      const wrong = 'Deno.env.get("x")\ndocument.body.dataset.one = 1\ndocument.body.class\n'
      await show(page, { value: wrong + client, path })
      await waitForMarked(page, ["Deno", "document.body.dataset.one", "class"])
    })
  })

  describe("a completion", () => {
    test("appears when the types come that it was asked before, unless it was dismissed", async () => {
      const { page } = tab
      const option = page
        .locator(".cm-tooltip-autocomplete li")
        .getByText("object", { exact: true })
      const code = 'import { z } from "npm:zed@1"\nexport const wrong: number = true\nz.obj\n'
      await show(page, { value: code, path: "ada/zed.tsx", locked: { valId: "v1", version: 1 } })
      await waitForMarked(page, ["wrong"])
      await goToEndOf(page, "z.obj")
      await page.keyboard.press("Control+Space")
      // The query before the types has been answered once a later one has.
      await page.evaluate(() =>
        (globalThis as unknown as HarnessWindow).harness.complete("ada/zed.tsx", "Deno."),
      )
      expect(await option.count()).toBe(0)
      api[typesPath] = typesOfZed
      await option.waitFor()
    })
  })
})
