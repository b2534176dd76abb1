import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { importOf, type OpenResolver, openResolver, runBundle } from "./testing/open-resolver.ts"

let open: OpenResolver

beforeAll(async () => {
  open = await openResolver()
})

afterAll(async () => {
  await open[Symbol.asyncDispose]()
})

describe("A bundle", () => {
  test("imports CommonJS as Node does", async () => {
    const { registry } = open
    registry.publish("plain", "1.0.0", {
      "index.js":
        "exports.a = 1; exports['b-c'] = 2; module.exports.d = 3; if (Math.random() > 2) exports.e = 4",
    })
    registry.publish("function", "1.0.0", {
      "index.js": "module.exports = function it() { return typeof this }; module.exports.extra = 1",
    })
    registry.publish("babel", "1.0.0", {
      "index.js": `Object.defineProperty(exports, "__esModule", { value: true }); exports.default = "inner"; exports.named = 1`,
    })
    registry.publish("object", "1.0.0", {
      "index.js": "module.exports = { one: require('./one'), two() {}, ...require('./more') }",
      "one.js": "module.exports = 1",
      "more.js": "exports.more = 3",
    })
    registry.publish("two-faced", "1.0.0", {
      "index.js":
        "if (process.env.NODE_ENV === 'production') { module.exports = require('./production.js') } else { module.exports = require('./development.js') }",
      "production.js": "exports.face = 'production'",
      "development.js": "exports.face = 'development'; exports.debug = 1",
    })
    registry.publish("again", "1.0.0", {
      "index.js": "module.exports = require('./inner.js')",
      "inner.js": "exports.x = 1; exports.y = 2",
    })
    const resolved = await open.resolve(
      "import 'npm:plain'; import 'npm:function'; import 'npm:babel'; import 'npm:again'; import 'npm:object'; import 'npm:two-faced'",
    )
    expect(resolved.imports.map(({ exports }) => exports)).toEqual([
      ["a", "b-c", "d", "default", "e"],
      ["default", "extra"],
      ["__esModule", "default", "named"],
      ["default", "x", "y"],
      ["default", "more", "one", "two"],
      ["debug", "default", "face"],
    ])
    const body = `const [plain, fun, babel, again, object, face] = Object.values(packages)
      return [plain.default === plain.default && plain["b-c"], plain.default, fun.default(), fun.extra, babel.default, babel.named, again.x, again.default, object.one, object.more, face.face]`
    expect(await runBundle(resolved, body)).toEqual([
      2,
      { a: 1, "b-c": 2, d: 3 },
      "object",
      1,
      { default: "inner", named: 1 },
      1,
      1,
      { x: 1, y: 2 },
      1,
      3,
      "production",
    ])
  })

  test("keeps ES modules strict, with all their re-exports", async () => {
    const { registry } = open
    registry.publish("common", "1.0.0", {
      "index.js": "exports.fromCommon = 1; exports.default = 2",
    })
    const files = {
      "index.js":
        "export * from './a.js'; export * from 'common'; export * as ns from './b.js'; export { default } from './b.js'; export const own = (function () { return this })()",
      "a.js": "export const a = 'a'; export const hidden = 'a'; export default 'not this'",
      "b.js": "export default function b() {}; export const c = import.meta.url",
    }
    registry.publish("modern", "1.0.0", files, { type: "module", dependencies: { common: "1" } })
    registry.publish(
      "strict",
      "1.0.0",
      {
        "index.mjs":
          "export const self = (function () { return typeof this })(), where = typeof __dirname",
      },
      { main: "index.mjs" },
    )
    registry.publish("opaque", "1.0.0", {
      "index.js": "for (const name of ['hidden', 'other']) exports[name] = name",
    })
    registry.publish(
      "clever",
      "1.0.0",
      {
        "index.js":
          "import { hidden } from 'opaque'; export * from './more.js'; export const it = hidden",
        "more.js": "export { other } from 'opaque'",
      },
      { type: "module", dependencies: { opaque: "1" } },
    )
    const clever = await open.resolve("import 'npm:clever'")
    expect(importOf(clever, "npm:clever").exports).toEqual(["it", "other"])
    expect(
      await runBundle(clever, "const { it, other } = packages['npm:clever']; return [it, other]"),
    ).toEqual(["hidden", "other"])
    const mixed = await open.resolve("import 'npm:modern'")
    expect(importOf(mixed, "npm:modern").exports).toEqual([
      "a",
      "default",
      "fromCommon",
      "hidden",
      "ns",
      "own",
    ])
    expect(
      await runBundle(
        mixed,
        "const it = packages['npm:modern']; return [it.a, it.fromCommon, it.default.name, it.ns.c]",
      ),
    ).toEqual(["a", 1, "b", expect.stringMatching(/^file:\/\/\/.*\/node_modules\/modern\/b\.js$/)])
    const strict = await open.resolve("import { self } from 'npm:strict'")
    expect(await runBundle(strict, "return packages['npm:strict'].self")).toBe("undefined")
  })

  test("contains each package once, however many import it", async () => {
    const { registry } = open
    registry.publish(
      "counter",
      "1.0.0",
      {
        "index.js":
          "globalThis.evaluated = (globalThis.evaluated ?? 0) + 1; export let count = 0; export const add = () => ++count",
      },
      { type: "module" },
    )
    registry.publish(
      "user",
      "1.0.0",
      { "index.js": "export { add } from 'counter'" },
      { type: "module", dependencies: { counter: "^1" } },
    )
    registry.publish(
      "peer",
      "1.0.0",
      { "index.js": "export { add } from 'counter'" },
      { type: "module", peerDependencies: { counter: "*" } },
    )
    registry.serve("/uses.ts", {
      headers: { "content-type": "text/typescript" },
      body: "export { add } from 'npm:counter@1'",
    })
    const code = `import 'npm:user'; import 'npm:counter'; import 'npm:peer'; import '${registry.url}uses.ts'; import('npm:counter@^1.0')`
    const resolved = await open.resolve(code)
    const body =
      "const all = Object.values(packages); return [all.length, all.map((one) => one.add()), all[1].count, globalThis.evaluated]"
    expect(await runBundle(resolved, body)).toEqual([5, [1, 2, 3, 4, 5], 5, 1])
  })

  test("evaluates static imports at once, in order, and dynamic ones when they are imported", async () => {
    const { registry } = open
    const log = (name: string) => `(globalThis.log ??= []).push("${name}")`
    registry.publish("first", "1.0.0", { "index.js": log("first") })
    registry.publish("second", "1.0.0", { "index.js": log("second") }, { type: "module" })
    registry.publish("later", "1.0.0", { "index.js": `${log("later")}; exports.it = 1` })
    registry.publish(
      "never",
      "1.0.0",
      { "index.js": "throw new Error('evaluated')" },
      { type: "module" },
    )
    const resolved = await open.resolve(
      "import 'npm:first'; import 'npm:second'; import('npm:later'); import('npm:never')",
    )
    const body =
      "const before = [...globalThis.log]; packages['npm:later'].it; packages['npm:later'].it; return [before, globalThis.log]"
    expect(await runBundle(resolved, body)).toEqual([
      ["first", "second"],
      ["first", "second", "later"],
    ])
    expect(await runBundle(resolved, "packages['npm:never']").catch(String)).toContain("evaluated")
  })

  test("uses the production builds for Deno or Node, and built-in modules of the guest", async () => {
    const { registry } = open
    const exports = {
      ".": { browser: "./no.js", module: "./no.js", deno: "./deno.js", default: "./no.js" },
      "./node": { node: "./node.js", default: "./no.js" },
    }
    const node = `import { sep } from "path"; import { Buffer } from "node:buffer"
      export const it = [sep, Buffer.from("a").toString("hex"), process.env.NODE_ENV, require("node:os").EOL]; export const later = () => import("node:util")`
    registry.publish(
      "choosy",
      "1.0.0",
      { "deno.js": "export const it = 'deno'", "node.js": node, "no.js": "" },
      { type: "module", exports },
    )
    registry.publish(
      "@scope/choosy",
      "1.0.0",
      { "main.js": "exports.it = 'main'", "module.js": "" },
      { main: "main.js", module: "module.js" },
    )
    const resolved = await open.resolve(
      "import 'npm:choosy'; import 'npm:choosy/node'; import 'npm:@scope/choosy@1'",
    )
    const body =
      "const [a, b, c] = Object.values(packages); return [a.it, b.it, c.it, typeof (await b.later()).inspect]"
    expect(await runBundle(resolved, body)).toEqual([
      "deno",
      ["/", "61", "production", "\n"],
      "main",
      "function",
    ])
  })

  test("imports a built-in module where a variable is called require", async () => {
    const { registry } = open
    const index = `export async function load() {
      if (import.meta.url) {
        let { createRequire: e } = await import("node:module")
        var require = e(import.meta.url)
      }
      return eval("typeof require")
    }`
    registry.publish("shadowing", "1.0.0", { "index.js": index }, { type: "module" })
    const resolved = await open.resolve("import 'npm:shadowing'")
    const body = "return packages['npm:shadowing'].load()"
    expect(await runBundle(resolved, body)).toBe("function")
  })

  test("works without packages for other platforms", async () => {
    const { registry } = open
    const foreign = { os: ["aix"], cpu: ["s390x"] }
    registry.publish("foreign", "1.0.0", { "index.js": "" }, foreign)
    const index = "let it = 'without'; try { it = require('foreign') } catch {}; exports.it = it"
    registry.publish(
      "native",
      "1.0.0",
      { "index.js": index },
      { optionalDependencies: { foreign: "1" } },
    )
    registry.publish(
      "uses-native",
      "1.0.0",
      { "index.js": "exports.it = require('native').it" },
      { dependencies: { native: "1" } },
    )
    registry.publish("plain", "1.0.0", { "index.js": "exports.it = 'plain'" })
    const names = ["plain", "native", "uses-native", "lodash-like"]
    registry.publish("lodash-like", "1.0.0", { "index.js": "exports.it = 'like'" })
    const resolved = await open.resolve(names.map((name) => `import 'npm:${name}'`).join(";"))
    expect(resolved.imports.map(({ error }) => error)).toEqual(names.map(() => null))
    const body = "return Object.values(packages).map(({ it }) => it)"
    expect(await runBundle(resolved, body)).toEqual(["plain", "without", "without", "like"])
  })

  test("works without a package that a module names twice and does not have", async () => {
    const { registry } = open
    const index = `exports.it = 'without'; exports.now = () => require("absent-peer")
      exports.later = async () => (await import("absent-peer")).default`
    registry.publish("names-twice", "1.0.0", { "index.js": index })
    const resolved = await open.resolve("import 'npm:names-twice'")
    const body = `const { it, later } = packages['npm:names-twice']
      return [it, await later().catch(({ code }) => code)]`
    expect(await runBundle(resolved, body)).toEqual(["without", "MODULE_NOT_FOUND"])
  })

  test("lets a package handle a missing optional dependency", async () => {
    const { registry } = open
    const optional = `let it; try { it = require("not-installed") } catch (error) { it = error.code }
      let addon; try { addon = require("./addon.node") } catch (error) { addon = error.message }; module.exports = { it, addon }`
    registry.publish("optional", "1.0.0", { "index.js": optional, "addon.node": "\x7fELF" })
    registry.serve("/maybe.ts", {
      headers: { "content-type": "text/typescript" },
      body: "export const get = () => import('./missing.ts').catch(() => 'missing')",
    })
    const resolved = await open.resolve(`import 'npm:optional'; import '${registry.url}maybe.ts'`)
    const body = "const [one, two] = Object.values(packages); return [one.default, await two.get()]"
    expect(await runBundle(resolved, body)).toEqual([
      {
        it: "MODULE_NOT_FOUND",
        addon: 'Cannot load "./addon.node": it is a native addon, which cannot be loaded',
      },
      "missing",
    ])
  })
})
