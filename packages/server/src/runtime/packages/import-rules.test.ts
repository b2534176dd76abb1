import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { standardModuleNames } from "@hamlet/contract"
import { readConfig } from "@hamlet/contract/deno-json"
import {
  importOf,
  type OpenResolver,
  openForwardingProxy,
  openResolverWith,
  type ResolverTestOptions,
  readPlaces,
  runBundle,
} from "@hamlet/npm/testing"
import { readStandardModules } from "../../composition/modules.ts"
import { type ImportFacts, importRules } from "./import-rules.ts"

const typescript = { "content-type": "application/typescript" }

const standardModules = {
  ...readStandardModules(),
  blob: "export const blob = `of this server, at ${import.meta.url}`",
  "blob/main": "export const blob = `of the val, at ${import.meta.url}`",
}

let open: OpenResolver<ImportFacts>

function toFacts(local?: readonly string[], denoJson: object = {}): ImportFacts {
  return {
    importHosts: { baseUrls: ["http://localhost:8080"], fetchesTown: true },
    standardModules,
    config: readConfig("deno.json", JSON.stringify(denoJson)).config ?? null,
    local,
  }
}

const openResolver = (options: ResolverTestOptions) =>
  openResolverWith({ rules: importRules, given: toFacts() }, options)

/** Sends requests to esm.town and esm.sh to the fake registry instead. */
beforeAll(async () => {
  open = await openResolver({
    openEgress: (path, { note }) =>
      openForwardingProxy(path, note, (url) =>
        url.replace(/^https:\/\/(esm\.town|esm\.sh)\//, `${open.registry.url}$1/`),
      ),
  })
})

beforeAll(() => {
  open.registry.publish("one", "1.0.0", { "index.js": "exports.version = 1" })
  open.registry.publish("one", "2.0.0", {
    "index.js": "exports.version = 2",
    "jsx-runtime.js": "exports.jsx = (type) => type",
  })
})

afterAll(async () => {
  await open[Symbol.asyncDispose]()
})

function serve(path: string, body: string, headers: Record<string, string> = typescript): void {
  open.registry.serve(path, { headers, body })
}

describe("The resolver finds imports", () => {
  test("by names of one letter, also as the source of JSX", async () => {
    const denoJson = {
      imports: { z: "npm:one@1.0.0", "./x": "npm:one@2.0.0", "v/": "npm:/one@2/" },
    }
    const code = `/** @jsxImportSource v */
import { version } from "z"; import * as x from "./x"; import("z")
export default () => <p>{version} {x.version}</p>`
    const resolved = await open.resolve(code, toFacts(undefined, denoJson))
    const placesOf = (specifier: string) => readPlaces(code, importOf(resolved, specifier))
    expect(placesOf("npm:one@1.0.0")).toEqual([`"z"`, `"z"`])
    expect(placesOf("npm:one@2.0.0")).toEqual([`"./x"`])
    expect(placesOf("npm:one@2/jsx-runtime")).toEqual(["v"])
    expect(importOf(resolved, "npm:one@1.0.0").error).toBe(null)
  })

  test("by the names that a deno.json gives them", async () => {
    const denoJson = {
      imports: {
        one: "npm:one@1.0.0",
        view: "npm:one@2",
        "@/": "./",
        v: "https://esm.town/v/ada/x",
      },
      compilerOptions: { jsx: "react-jsx", jsxImportSource: "view" },
    }
    const code = `import { version } from "one"; import "@/x.ts"; import "v"; import("one"); import "unknown"
export default () => <p>{version} {"one"}</p>`
    const { imports } = await open.resolve(code, toFacts(["https://esm.town/v/ada/x"], denoJson))
    const [one, jsx] = imports
    expect(imports.map(({ specifier }) => specifier)).toEqual([
      "npm:one@1.0.0",
      "npm:one@2/jsx-runtime",
    ])
    expect(one).toMatchObject({ resolved: "npm:one@1.0.0", error: null })
    expect(one?.places.map(({ start, end }) => code.slice(start, end))).toEqual(['"one"', '"one"'])
    expect(jsx?.places).toMatchObject([{ start: 0, end: 0 }])
  })

  test("of what is not on this server", async () => {
    const code = `import y from "http://localhost:8080/v/ada/hello"; import "https://esm.town/v/ada/hello"
      import blob from "http://localhost:8080/std/blob"; import "npm:one@2"; export default [y, blob]`
    const { imports } = await open.resolve(code)
    expect(imports.map(({ specifier }) => specifier)).toEqual(["npm:one@2"])
  })

  test("that name a standard module which does not exist, and says so", async () => {
    const missing = "http://localhost:8080/std/nothing"
    const code = `/** @jsxImportSource npm:one@2 */ import "./a.ts"; import "${missing}"; <p />`
    const resolved = await open.resolve(code)
    expect(resolved.imports.map(({ specifier }) => specifier)).toEqual([
      "npm:one@2/jsx-runtime",
      missing,
    ])
    expect(importOf(resolved, missing).error).toMatch(
      /^this server has no standard module "nothing" \(it has .*\)$/,
    )
  })
})

describe("A val of esm.town that is not on this server", () => {
  test("is fetched with what it imports: other vals, their files, packages, in cycles", async () => {
    open.registry.publish("left", "1.0.0", { "index.js": "module.exports = 'left'" })
    serve(
      "/esm.town/v/steve/greet",
      `import { name } from "https://esm.town/v/@steve/name?v=3"; import left from "npm:left"; import { part } from "./parts/part.ts"
       export const greet = (): string => [name(), left, part].join(" "); export const own = "steve"`,
    )
    serve(
      "/esm.town/v/@steve/name?v=3",
      `import { own } from "https://esm.town/v/steve/greet"; export const name = () => own`,
    )
    serve("/esm.town/v/steve/parts/part.ts", "export const part = import.meta.url")
    const specifier = "https://esm.town/v/steve/greet"
    const resolved = await open.resolve(`import { greet } from "${specifier}"`, toFacts([]))
    expect(importOf(resolved, specifier)).toMatchObject({
      error: null,
      resolved: specifier,
      exports: ["greet", "own"],
    })
    expect(await runBundle(resolved, `return packages["${specifier}"].greet()`)).toBe(
      "steve left https://esm.town/v/steve/parts/part.ts",
    )
  })

  test("gets the standard library of this server, whatever address it uses", async () => {
    serve("/esm.town/v/std/blob@12/main.ts", "export const blob = 'of the other service'")
    serve(
      "/esm.town/v/steve/stores",
      `export { blob } from "https://esm.town/v/std/blob"; export { blob as own } from "https://esm.town/v/std/blob@12/main.ts"`,
    )
    const specifier = "https://esm.town/v/steve/stores"
    const resolved = await open.resolve(`import "${specifier}"`, toFacts([]))
    expect(await runBundle(resolved, `return {...packages["${specifier}"]}`)).toEqual({
      blob: "of this server, at https://esm.town/v/std/blob",
      // By its address the module knows that it is for the storage of the val.
      own: "of the val, at https://esm.town/v/std/blob@12/main.ts",
    })
  })

  test("is not fetched when the address means a val here, or when it is not known", async () => {
    const specifier = "https://esm.town/v/steve/greet"
    expect((await open.resolve(`import "${specifier}"`, toFacts([specifier]))).imports).toEqual([])
    expect((await open.resolve(`import "${specifier}"`)).imports).toEqual([])
    // A file of a project is never a val here.
    const file = "https://esm.town/v/steve/parts/part.ts"
    expect(importOf(await open.resolve(`import "${file}"`, toFacts([])), file).error).toBeNull()
  })

  test("fails with a sentence about both servers", async () => {
    const code = `import "https://esm.town/v/steve/gone"; import "https://esm.town/v/std/gone@1"`
    const { imports } = await open.resolve(code, toFacts([]))
    expect(imports.map(({ error }) => error)).toEqual([
      'there is no val "steve/gone" on this server, and esm.town responded with 404',
      `this server has no standard module "gone" (it has ${standardModuleNames.join(", ")}), and esm.town responded with 404`,
    ])
  })
})

describe("A module of esm.sh", () => {
  test("is fetched through redirects, with its options, and without its types", async () => {
    const script = { "content-type": "application/javascript" }
    const types = { ...script, "x-typescript-types": "https://esm.sh/v135/x@1.2.3/index.d.ts" }
    open.registry.serve("/esm.sh/x@1?deps=y@2&bundle", {
      status: 302,
      headers: { location: "https://esm.sh/v135/x@1.2.3/denonext/x.mjs?bundle" },
    })
    serve(
      "/esm.sh/v135/x@1.2.3/denonext/x.mjs?bundle",
      `export { y } from "/v135/y@2.0.0/denonext/y.mjs"; export default "x"`,
      types,
    )
    serve(
      "/esm.sh/v135/y@2.0.0/denonext/y.mjs",
      `import __Process from "node:process"; export const y = typeof __Process.env`,
      script,
    )
    const specifier = "https://esm.sh/x@1?deps=y@2&bundle"
    const resolved = await open.resolve(`import x, { y } from "${specifier}"`)
    expect(importOf(resolved, specifier)).toMatchObject({
      error: null,
      resolved: "https://esm.sh/v135/x@1.2.3/denonext/x.mjs?bundle",
      exports: ["default", "y"],
    })
    expect(
      await runBundle(
        resolved,
        `const { default: x, y } = packages["${specifier}"]; return [x, y]`,
      ),
    ).toEqual(["x", "object"])
  })

  test("fails with its name when it cannot be reached", async () => {
    await using offline = await openResolver({
      openEgress: (path, { note }) =>
        openForwardingProxy(path, note, (url) =>
          url.replace("https://esm.sh/", "http://127.0.0.1:1/"),
        ),
    })
    const { imports, isTemporary } = await offline.resolve(`import "https://esm.sh/zod@4"`)
    expect(imports[0]?.error).toBe("esm.sh cannot be reached")
    expect(isTemporary).toBe(true)
  })
})

describe("An endless chain of modules", () => {
  test("ends at the limit of requests", async () => {
    await using chained = await openResolver({ limits: { requestsMax: 30 } })
    const { registry } = chained
    for (let number = 0; number < 100; number++)
      registry.serve(`/chain/${number}.ts`, {
        headers: typescript,
        body: `export * from "./${number + 1}.ts"`,
      })
    const { imports, isTemporary } = await chained.resolve(`import "${registry.url}chain/0.ts"`)
    expect(imports[0]?.error).toBe("all that the code imports takes more than 30 requests")
    expect(isTemporary).toBe(false)
  })
})
