import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { notRun } from "@hamlet/kit/testing"
import { findRegistry } from "../find-registry.ts"
import { importOf, type OpenResolver, openResolver, runBundle } from "./open-resolver.ts"

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
        `const ${"abcdefghijk".charAt(index)} = packages[${JSON.stringify(specifier)}]`,
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

  test("hono with its JSX, lodash in each of its forms, cheerio, date-fns, nanoid, marked and ms", async () => {
    const specifiers = [
      "npm:hono@4",
      "npm:hono@4/jsx",
      "npm:lodash-es@4",
      "npm:lodash@4",
      "npm:lodash@4/flatten.js",
      "npm:cheerio@1",
      "npm:date-fns@4",
      "npm:date-fns@4/format",
      "npm:nanoid@5",
      "npm:marked",
      "npm:ms@2.1.3",
    ]
    const body = `const app = new a.Hono().get("/hello/:name", (c) => c.json({ hello: c.req.param("name") })).get("/page", (c) => c.html(b.jsx("p", {}, "hi")))
      const $ = f.load("<ul><li>one</li><li>two</li></ul>")
      return [
        [await (await app.request("/hello/ada")).json(), await (await app.request("/page")).text()],
        [c.chunk([1, 2, 3], 2), c.default.sum([1, 2]), d.default.chunk([1, 2, 3], 2), e.default([[1], [2]])],
        $("li").map((_, one) => $(one).text()).get(),
        [g.format(new Date(2025, 0, 2), "yyyy-MM-dd"), h.format(g.addDays(new Date(2025, 0, 31), 1), "d MMM"), Object.keys(g).length > 200],
        [i.nanoid().length, i.customAlphabet("x", 3)(), j.marked.parse("**hi**"), k.default("2 days")],
      ]`
    expect(await run(specifiers, body)).toEqual([
      [{ hello: "ada" }, "<p>hi</p>"],
      [[[1, 2], [3]], 3, [[1, 2], [3]], [1, 2]],
      ["one", "two"],
      ["2025-01-02", "1 Feb", true],
      [21, "xxx", "<p><strong>hi</strong></p>\n", 172_800_000],
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
