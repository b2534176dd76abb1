import { afterEach, describe, expect, test } from "bun:test"
import { startGuest, startVal, stopVals } from "./support/vals.ts"

afterEach(stopVals)

/** What a call without arguments gives. */
async function run(code: string, modules = {}) {
  const guest = await startVal(code, { isHttp: false, modules })
  return await guest.call()
}

/** Why it cannot be loaded. */
async function refusal(code: string, load: { readonly isHttp?: boolean } = {}) {
  const guest = await startGuest()
  const message = await guest.load(code, load)
  if (message.kind !== "load_failed") throw new Error("it was loaded")
  return message.error
}

describe("loadVal chooses the export to run:", () => {
  test("the default export", async () => {
    expect(
      await run(`export default () => "default"; export const other = () => "other"`),
    ).toMatchObject({ value: "default" })
  })

  test("the only exported function, whatever other values are exported", async () => {
    expect(
      await run(`export const rate = 3; export function tell() { return "told" }`),
    ).toMatchObject({ value: "told" })
  })

  test("the only exported value, which is not a function", async () => {
    const guest = await startGuest()
    expect(await guest.load(`export const answer = 42`, { isHttp: false })).toEqual({
      kind: "loaded",
      isCallable: false,
    })
    expect(await guest.call()).toMatchObject({ value: 42 })
  })

  test("an exported promise, once it is resolved", async () => {
    expect(await run(`export default Promise.resolve("kept")`)).toMatchObject({ value: "kept" })
  })

  test("undefined, when nothing is exported", async () => {
    expect(await run(`console.log("for the effect")`)).toEqual({
      value: null,
      isTruncated: false,
      logCount: 0,
    })
  })

  test("none of several candidates", async () => {
    const message = "Cannot choose what to run: the val exports a, b and none of them as default"
    expect(
      await refusal(`export const a = () => 1; export const b = () => 2; export const c = 3`),
    ).toMatchObject({
      name: "Error",
      message,
    })
    expect((await refusal(`export const a = 1, b = 2`)).message).toBe(message)
  })

  test("the fetch method of an object, for an http val", async () => {
    const guest = await startGuest()
    const code = `export default { name: "app", fetch(request: Request) { return new Response(this.name + new URL(request.url).pathname) } }`
    expect(await guest.load(code)).toEqual({ kind: "loaded", isCallable: true })
    expect(await (await guest.request("/x")).text()).toBe("app/x")
    expect(await guest.call()).toMatchObject({ value: { status: 200, body: "app/" } })
  })
})

describe("loadVal accepts", () => {
  test("TypeScript with top-level await", async () => {
    const code = `enum Colour { Red = "red" }\nconst wait: Promise<Colour> = new Promise((resolve) => setTimeout(() => resolve(Colour.Red), 1))
      const colour = await wait\nexport default (): string => colour satisfies string`
    expect(await run(code)).toMatchObject({ value: "red" })
  })

  test("JSX with a pragma", async () => {
    const code = `/** @jsx h */\nconst h = (...parts: unknown[]) => parts\nexport default () => <p class="x">hi {1 + 1}</p>`
    expect(await run(code)).toMatchObject({ value: ["p", { class: "x" }, "hi ", 2] })
  })

  test("JSX with the runtime of another val", async () => {
    const modules = {
      "ada/view/jsx-runtime": `export const jsx = (tag: string, props: object) => ({ tag, props }); export const jsxs = jsx`,
    }
    const code = `/** @jsxImportSource http://localhost:8080/v/ada/view */\nexport default () => <p>hi</p>`
    expect(await run(code, modules)).toMatchObject({
      value: { tag: "p", props: { children: "hi" } },
    })
  })

  test("JSX without a pragma only when React is defined", async () => {
    expect(await refusal(`export default <p>hi</p>`)).toMatchObject({
      name: "ReferenceError",
      message: "React is not defined",
    })
    const code = `const React = { createElement: (tag: string) => tag }; export default () => <p>hi</p>`
    expect(await run(code)).toMatchObject({ value: "p" })
  })

  test("built-in modules of Node", async () => {
    const code = `import { createHash } from "node:crypto"; import path from "node:path"; import { Buffer } from "node:buffer"
      export default () => [createHash("sha256").update("x").digest("hex").slice(0, 8), path.join("a", "b"), Buffer.from("x").toString("base64")]`
    expect(await run(code)).toMatchObject({ value: ["2d711642", "a/b", "eA=="] })
  })

  test("imports of other vals, by address and relative, each evaluated once", async () => {
    const modules = {
      "bob/lib": `import { count } from "./counter@2"; count.value += 1; export const double = (n: number) => 2 * n; export { count }`,
      "bob/counter@2": `export const count = { value: 0 }`,
      "https://esm.town/v/std/shout?v=4": `export const shout = (text: string) => text.toUpperCase()`,
    }
    const code = `import { double } from "http://localhost:8080/v/bob/lib"; import { count } from "/v/bob/counter@2"
      import { shout } from "https://esm.town/v/std/shout?v=4"
      export default async () => [double(4), count.value, shout("hi"), (await import("/v/bob/lib")).double(1), import.meta.url]`
    expect(await run(code, modules)).toMatchObject({
      value: [8, 1, "HI", 2, "http://localhost:8080/v/ada/hello@3-main/main.tsx"],
    })
  })
})

describe("loadVal refuses", () => {
  const cases: [title: string, specifier: string, message: string][] = [
    [
      "a val that is not there",
      "http://localhost:8080/v/bob/none",
      `Cannot import "http://localhost:8080/v/bob/none": there is no val "bob/none" on this server that the author of this val can see`,
    ],
    [
      "one beside it that is not there",
      "./none",
      `Cannot import "http://localhost:8080/v/ada/hello@3-main/none": version 3 of "ada/hello" has no file "none", and there is no val "ada/none" on this server that the author of this val can see`,
    ],
    [
      "a version of one that was written for another service",
      "https://esm.town/v/bob/none?v=3",
      `Cannot import "https://esm.town/v/bob/none?v=3": there is no val "bob/none" on this server that the author of this val can see`,
    ],
    [
      "a module that the standard library does not have",
      "https://esm.town/v/std/nothing@1/main.ts",
      `Cannot import "https://esm.town/v/std/nothing@1/main.ts": this server has no standard module "nothing" (it has API_URL, blob, blob/main, email, fetch, openai, rpc, sqlite, sqlite/main, sqlite2, utils)`,
    ],
    [
      "the same at its own address",
      "http://localhost:8080/std/nothing",
      `Cannot import "http://localhost:8080/std/nothing": this server has no standard module "nothing" (it has API_URL, blob, blob/main, email, fetch, openai, rpc, sqlite, sqlite/main, sqlite2, utils)`,
    ],
    [
      "a file of its own by its path",
      "/tmp/x.mjs",
      `Cannot import "http://localhost:8080/tmp/x.mjs": a file is imported by its address, "file:///tmp/x.mjs"`,
    ],
    [
      "a file beside it",
      "./helpers.ts",
      `Cannot import "http://localhost:8080/v/ada/hello@3-main/helpers.ts": version 3 of "ada/hello" has no file "helpers.ts"`,
    ],
    [
      "a file in a folder that is not there",
      "./lib/db.ts",
      `Cannot import "http://localhost:8080/v/ada/hello@3-main/lib/db.ts": version 3 of "ada/hello" has no file "lib/db.ts"`,
    ],
    [
      "a file outside of its val",
      "../other/x.ts",
      `Cannot import "http://localhost:8080/v/ada/other/x.ts": there is no file "x.ts" of a val "ada/other" on this server that the author of this val can see`,
    ],
    [
      "a val of another user that is not there",
      "../bob/none",
      `Cannot import "http://localhost:8080/v/ada/bob/none": there is no file "none" of a val "ada/bob", and no val "bob/none", on this server that the author of this val can see`,
    ],
    [
      "something that is neither a val nor a file",
      "../../x.ts",
      `Cannot import "http://localhost:8080/v/x.ts": it is not the address of a val or a file`,
    ],
    [
      "a path from the root",
      "/lib/db.ts",
      `Cannot import "http://localhost:8080/lib/db.ts": an address that begins with "/" means the root of the server, not of the val; files are imported by a relative path, such as "./lib/db.ts"`,
    ],
    [
      "a module from the web",
      "https://example.com/x.ts",
      `Cannot import from "example.com": it was not fetched when this version was saved; only literal imports are`,
    ],
    [
      "a package from npm",
      "npm:left-pad@1",
      "Cannot import from npm: it was not fetched when this version was saved; only literal imports are",
    ],
    [
      "a package from jsr",
      "jsr:@std/assert",
      `Cannot import "jsr:@std/assert": it was not fetched when this version was saved; only literal imports are`,
    ],
    ["a bare name", "lodash", `Cannot import "lodash": packages are imported as "npm:lodash"`],
    [
      "a built-in module without its prefix",
      "fs",
      `Cannot import "fs": built-in modules are imported as "node:fs"`,
    ],
    [
      "a built-in module that is none",
      "node:nonsense",
      `Cannot import "node:nonsense": the module does not exist`,
    ],
    [
      "a file",
      "file:///etc/passwd",
      `Cannot import "file:///etc/passwd": a val has no files to import`,
    ],
  ]
  test.each(cases)("%s", async (_, specifier, message) => {
    const error = await refusal(`\nimport x from "${specifier}"\nexport default x`)
    expect(error).toEqual({
      name: "TypeError",
      message,
      stack: `TypeError: ${message}\n    at ada/hello.tsx:2:15`,
    })
  })

  test("the same in a dynamic import", async () => {
    const { error } = await run(
      `export default () => import("http://localhost:8080/v/bob/" + "none")`,
    )
    expect(error?.message).toBe(
      `Cannot import "http://localhost:8080/v/bob/none": there is no val "bob/none" on this server that the author of this val can see`,
    )
  })

  test.each([true, false])("invalid code, with its line (isHttp: %p)", async (isHttp) => {
    const error = await refusal(`const a = 1\nexport default ( => 1`, { isHttp })
    expect(error.name).toBe("SyntaxError")
    expect(error.message).toContain("2 | export default ( => 1")
    expect(error.stack).toEndWith("\n    at ada/hello.tsx:2:18")
  })

  test("an import of a missing export", async () => {
    const guest = await startGuest()
    guest.add({ "bob/lib": "export const a = 1" })
    expect(await guest.load(`import { b } from "/v/bob/lib"\nexport default b`)).toMatchObject({
      error: {
        name: "SyntaxError",
        message:
          "The requested module '/v/bob/lib' does not provide an export named 'b' at ada/hello.tsx:1:10",
      },
    })
  })

  test("a module that throws, and fails every run with its error", async () => {
    const guest = await startGuest()
    const stack = "RangeError: too much\n    at ada/hello.tsx:1:39"
    const error = { name: "RangeError", message: "too much", stack }
    expect(
      await guest.load(`console.log("before"); await 0; throw new RangeError("too much")`),
    ).toEqual({ kind: "load_failed", error })
    const response = await guest.request("/")
    expect([response.status, response.headers.get("x-hamlet-failure")]).toEqual([500, "1"])
    expect(await response.json()).toEqual({ error, logCount: 0 })
    expect(await guest.call([], "load")).toEqual({ error, logCount: 1 })
    await guest.settle()
    expect(guest.texts("load")).toEqual(["before"])
  })
})

describe("loadVal", () => {
  test("attributes logs of the module to the run that loads it, and continues that run", async () => {
    const guest = await startVal(
      `console.log("loading"); export default () => { console.log("running"); return 1 }`,
      { isHttp: false },
    )
    expect(await guest.call([], "load")).toEqual({ value: 1, isTruncated: false, logCount: 2 })
    await guest.settle()
    expect(guest.texts("load")).toEqual(["loading", "running"])
    expect(await guest.call([], "next")).toMatchObject({ logCount: 1 })
  })

  test("lets runs wait until it is done", async () => {
    const guest = await startGuest()
    const early = Promise.all([guest.request("/early"), guest.call([])])
    await guest.load(
      `await new Promise((resolve) => setTimeout(resolve, 20)); export default (request: Request) => new Response(request.url)`,
    )
    const [response, returned] = await early
    expect(await response.text()).toBe("http://ada-hello.localhost:8080/early")
    expect(returned).toMatchObject({ value: { body: "http://ada-hello.localhost:8080/" } })
  })

  test("works in a process that has not warmed up, before and after its first request", async () => {
    const code = `export default (request: Request) => new Response(request.url + " " + request.clone().url + " " + Deno.env.get("EXAMPLE"))`
    const url = (path: string) => `http://ada-hello.localhost:8080${path}`
    const late = await startGuest({ isHurried: true })
    await late.load(code)
    for (const path of ["/a?b", "/c"])
      expect(await (await late.request(path)).text()).toBe(`${url(path)} ${url(path)} undefined`)
    const early = await startGuest({ isHurried: true })
    const waiting = early.request("/early")
    await early.load(code)
    expect(await (await waiting).text()).toStartWith(`${url("/early")} ${url("/early")} `)
    expect(late.logs()).toEqual([])
  })

  test("loads one val and never another", async () => {
    const guest = await startVal(`export default () => "first"`)
    guest.add({ "ada/other@1": `export default () => "second"` })
    await guest.load(`export default () => "second"`, {
      url: "http://localhost:8080/v/ada/other@1",
    })
    await guest.settle()
    expect(await (await guest.request("/")).text()).toBe("first")
    expect(guest.messages.filter(({ kind }) => kind === "loaded")).toHaveLength(1)
  })

  test("responds to a ping, and ends when the host disconnects", async () => {
    const guest = await startVal(`export default () => { setInterval(() => {}, 1000); return 1 }`)
    await guest.call()
    await guest.settle()
    guest.hangUp()
    expect(await guest.exited).toBe(0)
  })
})
