import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import {
  importOf,
  type OpenResolver,
  openResolver,
  readPlaces,
  runBundle,
} from "./testing/open-resolver.ts"

const typescript = { "content-type": "text/typescript" }
const json = { "content-type": "application/json" }

let open: OpenResolver

beforeAll(async () => {
  open = await openResolver()
  open.registry.publish("one", "1.0.0", { "index.js": "exports.version = 1; exports.name = 'one'" })
  open.registry.publish("one", "1.5.0", {
    "index.js": "exports.version = 1.5; exports.name = 'one'",
  })
  open.registry.publish("one", "2.0.0", { "index.js": "exports.version = 2; exports.name = 'one'" })
})

afterAll(async () => {
  await open[Symbol.asyncDispose]()
})

describe("resolve finds imports", () => {
  test("everywhere in the code, and not what only looks like one", async () => {
    const code = [
      "\uFEFF// import 'npm:in-a-comment'",
      'const text = "import \'npm:in-a-text\'", smile = "😀😀"; import { version } from "npm:one@1.0.0"\r',
      "import type { T } from 'npm:only-a-type'; type U = import('npm:only-a-type').U",
      "/* é😀 */ import * as again from 'npm:one@1.0.0'; export { name } from `npm:one@1.0.0`".replaceAll(
        "`",
        '"',
      ),
      "import fs from 'node:fs'; import x from './beside'; import y from '/v/ada/hello'",
      "import data from 'data:application/json,1' with { type: 'json' }",
      "export default async () => [version, fs, x, y, data, text, smile, again, await import(`npm:one@1.0.0`), import(text)]",
    ].join("\n")
    const resolved = await open.resolve(code)
    expect(resolved.imports).toEqual([
      {
        specifier: "npm:one@1.0.0",
        resolved: "npm:one@1.0.0",
        error: null,
        places: expect.anything(),
        entry: 0,
        exports: ["default", "name", "version"],
      },
    ])
    expect(readPlaces(code, importOf(resolved, "npm:one@1.0.0")).toSorted()).toEqual([
      '"npm:one@1.0.0"',
      '"npm:one@1.0.0"',
      "'npm:one@1.0.0'",
      "`npm:one@1.0.0`",
    ])
    expect(resolved.isTemporary).toBe(false)
  })

  test("with their attributes", async () => {
    open.registry.serve("/data.json", { headers: json, body: '{ "a": [1, 2] }' })
    const url = `${open.registry.url}data.json`
    const code = `import data from "${url}" /* a */ with /* } */ {
  type: "json" }
export default () => [data, import("${url}", { with: { "type": 'json' }, }), import('npm:one', {})]`
    const resolved = await open.resolve(code)
    expect(readPlaces(code, importOf(resolved, url))).toEqual([
      `"${url}" /* a */ with /* } */ {\n  type: "json" }`,
      `"${url}", { with: { "type": 'json' }, }`,
    ])
    expect(importOf(resolved, url)).toMatchObject({ error: null, exports: ["default"] })
    expect(readPlaces(code, importOf(resolved, "npm:one"))).toEqual(["'npm:one'"])
    expect(await runBundle(resolved, `return packages[${JSON.stringify(url)}].default`)).toEqual({
      a: [1, 2],
    })
  })

  test("of the JSX pragma, which has no quotes", async () => {
    open.registry.publish("jsx", "3.1.4", {
      "index.js": "",
      "jsx-runtime.js": "exports.jsx = (type) => type",
    })
    const code = "/** @jsxImportSource npm:jsx@3 */\nexport default () => <p>hello</p>"
    const resolved = await open.resolve(code)
    const found = importOf(resolved, "npm:jsx@3/jsx-runtime")
    expect(found).toMatchObject({
      resolved: "npm:jsx@3.1.4/jsx-runtime",
      error: null,
      exports: ["default", "jsx"],
    })
    expect(readPlaces(code, found)).toEqual(["npm:jsx@3"])
  })

  test("none in code that does not parse, is empty, or has no remote imports", async () => {
    for (const code of [
      "import { from 'npm:one",
      "",
      "\uFEFF",
      "export default () => 1",
      "import x from './y'",
    ])
      expect(await open.resolve(code)).toEqual({ imports: [], bundle: null, isTemporary: false })
  })

  test("up to the limit", async () => {
    await using few = await openResolver({ limits: { importsMax: 1, placesMax: 2 } })
    few.registry.publish("one", "1.0.0", { "index.js": "exports.version = 1" })
    const many = await few.resolve("import 'npm:one'; import 'npm:one@1'; import 'npm:one@1.0'")
    expect(many.imports.map(({ error }) => error)).toEqual([
      null,
      ...Array(2).fill("there can be at most 1 of them"),
    ])
    const often = await few.resolve(
      "import 'npm:one'; import 'npm:one'; import 'npm:one'; import 'npm:one'",
    )
    expect(importOf(often, "npm:one").error).toBe("the code imports it more than 2 times")
    expect(few.registry.requests.filter((path) => path === "/npm/one")).toHaveLength(1)
  })
})

describe("resolve refuses", () => {
  test("imports whose exported names are too many to be stored, with a sentence", async () => {
    await using small = await openResolver({ limits: { answerBytesMax: 2_000 } })
    const names = Array.from({ length: 200 }, (_, index) => `export const someName${index} = 1`)
    small.registry.publish("wide", "1.0.0", { "index.js": names.join("\n") }, { type: "module" })
    const { imports, bundle } = await small.resolve("import 'npm:wide'")
    expect(bundle).toBeNull()
    expect(imports).toMatchObject([
      {
        resolved: null,
        error: "the names of all that the code imports take more than 2000 bytes",
      },
    ])
  })
})

describe("resolve resolves", () => {
  test("to the newest version that matches, exactly", async () => {
    const resolved = await open.resolve(
      "import 'npm:one'; import 'npm:one@1'; import 'npm:one@~1.0'; import 'npm:one@1.5.0'; import 'NPM:one@^2'",
    )
    expect(resolved.imports.map((one) => one.resolved)).toEqual([
      "npm:one@2.0.0",
      "npm:one@1.5.0",
      "npm:one@1.0.0",
      "npm:one@1.5.0",
      "npm:one@2.0.0",
    ])
    expect(
      await runBundle(resolved, "return Object.values(packages).map((one) => one.version)"),
    ).toEqual([2, 1.5, 1, 1.5, 2])
  })

  test("modules of other servers, through redirects, with what they import, in TypeScript", async () => {
    const { registry } = open
    registry.serve("/latest", { status: 302, headers: { location: "/v7/mod.ts" } })
    registry.serve("/v7/mod.ts", {
      headers: typescript,
      body: `import { base } from "./base.ts"; import type { Gone } from "./gone.ts"; import one from "npm:one@1"; import { sep } from "node:path"
        export enum Colour { Red = "red" }; export const sum: number = base + 1; export const isOne = (one as unknown as { name: string }).name === "one"
        export default class Thing<T> { constructor(readonly it: T, public slash = sep) {} }; export * from "./more.tsx"`,
    })
    registry.serve("/v7/base.ts", { headers: typescript, body: "export const base = 41 as const" })
    registry.serve("/v7/more.tsx", {
      headers: { "content-type": "text/tsx" },
      body: "const React = { createElement: (...all: unknown[]) => all }; export const more = <p>hi</p>",
    })
    const url = `${registry.url}latest`
    const resolved = await open.resolve(
      `import Thing, { sum } from "${url}"; export default [Thing, sum]`,
    )
    expect(resolved.imports).toMatchObject([
      {
        resolved: `${registry.url}v7/mod.ts`,
        error: null,
        exports: ["Colour", "default", "isOne", "more", "sum"],
      },
    ])
    expect(
      await runBundle(
        resolved,
        `const { default: Thing, ...rest } = packages[${JSON.stringify(url)}]; return [new Thing(5), rest]`,
      ),
    ).toEqual([
      { it: 5, slash: "/" },
      { Colour: { Red: "red" }, isOne: true, more: ["p", null, "hi"], sum: 42 },
    ])
  })

  test("packages of JSR", async () => {
    const files = {
      "/mod.ts": 'export * from "./inner.ts"; export const version: string = "1.2.3"',
      "/inner.ts": "export function double(n: number): number { return 2 * n }",
      "/sub.ts": "export default 5",
    }
    open.registry.publishJsr("@scope/it", "1.2.3", files, { ".": "./mod.ts", "./sub": "./sub.ts" })
    const resolved = await open.resolve(
      "import { double } from 'jsr:@scope/it@^1'; import five from 'jsr:@scope/it/sub'; double(five)",
    )
    expect(resolved.imports).toMatchObject([
      {
        specifier: "jsr:@scope/it@^1",
        resolved: "jsr:@scope/it@1.2.3",
        error: null,
        exports: ["double", "version"],
      },
      {
        specifier: "jsr:@scope/it/sub",
        resolved: "jsr:@scope/it@1.2.3/sub",
        error: null,
        exports: ["default"],
      },
    ])
    expect(
      await runBundle(
        resolved,
        "return packages['jsr:@scope/it@^1'].double(packages['jsr:@scope/it/sub'].default)",
      ),
    ).toBe(10)
  })

  test("equal imports to the same bundle, and others to another one", async () => {
    const { registry } = open
    registry.publish("moving", "1.0.0", { "index.js": "exports.it = 'old'" })
    const first = await open.resolve("import { it } from 'npm:moving'; export default () => it")
    const again = await open.resolve("import * as all from 'npm:moving'; console.log(all)")
    registry.publish("moving", "1.0.0", { "index.js": "exports.it = 'new'" })
    const later = await open.resolve("import { it } from 'npm:moving'; export default () => it")
    expect(again.bundle?.hash).toBe(first.bundle?.hash as string)
    expect(later.bundle?.hash).not.toBe(first.bundle?.hash as string)
    expect(await runBundle(first, "return packages['npm:moving'].it")).toBe("old")
    expect(await runBundle(later, "return packages['npm:moving'].it")).toBe("new")
    expect(first.bundle?.hash).toBe(
      new Bun.CryptoHasher("sha256").update(first.bundle?.code ?? "").digest("hex"),
    )
  })
})
