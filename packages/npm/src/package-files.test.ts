import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { packFiles, readArchive } from "@hamlet/sandbox"
import { type OpenResolver, openResolver, runBundle } from "./testing/open-resolver.ts"

let open: OpenResolver

beforeAll(async () => {
  open = await openResolver()
})

afterAll(async () => {
  await open[Symbol.asyncDispose]()
})

const esm = { type: "module" }

/** Resolves one package and returns what its export `it` is, or resolves to. */
async function readIt(name: string): Promise<unknown> {
  const resolved = await open.resolve(`import 'npm:${name}'`)
  expect(resolved.imports[0]?.error).toBeNull()
  return await runBundle(
    resolved,
    `const it = packages["npm:${name}"]; return await (it.it ?? it.default.it)`,
  )
}

async function listFiles(code: string): Promise<readonly string[]> {
  const { bundle } = await open.resolve(code)
  if (!bundle?.files) return []
  const { list } = await readArchive(await bundle.files.read())
  return list.files.map(([path]) => path)
}

describe("The files of a package", () => {
  test("are read by every way to name their location", async () => {
    open.registry.publish(
      "common",
      "1.0.0",
      {
        "lib/index.js": `"use strict"; const fs = require("fs"), path = require("path")
        exports.it = [
          fs.readFileSync(__dirname + "/data.txt", "utf8"),
          fs.readFileSync(path.join(path.dirname(__filename), "../more/data.txt"), "utf8"),
          fs.readFileSync(require.resolve("./data.txt"), "utf8"),
          require("./data.json").json, (function () { return this === undefined })(),
        ]`,
        "lib/data.txt": "beside",
        "lib/data.json": '{ "json": 1 }',
        "more/data.txt": "above",
      },
      { main: "lib/index.js" },
    )
    open.registry.publish(
      "modern",
      "1.0.0",
      {
        "index.js": `import { readFileSync } from "node:fs"; import { fileURLToPath } from "node:url"; import { createRequire } from "node:module"
        const file = new URL("./it.wasm", import.meta.url)
        export const it = (async () => [
          readFileSync(file, "utf8"), await Deno.readTextFile(file), await (await fetch(file)).text(),
          readFileSync(fileURLToPath(import.meta.resolve("./it.wasm")), "utf8"),
          readFileSync(import.meta.dirname + "/it.wasm", "utf8"), import.meta.filename.endsWith("/index.js"),
          createRequire(import.meta.url)("./package.json").version, typeof __dirname,
        ])()`,
        "it.wasm": "bytes",
      },
      esm,
    )
    expect(await readIt("common")).toEqual(["beside", "above", "beside", 1, true])
    expect(await readIt("modern")).toEqual([...Array(5).fill("bytes"), true, "1.0.0", "undefined"])
  })

  test("are those of packages that use their location, without maps, types and addons", async () => {
    const { registry } = open
    registry.publish("plain", "1.0.0", { "index.js": "exports.it = 1", "data.txt": "" })
    const files = {
      "index.js": "exports.it = __dirname",
      "index.js.map": "",
      "index.d.ts": "",
      "README.md": "",
      "data.bin": "x",
      "a.node": "",
    }
    registry.publish("placed", "1.0.0", files)
    expect(await listFiles("import 'npm:plain'; import 'npm:placed'")).toEqual(
      ["data.bin", "index.js", "package.json"].map(
        (name) => `placed@1.0.0/node_modules/placed/${name}`,
      ),
    )
    expect(await listFiles("import 'npm:plain'")).toEqual([])
  })

  test("are part of the hash, apart from the code", async () => {
    const { registry } = open
    const hashOf = async (data: string) => {
      registry.publish("hashed", "1.0.0", { "index.js": "exports.it = __dirname", "it.txt": data })
      const { bundle } = await open.resolve("import 'npm:hashed'")
      return { hash: bundle?.hash, code: Buffer.from(bundle?.code ?? []), files: bundle?.files }
    }
    const [one, other] = [await hashOf("one"), await hashOf("two")]
    expect(one.code.equals(other.code)).toBe(true)
    expect(one.hash).not.toBe(other.hash as string)
    const { list, contents } = await readArchive((await one.files?.read()) ?? new Uint8Array())
    const joined = Buffer.concat([
      one.code,
      packFiles(list, Buffer.concat(contents)) ?? Buffer.of(),
    ])
    expect(one.hash).not.toBe(Bun.SHA256.hash(joined, "hex"))
  })

  test("may have paths that take more than the description of the imports", async () => {
    await using small = await openResolver({ limits: { answerBytesMax: 3_000 } })
    const files = Array.from({ length: 60 }, (_, index) => [`${"long".repeat(20)}${index}.bin`, ""])
    small.registry.publish("many", "1.0.0", {
      "index.js": "exports.it = __dirname",
      ...Object.fromEntries(files),
    })
    const { bundle, imports } = await small.resolve("import 'npm:many'")
    expect(imports.map(({ error }) => error)).toEqual([null])
    const { list } = await readArchive((await bundle?.files?.read()) ?? new Uint8Array())
    expect(list.files).toHaveLength(62)
  })

  test("are left out when their paths are too long in total", async () => {
    await using small = await openResolver({ limits: { filePathBytesMax: 200 } })
    small.registry.publish("long", "1.0.0", {
      "index.js": "exports.it = __dirname",
      [`${"long".repeat(20)}.bin`]: "",
    })
    small.registry.publish("short", "1.0.0", { "index.js": "exports.it = __dirname" })
    const { bundle, imports } = await small.resolve("import 'npm:long'; import 'npm:short'")
    expect(imports.map(({ error }) => error)).toEqual([null, null])
    const { list } = await readArchive((await bundle?.files?.read()) ?? new Uint8Array())
    expect(list.files.map(([path]) => path)).toEqual(
      ["index.js", "package.json"].map((name) => `short@1.0.0/node_modules/short/${name}`),
    )
  })

  test("are left out when they are too many or too large, the largest package first", async () => {
    await using small = await openResolver({ limits: { fileBytesTotalMax: 2_000 } })
    small.registry.publish("large", "1.0.0", {
      "index.js": "exports.it = __dirname",
      "data.bin": "x".repeat(3_000),
    })
    small.registry.publish("little", "1.0.0", { "index.js": "exports.it = __dirname" })
    small.registry.publish("@map/it", "1.0.0", {
      "index.js": "exports.it = __dirname",
      "index.js.map": "x".repeat(3_000),
    })
    const { bundle, imports, leftOut } = await small.resolve(
      "import 'npm:large'; import 'npm:little'; import 'npm:@map/it'",
    )
    expect(leftOut).toEqual(["large@1.0.0"])
    expect(imports.map(({ error }) => error)).toEqual([null, null, null])
    const { list } = await readArchive((await bundle?.files?.read()) ?? new Uint8Array())
    expect(new Set(list.files.map(([path]) => path.split("@1")[0]))).toEqual(
      new Set(["@map+it", "little"]),
    )
  })

  test("include the dependencies of a package that loads its modules by path", async () => {
    const { registry } = open
    registry.publish("helper", "1.0.0", { "index.js": "module.exports = 'helped'" })
    registry.publish(
      "loader",
      "1.0.0",
      {
        "index.mjs": `import { createRequire } from "node:module"; export const it = createRequire(import.meta.url)("./late.cjs")`,
        "late.cjs": "module.exports = require('helper')",
      },
      { main: "index.mjs", dependencies: { helper: "1" } },
    )
    expect(await readIt("loader")).toBe("helped")
  })
})

describe("A computed import in a package", () => {
  test("loads a module of the package, which shares the modules of the bundle", async () => {
    open.registry.publish("plugins", "1.0.0", {
      "index.js": `const state = require("./state"); const load = require
        const name = (text) => "./plugins/" + text
        exports.it = (async () => {
          load(name("one.js")); require(name("one")); await import(name("two.mjs"))
          let missing; try { require(name("three")) } catch (error) { missing = error.code }
          return [state.names, (await import(name("two.mjs"))).two, missing, require(["node", "path"].join(":")).sep]
        })()`,
      "state.js": "exports.names = []",
      "plugins/one.js": "require('../state').names.push('one')",
      "plugins/two.mjs": "export const two = 2",
    })
    expect(await readIt("plugins")).toEqual([["one"], 2, "MODULE_NOT_FOUND", "/"])
  })

  test("does not load other files that match a pattern, until one is meant", async () => {
    open.registry.publish("pattern", "1.0.0", {
      "index.js":
        "exports.it = (name) => require('./parts/' + name); exports.it = [exports.it('a.js'), String((() => { try { exports.it('b.md') } catch (error) { return error } })())]",
      "parts/a.js": "module.exports = 'a'",
      "parts/b.md": "# b",
    })
    expect(await readIt("pattern")).toEqual([
      "a",
      expect.stringContaining("it is neither JavaScript nor JSON"),
    ])
  })
})

describe("A package", () => {
  test("may have a top-level await, with built-in modules and dynamic imports", async () => {
    open.registry.publish(
      "waits",
      "1.0.0",
      {
        "index.js": `import { sep } from "path"; import * as os from "node:os"
        const later = await import("./later.js"); const more = await Promise.resolve(2)
        export const it = [sep, typeof os.EOL, later.it, more]; export default await 3`,
        "later.js": "export const it = await Promise.resolve('later')",
      },
      esm,
    )
    open.registry.publish("common-too", "1.0.0", {
      "index.js": "exports.it = require('fs').constants.F_OK",
    })
    const resolved = await open.resolve(
      "import 'npm:waits'; import 'npm:common-too'; import('npm:waits/later.js')",
    )
    expect(resolved.isAsync).toBe(true)
    expect(resolved.imports.map(({ exports }) => exports)).toEqual([
      ["default", "it"],
      ["default", "it"],
      ["it"],
    ])
    const body = `const [waits, common, later] = Object.values(packages)
      return [waits.it, waits.default, common.it, (await later).it]`
    expect(await runBundle(resolved, body)).toEqual([["/", "string", "later", 2], 3, 0, "later"])
  })

  test("fails only when it reaches a dependency that does not exist", async () => {
    const { registry } = open
    registry.publish(
      "lazy",
      "1.0.0",
      {
        "index.js":
          "exports.it = 1; exports.use = () => require('absent-peer'); exports.load = () => import('./adapter.mjs')",
        "adapter.mjs": "import peer from 'absent-peer'; export default peer",
      },
      {
        peerDependencies: { "absent-peer": "*" },
        peerDependenciesMeta: { "absent-peer": { optional: true } },
      },
    )
    const resolved = await open.resolve("import 'npm:lazy'")
    expect(resolved.imports[0]?.error).toBeNull()
    const body = `const { it, use, load } = packages["npm:lazy"]
      const attempt = async (act) => { try { return await act() } catch (error) { return [error.code, error.message] } }
      return [it, await attempt(use), await attempt(load)]`
    const error = [
      "MODULE_NOT_FOUND",
      'Cannot find module "absent-peer": no package of the val contains it, and it is not built in; the lockfile has a warning if its files were too large',
    ]
    expect(await runBundle(resolved, body)).toEqual([1, error, error])
  })

  test("keeps its type: the default import of CommonJS is module.exports", async () => {
    const { registry } = open
    registry.publish("babel-made", "1.0.0", {
      "index.js": `Object.defineProperty(exports, "__esModule", { value: true }); exports.default = "inner"`,
    })
    registry.publish(
      "typed",
      "1.0.0",
      { "index.js": "import x from 'babel-made'; export const it = x" },
      { ...esm, dependencies: { "babel-made": "1" } },
    )
    registry.serve("/uses-typed.ts", {
      headers: { "content-type": "text/typescript" },
      body: "export { it } from 'npm:typed'; import all from 'npm:babel-made'; export default all",
    })
    const resolved = await open.resolve(
      `import 'npm:typed'; import('npm:typed@1'); import '${registry.url}uses-typed.ts'`,
    )
    const body = "const [a, b, c] = Object.values(packages); return [a.it, b.it, c.it, c.default]"
    expect(await runBundle(resolved, body)).toEqual(Array(4).fill({ default: "inner" }))
  })
})

describe("A native addon", () => {
  const refused = "it is a native addon, which cannot be loaded"

  const platform = { os: [process.platform], cpu: [process.arch] }

  test("is refused, however its package loads it", async () => {
    const { registry } = open
    registry.publish("bindings", "1.0.0", {
      "index.js": "module.exports = () => { throw new Error('loaded') }",
    })
    registry.publish("by-path", "1.0.0", {
      "index.js": "module.exports = require('./build/Release/it.node')",
    })
    registry.publish(
      "by-loader",
      "1.0.0",
      { "index.js": "module.exports = () => require('bindings')('it')" },
      { dependencies: { bindings: "1" } },
    )
    registry.publish(
      "of-platform",
      "1.0.0",
      { "it.node": "\x7fELF" },
      { main: "it.node", ...platform },
    )
    registry.publish(
      "by-platform",
      "1.0.0",
      {
        "index.js":
          "for (const name of ['of-platform']) try { module.exports = require(name) } catch {}",
      },
      { optionalDependencies: { "of-platform": "1" } },
    )
    registry.publish("@of/it-linux-x64", "1.0.0", { "it.node": "\x7fELF" }, platform)
    registry.publish(
      "by-platform-name",
      "1.0.0",
      { "index.js": `module.exports = require("@of/it-" + process.platform + "-x64/it.node")` },
      { optionalDependencies: { "@of/it-linux-x64": "1" } },
    )
    registry.publish("by-computing", "1.0.0", {
      "index.js":
        "exports.open = () => require(require('path').join(__dirname, 'prebuilds', process.platform + '.node'))",
      "prebuilds/linux.node": "\x7fELF",
    })
    const names = ["by-path", "by-loader", "by-platform", "by-platform-name", "by-computing"]
    const resolved = await open.resolve(names.map((name) => `import 'npm:${name}'`).join(";"))
    expect(resolved.imports.map(({ error }) => error)).toEqual(names.map(() => refused))
  })

  test("is not loaded by a package that only lists one for this platform", async () => {
    const { registry } = open
    registry.publish(
      "tool-linux-x64-gnu",
      "1.0.0",
      { "it.node": "\x7fELF" },
      { main: "it.node", ...platform },
    )
    registry.publish(
      "lists-platform",
      "1.0.0",
      { "index.js": "exports.it = 'WebAssembly'" },
      { optionalDependencies: { "tool-linux-x64-gnu": "1" } },
    )
    expect(await readIt("lists-platform")).toBe("WebAssembly")
  })

  test("is not needed by a package that can do without it", async () => {
    const { registry } = open
    registry.publish("node-gyp-build", "1.0.0", {
      "index.js": "module.exports = () => { throw new Error('loaded') }",
    })
    registry.publish(
      "fast",
      "1.0.0",
      { "index.js": "module.exports = require('node-gyp-build')(__dirname)", "it.node": "" },
      { dependencies: { "node-gyp-build": "1" } },
    )
    registry.publish(
      "fallback",
      "1.0.0",
      {
        "index.js": `let fast; try { fast = require("fast") } catch (error) { fast = error.message }
        let own; try { own = require("node-gyp-build")(__dirname) } catch { own = "slow" }; exports.it = [fast, own]`,
      },
      { dependencies: { "node-gyp-build": "1" }, optionalDependencies: { fast: "1" } },
    )
    expect(await readIt("fallback")).toEqual([
      'Cannot load "node-gyp-build": it is a native addon, which cannot be loaded',
      "slow",
    ])
  })
})
