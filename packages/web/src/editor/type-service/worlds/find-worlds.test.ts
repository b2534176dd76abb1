import { describe, expect, test } from "bun:test"
import { findWorlds } from "./find-worlds.ts"

const root = "/v/ada/app/"

/** The worlds of files by their paths. */
function worldsOf(texts: Readonly<Record<string, string>>, wantsDom = false) {
  const files = new Map(
    Object.entries(texts).map(([path, text]) => [root + path, { path, text }] as const),
  )
  const worlds = findWorlds({
    files,
    resolve: (specifier, importer) =>
      specifier.startsWith(".") ? new URL(specifier, `http://host${importer}`).pathname : undefined,
    wantsDom: () => wantsDom,
  })
  return Object.fromEntries(Object.keys(texts).map((path) => [path, worlds.get(root + path)]))
}

const server = 'import { add } from "./shared/add.ts"\nexport default () => new Response()\n'

describe("findWorlds", () => {
  test("gives pages what HTML loads, and what only that imports", () => {
    for (const page of [
      '<script type="module" src="/client/index.tsx"></script>',
      "<script type=module src=./client/index.tsx?v=1 defer></script>",
      '<script type="module">import "./client/index.tsx"</script>',
      '<script src="https://cdn.test/x.js"></script><script src="/static/index.tsx"></script><script src="index.tsx"></script>',
    ])
      expect(
        worldsOf({
          "main.http.tsx": server,
          "index.html": page,
          "client/index.tsx": 'import "../shared/add.ts"\nimport App from "./app.tsx"\n',
          "client/app.tsx": "export default function App() {}\n",
          "shared/add.ts": "export const add = 1\n",
        }),
        page,
      ).toMatchObject({
        "main.http.tsx": "server",
        "client/index.tsx": "page",
        "client/app.tsx": "page",
        "shared/add.ts": "server",
      })
  })

  test("reads the scripts that code writes into a page, and modules that it imports as text", () => {
    const files = { "page/one.ts": "export {}\n", "page/two.ts": "export const two = 2\n" }
    const code = [
      'const html = `<script type="module" src="${base}/page/one.ts"></script>`\n',
      'const tag = <script type="module" src={"/page/one.ts"}></script>\n',
      'import text from "./page/one.ts" with { type: "text" }\n',
      'const text = await import("./page/one.ts", { with: { type: "text" } })\n',
      'import type { One } from "./page/one.ts"\nconst html = `<script src="./page/one.ts">`\n',
    ]
    for (const main of code)
      expect(worldsOf({ "main.tsx": `${main}export default 1`, ...files }), main).toEqual({
        "main.tsx": "server",
        "page/one.ts": "page",
        "page/two.ts": "server",
      })
  })

  test("gives pages a module that nothing imports or starts, if it uses the page", () => {
    const world = (text: string) => worldsOf({ "main.tsx": server, "x.tsx": text })["x.tsx"]
    expect(world('document.querySelector("p")\n')).toBe("page")
    expect(world('import { createRoot } from "npm:react-dom@19/client"\n')).toBe("page")
    expect(world('/// <reference lib="dom" />\nconst one = 1\n')).toBe("page")
    expect(world("export const one = 1\n")).toBe("server")
    expect(world("export default () => document.title\n")).toBe("server")
    expect(world("const { document } = parse()\ndocument.body\n")).toBe("server")
    expect(world('if (typeof document !== "undefined") document.body\n')).toBe("server")
  })

  test("leaves to the server what it imports, and both worlds to files that ask for the DOM", () => {
    const app = '/// <reference lib="dom" />\nexport default () => document.title\n'
    const files = {
      "main.tsx": 'import App from "./client/app.tsx"\nexport default 1\n',
      "client/app.tsx": app,
      "client/index.tsx": 'import App from "./app.tsx"\n',
      "index.html": '<script src="client/index.tsx">',
    }
    const expected = { "main.tsx": "server", "client/app.tsx": "both", "client/index.tsx": "page" }
    expect(worldsOf(files)).toMatchObject(expected)
    expect(worldsOf(files, true)).toMatchObject({ ...expected, "main.tsx": "both" })
  })

  test("ends with modules that import each other, and pages that name themselves", () => {
    const files = {
      "a.ts": 'import "./b.ts"\n',
      "b.ts": 'import "./a.ts"\n',
      "main.tsx": 'export default () => `<script src="/main.tsx">`\n',
      "gone.html": '<script src="gone.ts"></script><script src=""></script><script src="/">',
    }
    expect(worldsOf(files)).toMatchObject({
      "a.ts": "server",
      "b.ts": "server",
      "main.tsx": "server",
    })
  })
})
