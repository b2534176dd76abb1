import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { standardModuleNames } from "@hamlet/contract"
import { openForwardingProxy } from "../../../test/support/forwarding-proxy.ts"
import {
  importOf,
  type OpenResolver,
  openResolver,
  runBundle,
} from "../../../test/support/open-resolver.ts"

const typescript = { "content-type": "application/typescript" }

let open: OpenResolver

/** Sends requests to esm.town and esm.sh to the fake registry instead. */
beforeAll(async () => {
  open = await openResolver({
    openEgress: (path, { note }) =>
      openForwardingProxy(path, note, (url) =>
        url.replace(/^https:\/\/(esm\.town|esm\.sh)\//, `${open.registry.url}$1/`),
      ),
  })
})

afterAll(async () => {
  await open[Symbol.asyncDispose]()
})

function serve(path: string, body: string, headers: Record<string, string> = typescript): void {
  open.registry.serve(path, { headers, body })
}

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
    const resolved = await open.resolve(`import { greet } from "${specifier}"`, [])
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
    const resolved = await open.resolve(`import "${specifier}"`, [])
    expect(await runBundle(resolved, `return {...packages["${specifier}"]}`)).toEqual({
      blob: "of this server, at https://esm.town/v/std/blob",
      // By its address the module knows that it is for the storage of the val.
      own: "of the val, at https://esm.town/v/std/blob@12/main.ts",
    })
  })

  test("is not fetched when the address means a val here, or when it is not known", async () => {
    const specifier = "https://esm.town/v/steve/greet"
    expect((await open.resolve(`import "${specifier}"`, [specifier])).imports).toEqual([])
    expect((await open.resolve(`import "${specifier}"`)).imports).toEqual([])
    // A file of a project is never a val here.
    const file = "https://esm.town/v/steve/parts/part.ts"
    expect(importOf(await open.resolve(`import "${file}"`, []), file).error).toBeNull()
  })

  test("fails with a sentence about both servers", async () => {
    const code = `import "https://esm.town/v/steve/gone"; import "https://esm.town/v/std/gone@1"`
    const { imports } = await open.resolve(code, [])
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
    expect(imports[0]?.error).toBe("all that the val imports takes more than 30 requests")
    expect(isTemporary).toBe(false)
  })
})
