import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { eventually } from "../../../test/support/eventually.ts"
import { createProject, type Project, type ProjectOptions } from "./project.ts"
import { complete } from "./queries/complete.ts"
import { findDefinition } from "./queries/definition.ts"
import { diagnose } from "./queries/diagnose.ts"
import { listFixes } from "./queries/fixes.ts"
import { listParameters } from "./queries/parameters.ts"
import { findRenamePlaces } from "./queries/rename.ts"
import { helpWithCall } from "./queries/signature-help.ts"

const zed = "zed@1.2.3/node_modules/zed"
const bare = "@types+bare@4.1.0/node_modules/@types/bare"
/** The response of the server for a package with types of its own and one with `@types`. */
const types = {
  state: "ready",
  imports: [
    { specifier: "npm:zed@1", resolved: "npm:zed@1.2.3" },
    { specifier: "npm:bare/sub", resolved: "npm:bare@4.0.0/sub" },
    { specifier: "https://elsewhere.test/x", resolved: "https://elsewhere.test/x.js" },
  ],
  files: [
    { path: `${zed}/package.json`, text: '{ "types": "./index.d.ts" }' },
    {
      path: `${zed}/index.d.ts`,
      text: `import type { Inner } from "inner"
export interface Schema<T> { parse(value: unknown): T; inner: Inner }
/** Describes a text. */
export declare function text(message?: string, code?: number): Schema<string>
export * as z from "./index.js"
`,
    },
    { path: "inner@2.0.0/node_modules/inner/index.d.ts", text: "export type Inner = 'inner'" },
    { path: `${bare}/sub.d.ts`, text: "export const sub: 12" },
  ],
  links: [
    { path: "imports/zed@1.2.3/node_modules/zed", target: `../../../${zed}` },
    { path: "zed@1.2.3/node_modules/inner", target: "../../inner@2.0.0/node_modules/inner" },
    { path: "imports/bare@4.0.0/node_modules/@types/bare", target: `../../../../${bare}` },
    { path: "loop@1.0.0/node_modules/a", target: "b" },
    { path: "loop@1.0.0/node_modules/b", target: "a" },
    { path: "out@1.0.0/node_modules/out", target: "../../../../../../v/ada" },
  ],
}

const modules: Readonly<Record<string, string>> = {
  "/v/ada/greet":
    "/** Says hello. */\nexport default function greet(name: string): string { return name }\n",
  "/v/bob/app@3-main/main.tsx": 'export { size } from "./lib/size.ts"\n',
  "/v/bob/app@3-main/lib/size.ts": "export const size: 12 = 12\n",
  "/std/blob": "export const blob: { get(key: string): unknown } = null as never\n",
}

/** What TypeScript cannot do without. */
const libs = {
  "/lib/lib.esnext.d.ts":
    "interface Array<T> { length: number }\ninterface Boolean {}\ninterface CallableFunction {}\ninterface Function {}\ninterface IArguments {}\ninterface ImportAttributes {}\ninterface NewableFunction {}\ninterface Number {}\ninterface Object {}\ninterface RegExp {}\ninterface String { length: number }\ntype Partial<T> = { [P in keyof T]?: T[P] }\n",
  "/lib/deno.d.ts": "",
  "/lib/prelude.d.ts": "",
  "/lib/node-globals.d.ts": "declare var Buffer: any\n",
  "/lib/text-module.d.ts": "declare const text: string\nexport default text\n",
}

let server: Bun.Server<undefined>
/** Each is the response to one request for types; the last one is repeated. */
let responses: object[] = [types]

beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname } = new URL(request.url)
      if (pathname.endsWith("/types"))
        return Response.json(responses.length > 1 ? responses.shift() : responses[0])
      if (pathname === "/v1/me/vals")
        return Response.json({ data: [{ name: "greet", author: { username: "ada" } }], links: {} })
      if (pathname === "/v/bob/app") return Response.redirect(`${pathname}@3-main/main.tsx`)
      const code = modules[pathname]
      return code === undefined
        ? new Response("", { status: 404 })
        : new Response(code, { headers: { "content-type": "text/tsx" } })
    },
  })
})

afterAll(() => server.stop(true))

const domTypes = {
  "/lib/lib.dom.d.ts": "declare var document: { title: string }\n",
  "/lib/lib.dom.iterable.d.ts": "",
  "/lib/lib.dom.asynciterable.d.ts": "",
  "/dom/deno.d.ts": "declare namespace Deno { const pid: number }\n",
  "/dom/prelude.d.ts": "",
}

const path = "ada/document.tsx"

/**
 * A project with one document, whose version has locked packages. It waits until modules and packages
 * were loaded as often as this.
 */
async function openProject(
  code: string,
  loads = 1,
  loadNodeTypes: ProjectOptions["loadNodeTypes"] = async () => undefined,
): Promise<{ readonly project: Project }> {
  let count = 0
  let wake = () => {}
  const project = createProject({
    libs,
    baseUrl: server.url.origin,
    readPageKey: () => "key",
    loadNodeTypes,
    loadDomTypes: async () => undefined,
    onTypesChanged() {
      count += 1
      wake()
    },
  })
  project.open(path)
  project.setText(path, code)
  project.setLocked(path, { valId: "v1", version: 1 })
  while (count < loads)
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  return { project }
}

const messagesOf = (project: Project) => diagnose(project, path).map(({ message }) => message)
const endOf = (code: string, text: string) => code.indexOf(text) + text.length

describe("createProject", () => {
  test("resolves packages by the lockfile, with their dependencies and their @types", async () => {
    const code = `import { z } from "npm:zed@1"
import { sub } from "npm:bare/sub"
import other from "npm:other"
export const one: "inner" = z.text().inner
export const two: 12 = sub
export const three: string = other
export const wrong: string = sub
`
    const { project } = await openProject(code)
    expect(messagesOf(project)).toEqual(["Type 'number' is not assignable to type 'string'."])
  })

  test("waits for a pending lockfile, and keeps to the versions of a document", async () => {
    const pending = { state: "pending", imports: [], files: [], links: [] }
    responses = [pending, pending, types]
    const code = 'import { z } from "npm:zed@1"\nexport const wrong: number = z.text().parse(1)\n'
    const { project } = await openProject(code)
    expect(messagesOf(project)).toEqual(["Type 'string' is not assignable to type 'number'."])
    responses = [types]
  })

  test("loads the types of Node's modules with the first import of one, and once", async () => {
    const ofNode = `interface Buffer { length: number }
declare var Buffer: { from(text: string): Buffer }
declare module "fs" { export function readFileSync(path: string): Buffer }
declare module "node:fs" { export * from "fs" }
`
    let loads = 0
    const load = async () => {
      loads += 1
      return { "/node/fs.d.ts": ofNode }
    }
    const { project } = await openProject("export const wrong: number = true", 1, load)
    const other = "Type 'boolean' is not assignable to type 'number'."
    expect([messagesOf(project), loads]).toEqual([[other], 0])
    project.setText(
      path,
      'import { readFileSync } from "node:fs"\nexport const wrong: string = readFileSync("a")\nBuffer.from("a").size\n',
    )
    const expected = [
      "Type 'Buffer' is not assignable to type 'string'.",
      "Property 'size' does not exist on type 'Buffer'.",
    ]
    await eventually(
      () => messagesOf(project),
      (messages) => expect([messages, loads]).toEqual([expected, 1]),
    )
  })
})

describe("a val with several files", () => {
  const main = "Ada/hello/main.tsx"
  const openFiles = (files: Readonly<Record<string, string | undefined>>) => {
    const project = createProject({
      libs,
      baseUrl: server.url.origin,
      readPageKey: () => "key",
      loadNodeTypes: async () => undefined,
      loadDomTypes: async () => domTypes,
      onTypesChanged() {},
    })
    for (const path of Object.keys(files)) project.open(path)
    for (const [path, text] of Object.entries(files))
      if (text !== undefined) project.setText(path, text)
    return project
  }
  const db = "/** The size. */\nexport const size = 12\nexport const other = size\n"

  test("checks what pages load with the types of the DOM, and nothing before they are loaded", async () => {
    const used = "export const size: number = document.title\nexport const pid = Deno.pid\n"
    const project = openFiles({
      "ada/app/main.tsx": `import "./both.ts"\nexport default () => 1\n${used}`,
      "ada/app/both.ts": `/// <reference lib="dom" />\n/// <reference lib="deno.ns" />\n${used}`,
      "ada/app/client.tsx": `${used}}`,
      "ada/app/index.html": '<script src="/client.tsx"></script>',
    })
    const messages = (name: string) =>
      diagnose(project, `ada/app/${name}`).map(({ message }) => message)
    const unparsed = "Declaration or statement expected."
    const title = "Type 'string' is not assignable to type 'number'."
    expect(messages("client.tsx")).toEqual([unparsed])
    await eventually(
      () => messages("client.tsx"),
      (found) => expect(found).toEqual([title, "Cannot find name 'Deno'.", unparsed]),
    )
    expect(messages("both.ts")).toEqual([title])
    const isUnknown = "Cannot find name"
    expect(messages("main.tsx").map((found) => found.slice(0, isUnknown.length))).toEqual([
      isUnknown,
      isUnknown,
    ])
    project.setText("ada/app/deno.json", '{"compilerOptions": {"lib": ["dom", "deno.ns"]}}')
    expect(messages("main.tsx")).toEqual([title])
  })

  test("takes what is imported as text for a text", () => {
    const project = openFiles({
      "ada/app/main.tsx":
        'import code from "./client.tsx" with { type: "text" }\nexport const size: number = code\n',
      "ada/app/client.tsx": "export const one = 1\n",
    })
    expect(diagnose(project, "ada/app/main.tsx").map(({ message }) => message)).toEqual([
      "Type 'string' is not assignable to type 'number'.",
    ])
  })

  test("has the types of its other files, also of JSON and JavaScript", () => {
    const code = `import { size } from "./lib/db.ts"
import data from "./data.json" with { type: "json" }
import { plain } from "./plain.js"
export const a: string = size
export const b: string = data.count
export const c: string = plain
`
    const project = openFiles({
      [main]: code,
      "Ada/hello/lib/db.ts": db,
      "Ada/hello/data.json": '{ "count": 1 }',
      "Ada/hello/plain.js": "export const plain = 1",
    })
    expect(diagnose(project, main).map(({ message }) => message)).toEqual(
      Array(3).fill("Type 'number' is not assignable to type 'string'."),
    )
    project.setText("Ada/hello/lib/db.ts", "export const size = 'large'")
    expect(diagnose(project, main)).toHaveLength(2)
  })

  test("names files that do not exist, and waits for those that are loading", () => {
    const code = 'import { x } from "./none.ts"\nimport { y } from "./late.ts"\nx; y\n'
    const project = openFiles({ [main]: code, "Ada/hello/late.ts": undefined })
    expect(diagnose(project, main).map(({ message }) => message)).toEqual([
      'The import "./none.ts" does not work: there is no such file in the val',
    ])
    project.setText("Ada/hello/late.ts", "export const z = 1")
    expect(diagnose(project, main).map(({ message }) => message)).toContain(
      "Module '\"./late.ts\"' has no exported member 'y'.",
    )
  })

  test("finds definitions, and renames in all files", () => {
    const code = 'import { size } from "./lib/db.ts"\nexport default size\n'
    const path = "Ada/hello/lib/db.ts"
    const project = openFiles({ [main]: code, [path]: db })
    expect(findDefinition(project, main, code.lastIndexOf("size"))).toEqual({
      kind: "document",
      path,
      line: 2,
    })
    const renamed = findRenamePlaces(project, path, db.indexOf("size ="))
    expect(renamed.ok && renamed.places.map(({ path: file }) => file)).toEqual([
      path,
      path,
      main,
      main,
    ])
  })

  test("offers its files and what they export", () => {
    const code = 'import {} from "./"\nother'
    const project = openFiles({ [main]: code, "Ada/hello/lib/db.ts": db, "Ada/hi/x.ts": "1" })
    const inString = complete(project, main, code.indexOf('./"') + 2, false)
    expect(inString?.options[0]?.name).toBe("./lib/db.ts")
    expect(inString?.options.map(({ name }) => name)).not.toContain("../hi/x.ts")
    const found = complete(project, main, code.length, false)
    expect(found?.options.find(({ name }) => name === "other")?.source?.specifier).toBe(
      "./lib/db.ts",
    )
    const up = complete(
      openFiles({ [main]: "", "Ada/hello/lib/db.ts": 'import "' }),
      "Ada/hello/lib/db.ts",
      8,
      false,
    )
    expect(up?.options[0]?.name).toBe("../main.tsx")
  })

  test("follows files that are created, moved and deleted", () => {
    const code = 'import { size } from "./db.ts"\nexport const a: string = size\n'
    const project = openFiles({ [main]: code })
    const list = () => diagnose(project, main).map(({ message }) => message)
    const missing = 'The import "./db.ts" does not work: there is no such file in the val'
    const wrong = "Type 'number' is not assignable to type 'string'."
    expect(list()).toEqual([missing])
    project.open("Ada/hello/db.ts")
    project.setText("Ada/hello/db.ts", db)
    expect(list()).toEqual([wrong])
    project.close("Ada/hello/db.ts")
    expect(list()).toEqual([missing])
    project.open("Ada/hello/lib/db.ts")
    project.setText("Ada/hello/lib/db.ts", db)
    project.setText(main, code.replace("./db.ts", "./lib/db.ts"))
    expect(list()).toEqual([wrong])
  })

  test("has the names of its deno.json", async () => {
    const code = `import { size } from "db"
import { size as same } from "@/lib/db.ts"
import { z } from "zed"
import greet from "greet"
export const a: string = size
export const b: string = same
export const c: number = z.text().parse(1)
export const d: number = greet("x")
`
    const greet = `${server.url.origin}/v/ada/greet`
    const config = JSON.stringify({
      imports: { db: "./lib/db.ts", "@/": "./", zed: "npm:zed@1", greet },
      scopes: { "./lib/": { db: "./main.tsx" } },
    })
    const project = openFiles({
      [main]: code,
      "Ada/hello/lib/db.ts": `${db}export { d } from "db"\n`,
      "Ada/hello/deno.json": config,
    })
    project.setLocked(main, { valId: "id", version: 1 })
    const list = () => diagnose(project, main).map(({ message }) => message)
    await eventually(list, (messages) =>
      expect(messages).toEqual([
        ...Array(2).fill("Type 'number' is not assignable to type 'string'."),
        ...Array(2).fill("Type 'string' is not assignable to type 'number'."),
      ]),
    )
    expect(diagnose(project, "Ada/hello/lib/db.ts")).toEqual([])
    const atName = code.indexOf('"db"') + 2
    const offered = complete(project, main, atName, false)?.options.map(({ name }) => name) ?? []
    expect(offered).toEqual(expect.arrayContaining(["db", "zed", "./lib/db.ts"]))
    expect(offered).not.toContain("./deno.json")
    // A change of it counts at once, and so does its end.
    project.setText("Ada/hello/deno.json", '{ "imports": { "db": "./none.ts" } /* and no more */ }')
    expect(list()).toEqual(['The import "db" does not work: there is no such file in the val'])
    project.close("Ada/hello/deno.json")
    expect(list()).toEqual([])
  })

  test("has the JSX of its deno.json", () => {
    const jsx =
      "export declare namespace JSX { interface IntrinsicElements { own: { size: number } } }\n"
    const project = openFiles({
      [main]: 'export const page = <own size="1" />\n',
      "Ada/hello/lib/jsx-runtime.ts": jsx,
    })
    expect(diagnose(project, main)).toEqual([])
    const options = { jsx: "react-jsx", jsxImportSource: "own" }
    const imports = { "own/jsx-runtime": "./lib/jsx-runtime.ts" }
    project.setText("Ada/hello/deno.jsonc", JSON.stringify({ compilerOptions: options, imports }))
    expect(diagnose(project, main).map(({ message }) => message)).toEqual([
      "Type 'string' is not assignable to type 'number'.",
    ])
  })

  test("follows the files of another val from its entry file", async () => {
    const code = 'import { size } from "/v/bob/app"\nexport const wrong: string = size\n'
    const project = openFiles({ [main]: code })
    await eventually(
      () => diagnose(project, main).map(({ message }) => message),
      (messages) => expect(messages).toEqual(["Type 'number' is not assignable to type 'string'."]),
    )
    expect(findDefinition(project, main, code.lastIndexOf("size"))).toEqual({
      kind: "val",
      user: "bob",
      name: "app",
      file: "lib/size.ts",
      line: 1,
    })
  })
})

describe("complete", () => {
  test("offers the members of a package's export", async () => {
    const code = 'import { z } from "npm:zed@1"\nz.'
    const { project } = await openProject(code)
    const names = complete(project, path, code.length, false)?.options.map(({ name }) => name)
    expect(names).toEqual(["text", "z"])
  })

  test("has TypeScript's order, with internal names after their equals", async () => {
    const code = "declare const z: { _default: 1; $brand: 2; any: 3; text: 5 }\nz."
    const { project } = await openProject(code)
    const names = complete(project, path, code.length, false)?.options.map(({ name }) => name)
    expect(names).toEqual(["any", "text", "_default", "$brand"])
  })

  test("offers modules inside the string of an import", async () => {
    const code = 'import {} from ""'
    const { project } = await openProject(code)
    const list = () =>
      complete(project, path, code.length - 1, false)?.options.map(({ name }) => name) ?? []
    expect(list()).toEqual(expect.arrayContaining(["npm:zed@1", "/std/sqlite", "node:fs"]))
    // The vals of the user are loaded by then.
    await eventually(list, (names) => expect(names).toContain("/v/ada/greet"))
  })

  test("offers names of known modules together with their import", async () => {
    const code = 'import { z } from "npm:zed@1"\nimport "/v/ada/greet"\n\nconst a = tex'
    const { project } = await openProject(code, 2)
    const find = (at: number, wanted: string) =>
      complete(project, path, at, false)?.options.find(({ name }) => name === wanted)?.source
    expect(find(code.length, "text")).toEqual({
      specifier: "npm:zed@1",
      edit: { from: endOf(code, "{ z"), to: endOf(code, "{ z"), text: ", text" },
    })
    const other = 'import "/v/ada/greet";\n\nconst a = gre'
    project.setText(path, other)
    const end = endOf(other, 'greet";')
    expect(find(other.length, "greet")).toEqual({
      specifier: "/v/ada/greet",
      edit: { from: end, to: end, text: '\nimport greet from "/v/ada/greet";' },
    })
    project.setText(path, "/** @jsxImportSource x */\nconst a = blo")
    const start = "/** @jsxImportSource x */\n".length
    // The standard library is loaded when an import was first asked for.
    const found = await eventually(
      () => find(start + 13, "blob"),
      (source) => expect(source).toBeDefined(),
    )
    expect(found).toEqual({
      specifier: "/std/blob",
      edit: { from: start, to: start, text: 'import { blob } from "/std/blob"\n' },
    })
  })
})

describe("helpWithCall", () => {
  test("has the parameters of a call, and which one is at the cursor", async () => {
    const code = 'import { text } from "npm:zed@1"\ntext("a", '
    const { project } = await openProject(code)
    expect(
      helpWithCall(project.findService(path), project.toFileName(path), code.length),
    ).toMatchObject({
      prefix: "text(",
      parameters: ["message?: string", "code?: number"],
      active: 1,
      documentation: "Describes a text.",
      count: 1,
    })
  })
})

describe("findDefinition", () => {
  test("finds it in the document, in another val and in a package", async () => {
    const code = `import greet from "./greet"\nimport { text } from "npm:zed@1"\nconst here = 1\ngreet; text; here\n`
    const { project } = await openProject(code, 2)
    const find = (text: string) => findDefinition(project, path, code.lastIndexOf(text))
    const start = code.indexOf("here")
    expect(find("here")).toEqual({ kind: "here", from: start, to: start + 4 })
    const greet = { kind: "val", user: "ada", name: "greet", file: null, line: 2 } as const
    expect(find("greet")).toEqual(greet)
    expect(find("text")).toMatchObject({ kind: "file", title: "zed@1.2.3/index.d.ts", line: 4 })
    expect(findDefinition(project, path, code.length)).toBeNull()
  })
})

describe("findRenamePlaces", () => {
  test("has all places of a name, and keeps the names of properties", async () => {
    const code = "const one = 1\nexport const two = { one }\n"
    const { project } = await openProject(code)
    expect(findRenamePlaces(project, path, code.indexOf("one"))).toEqual({
      ok: true,
      name: "one",
      places: [
        { path, from: 6, to: 9, prefix: "", suffix: "" },
        { path, from: endOf(code, "{ "), to: endOf(code, "{ one"), prefix: "one: ", suffix: "" },
      ],
    })
  })

  test("refuses a keyword, and a name of another module", async () => {
    const code = 'import { text } from "npm:zed@1"\ntext()\n'
    const { project } = await openProject(code)
    expect(findRenamePlaces(project, path, 2).ok).toBe(false)
    expect(findRenamePlaces(project, path, code.lastIndexOf("text")).ok).toBe(false)
  })
})

describe("listFixes", () => {
  test("has the fixes of TypeScript, and imports of known modules", async () => {
    const code =
      'import { z } from "npm:zed@1"\nexport const a = z.text()\ntext()\nasync () => 1\nfunction f() { await a }\n'
    const { project } = await openProject(code)
    const at = (text: string) => ({ from: code.lastIndexOf(text), to: code.lastIndexOf(text) })
    expect(listFixes(project, path, at("text()\n"))).toContainEqual({
      title: 'Import text from "npm:zed@1"',
      edits: [{ from: endOf(code, "{ z"), to: endOf(code, "{ z"), text: ", text" }],
    })
    const { from } = at("function f")
    expect(listFixes(project, path, at("await a"))).toContainEqual({
      title: "Add async modifier to containing function",
      edits: [{ from, to: from, text: "async " }],
    })
  })
})

describe("listParameters", () => {
  const fieldsOf = async (code: string) => {
    const { project } = await openProject(code)
    return listParameters(project, path)?.map(({ name, isOptional, field }) => [
      name,
      isOptional,
      field.kind === "choice" ? field.values : field.kind,
    ])
  }

  test("describes the parameters of the default export", async () => {
    const code = `type Size = "small" | "large" | 3
export const helper = (x: unknown) => x
export default async function run(name: string, { a, b }: { a: 1; b: 2 }, count = 1, isLoud?: boolean, size: Size = "small", ...rest: string[]) {}`
    expect(await fieldsOf(code)).toEqual([
      ["name", false, "text"],
      ["argument 2", false, "json"],
      ["count", true, "number"],
      ["isLoud", true, "boolean"],
      ["size", true, ["small", "large", 3]],
      ["rest", true, "json"],
    ])
  })

  test("describes the only exported function, and nothing without a function", async () => {
    expect(await fieldsOf("export const add = (a: number, b: number) => a")).toEqual([
      ["a", false, "number"],
      ["b", false, "number"],
    ])
    expect(await fieldsOf("export const one = () => 1, two = () => 2")).toBeUndefined()
    expect(await fieldsOf("export default 12")).toBeUndefined()
  })
})
