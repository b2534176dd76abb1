import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { readTypes } from "./read-types.ts"
import { type OpenResolver, openResolver } from "./testing/open-resolver.ts"

let open: OpenResolver

beforeAll(async () => {
  open = await openResolver()
})

afterAll(async () => {
  await open[Symbol.asyncDispose]()
})

/** The types of what code imports: texts by path, and targets by link. */
async function typesOf(code: string, from = open) {
  const { bundle, imports } = await from.resolve(code)
  expect(imports.map(({ error }) => error)).toEqual(imports.map(() => null))
  const archive = await bundle?.types?.read()
  const { files, links } = archive ? await readTypes(archive) : { files: [], links: [] }
  return {
    files: Object.fromEntries(files.map(({ path, text }) => [path, text])),
    links: Object.fromEntries(links.map(({ path, target }) => [path, target])),
  }
}

const js = "export const it = 1"

describe("The types of packages", () => {
  test("are the declarations that package.json names, and all that these import", async () => {
    open.registry.publish(
      "inner",
      "2.0.0",
      { "index.js": "exports.it = 1", "index.d.ts": "export type Inner = 1", "unused.d.ts": "" },
      {},
    )
    open.registry.publish(
      "typed",
      "1.2.3",
      {
        "dist/a.mjs": `import "inner"; ${js}`,
        "dist/a.d.mts": `export * from "./more.js"; import type { Inner } from "inner"`,
        "dist/more.d.ts": `/// <reference path="last.d.ts" />\nexport type More = import("./lazy").Lazy`,
        "dist/last.d.ts": "declare const last: 1",
        "dist/lazy/index.d.ts": "export type Lazy = 1",
        "dist/sub.d.ts": "export declare const sub: 1",
        "dist/sub.js": js,
        "dist/unused.d.ts": "",
      },
      {
        type: "module",
        exports: {
          ".": {
            node: { import: "./dist/a.mjs" },
            types: "./dist/a.d.mts",
            default: "./dist/a.mjs",
          },
          "./*": { types: "./dist/*.d.ts", default: "./dist/*.js" },
        },
        dependencies: { inner: "^2.0.0" },
        description: "not needed",
      },
    )
    const { files, links } = await typesOf("import 'npm:typed@1'; import 'npm:typed@1/sub'")
    const folder = "typed@1.2.3/node_modules/typed"
    expect(Object.keys(files)).toEqual([
      "inner@2.0.0/node_modules/inner/index.d.ts",
      "inner@2.0.0/node_modules/inner/package.json",
      ...["a.d.mts", "last.d.ts", "lazy/index.d.ts", "more.d.ts", "sub.d.ts"].map(
        (name) => `${folder}/dist/${name}`,
      ),
      `${folder}/package.json`,
    ])
    expect(JSON.parse(files[`${folder}/package.json`] ?? "")).not.toHaveProperty("description")
    expect(links).toEqual({
      "imports/typed@1.2.3/node_modules/typed": `../../../${folder}`,
      "typed@1.2.3/node_modules/inner": "../../inner@2.0.0/node_modules/inner",
    })
  })

  test("are found in a folder of their own, without any beside the code", async () => {
    open.registry.publish(
      "apart",
      "1.0.0",
      {
        "dist/index.js": js,
        "types/index.d.ts": 'export * from "./more.ts"',
        "types/more.d.ts": "export declare const it: 1",
      },
      {
        type: "module",
        exports: { ".": { types: "./types/index.d.ts", import: "./dist/index.js" } },
      },
    )
    const { files } = await typesOf("import 'npm:apart'")
    const folder = "apart@1.0.0/node_modules/apart"
    expect(Object.keys(files)).toEqual(
      ["package.json", "types/index.d.ts", "types/more.d.ts"].map((name) => `${folder}/${name}`),
    )
  })

  test("come from @types for a package that has none, of the same major version", async () => {
    const { registry } = open
    registry.publish("@scope/bare", "4.1.0", { "index.js": "exports.it = 1" })
    for (const [version, text] of [
      ["3.0.0", "three"],
      ["4.9.9", "four"],
      ["5.0.0", "five"],
    ] as const)
      registry.publish("@types/scope__bare", version, { "index.d.ts": `declare const ${text}: 1` })
    const { files, links } = await typesOf("import 'npm:@scope/bare'")
    const types = "@types+scope__bare@4.9.9/node_modules/@types/scope__bare"
    expect(files[`${types}/index.d.ts`]).toBe("declare const four: 1")
    expect(links["imports/@scope/bare@4.1.0/node_modules/@types/scope__bare"]).toBe(
      `../../../../../${types}`,
    )
    expect(links["node_modules/@types/scope__bare"]).toBe(`../../${types}`)
  })

  test("are missing for a package without any, which works all the same", async () => {
    open.registry.publish("untyped", "1.0.0", { "index.js": "exports.it = 1" })
    expect(await typesOf("import 'npm:untyped'")).toEqual({ files: {}, links: {} })
  })

  test("are part of the hash of the bundle", async () => {
    const hashOf = async (text: string) => {
      const files = { "index.js": "exports.it = 1", "index.d.ts": text }
      open.registry.publish("changing", "1.0.0", files)
      return (await open.resolve("import 'npm:changing'")).bundle?.hash
    }
    expect(await hashOf("export type A = 1")).not.toBe((await hashOf("export type A = 2")) ?? "")
  })

  test("never include a file outside of the packages, or one that is no text", async () => {
    open.registry.publish(
      "hostile",
      "1.0.0",
      {
        "index.js": "exports.it = 1",
        "index.d.ts": [
          '/// <reference path="../../../../../../../../../../etc/passwd" />',
          'export * from "../../../../main"',
          'export * from "/etc/hosts"',
          'import "../../other@1.0.0/node_modules/../../../../x"',
          'export * from "./bytes"',
          `from${" ".repeat(200_000)}x`,
        ].join("\n"),
        "bytes.d.ts": new Uint8Array([0xff, 0xfe, 0, 65]),
      },
      {
        types: "./index.d.ts",
        typesVersions: { "*": { "*": ["../../../../../../../etc/*", 5, null] } },
      },
    )
    const { files } = await typesOf("import 'npm:hostile'")
    const folder = "hostile@1.0.0/node_modules/hostile"
    expect(Object.keys(files)).toEqual(
      ["bytes.d.ts", "index.d.ts", "package.json"].map((name) => `${folder}/${name}`),
    )
    expect(files[`${folder}/bytes.d.ts`]).toBe("\ufffd\ufffd\0A")
  })

  test("are left out where a package.json is nonsense", async () => {
    for (const [index, fields] of [
      { exports: { ".": { types: [null, 1, {}, { import: "x" }], default: "./index.js" } } },
      { exports: null, types: 7, typings: {}, main: "index.js", typesVersions: [] },
      { types: "./missing.d.ts" },
    ].entries()) {
      const name = `nonsense-${index}`
      open.registry.publish(name, "1.0.0", { "index.js": "exports.it = 1" }, fields)
      expect((await typesOf(`import 'npm:${name}'`)).files).toEqual({})
    }
  })

  test("end at the limits, those that are nearest to the import first", async () => {
    const limits = { typeFilesMax: 4, typeFileBytesMax: 500, typeBytesTotalMax: 2_000 }
    await using small = await openResolver({ limits })
    const chain = Array.from({ length: 10 }, (_, index) => [
      `${index}.d.ts`,
      `export * from "./${index + 1}"`,
    ])
    small.registry.publish("chain", "1.0.0", {
      "index.js": "exports.it = 1",
      "index.d.ts": 'export * from "./large"; export * from "./0"',
      "large.d.ts": "x".repeat(1_000),
      ...Object.fromEntries(chain),
    })
    const { files } = await typesOf("import 'npm:chain'", small)
    expect(Object.keys(files)).toEqual(
      ["0.d.ts", "1.d.ts", "index.d.ts", "package.json"].map(
        (name) => `chain@1.0.0/node_modules/chain/${name}`,
      ),
    )
  })
})
