import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import {
  importOf,
  type OpenResolver,
  openResolver,
  runBundle,
} from "../../../test/support/open-resolver.ts"
import { notRun } from "../sandbox/testing/sandbox-testing.ts"
import { findRegistry } from "./find-registry.ts"

/** Metadata of the first package takes as long as of any other. */
const askMsMax = 30_000
const registry = await findRegistry()
const isReachable = await fetch(`${registry}ms`, { signal: AbortSignal.timeout(askMsMax) }).then(
  (response) => response.ok,
  () => false,
)
if (!isReachable) notRun("packages from the npm registry", "the registry cannot be reached")

let open: OpenResolver

describe.if(isReachable)("Packages that vals use most", () => {
  beforeAll(async () => {
    open = await openResolver({ npmRegistry: undefined })
  })

  afterAll(async () => {
    await open[Symbol.asyncDispose]()
  })

  /**
   * Resolves the specifiers, all of which have to be there, and gives what the body makes of them,
   * in that order, as `a`, `b` and so on.
   */
  async function run(specifiers: readonly string[], body: string): Promise<unknown> {
    const resolved = await open.resolve(
      specifiers.map((specifier) => `import "${specifier}"`).join("\n"),
    )
    expect(resolved.imports.map(({ specifier, error }) => ({ specifier, error }))).toEqual(
      specifiers.map((specifier) => ({ specifier, error: null })),
    )
    const names = specifiers.map(
      (specifier, index) =>
        `const ${"abcdefgh".charAt(index)} = packages[${JSON.stringify(specifier)}]`,
    )
    return await runBundle(resolved, `${names.join("\n")}\n${body}`)
  }

  test("zod", async () => {
    const resolved = await open.resolve('import { z } from "npm:zod@^4"')
    const { exports, resolved: exact } = importOf(resolved, "npm:zod@^4")
    expect(exact).toMatch(/^npm:zod@4\.\d+\.\d+$/)
    expect(exports).toContain("default")
    expect(exports).toContain("z")
    expect(exports).toContain("object")
    const body = `const { z } = packages["npm:zod@^4"]
      return [z.object({ a: z.string().email() }).safeParse({ a: "ada@example.com" }).success, z.number().safeParse("1").success]`
    expect(await runBundle(resolved, body)).toEqual([true, false])
  })

  test("hono, with its JSX", async () => {
    const body = `const app = new a.Hono().get("/hello/:name", (c) => c.json({ hello: c.req.param("name") })).get("/page", (c) => c.html(b.jsx("p", {}, "hi")))
      return [await (await app.request("/hello/ada")).json(), await (await app.request("/page")).text()]`
    expect(await run(["npm:hono@4", "npm:hono@4/jsx"], body)).toEqual([
      { hello: "ada" },
      "<p>hi</p>",
    ])
  })

  test("lodash, as ES modules, as CommonJS and a part of it", async () => {
    const body =
      "return [a.chunk([1, 2, 3], 2), a.default.sum([1, 2]), b.default.chunk([1, 2, 3], 2), c.default([[1], [2]])]"
    expect(await run(["npm:lodash-es@4", "npm:lodash@4", "npm:lodash@4/flatten.js"], body)).toEqual(
      [[[1, 2], [3]], 3, [[1, 2], [3]], [1, 2]],
    )
  })

  test("cheerio", async () => {
    const body = `const $ = a.load("<ul><li>one</li><li>two</li></ul>"); return $("li").map((_, one) => $(one).text()).get()`
    expect(await run(["npm:cheerio@1"], body)).toEqual(["one", "two"])
  })

  test("date-fns, and a part of it", async () => {
    const body = `return [a.format(new Date(2025, 0, 2), "yyyy-MM-dd"), b.format(a.addDays(new Date(2025, 0, 31), 1), "d MMM"), Object.keys(a).length > 200]`
    expect(await run(["npm:date-fns@4", "npm:date-fns@4/format"], body)).toEqual([
      "2025-01-02",
      "1 Feb",
      true,
    ])
  })

  test("preact with server rendering, as one copy", async () => {
    const body = `const Counter = () => { const [count] = b.useState(41); return a.h("p", { class: "x" }, count + 1) }
      return [c.render(a.h(Counter)), c.default(d.jsx(Counter, {})), c.renderToString(a.h(Counter))]`
    const specifiers = [
      "npm:preact@10",
      "npm:preact@10/hooks",
      "npm:preact-render-to-string@6",
      "npm:preact@10/jsx-runtime",
    ]
    expect(await run(specifiers, body)).toEqual(Array(3).fill('<p class="x">42</p>'))
  })

  test("nanoid, marked and ms", async () => {
    const body = `return [a.nanoid().length, a.customAlphabet("x", 3)(), b.marked.parse("**hi**"), c.default("2 days")]`
    expect(await run(["npm:nanoid@5", "npm:marked", "npm:ms@2.1.3"], body)).toEqual([
      21,
      "xxx",
      "<p><strong>hi</strong></p>\n",
      172_800_000,
    ])
  })

  test("not a package that does not exist", async () => {
    const resolved = await open.resolve(
      'import "npm:zod@999"; import "npm:there-is-no-such-package-of-hamlet"',
    )
    expect(resolved.imports.map(({ error }) => error)).toEqual([
      'the registry has no version that fits "zod@999"',
      'there is no package "there-is-no-such-package-of-hamlet" in the registry',
    ])
  })
})
