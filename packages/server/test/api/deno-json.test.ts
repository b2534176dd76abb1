import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import { expectStatus, openApi, type TestApi, type TestUser, testBaseUrl } from "../support/api.ts"
import { describePostgres, describeSqlite, type OpenDatabase } from "../support/databases.ts"
import { FakeResolver } from "../support/fakes/fake-resolver.ts"
import type { ValView } from "./suite.ts"

/** The contents of files by path; null deletes the file. */
type Contents = Readonly<Record<string, string | object | null>>

const title = "vals with a deno.json"
describeSqlite(title, (open) => defineSuite(open, true))
// What a name means is no matter of the database: only versions, references and lockfiles are.
describePostgres(title, (open) => defineSuite(open, false))

function defineSuite(open: OpenDatabase, isWhole: boolean): void {
  let api: TestApi
  let resolver: FakeResolver
  let ada: TestUser
  let bob: TestUser

  beforeAll(async () => {
    resolver = new FakeResolver()
    api = await openApi(open, {}, { resolver })
    ada = await api.addUser("ada")
    bob = await api.addUser("bob")
    resolver.add("npm:zod@4", "zod 4")
    resolver.add("npm:zod@3", "zod 3")
  })
  afterAll(() => api.close())

  let names = 0
  const change = async (
    { id }: Pick<ValView, "id">,
    contents: Contents,
    branchId = id,
    as = ada,
  ) => {
    const changes = Object.entries(contents).map(([path, content]) => ({
      path,
      ...(content === null
        ? { delete: true }
        : { content: typeof content === "string" ? content : JSON.stringify(content) }),
    }))
    return expectStatus(
      await api.call("POST", `/v1/vals/${id}/files?branch_id=${branchId}`, {
        as,
        body: { changes },
      }),
      200,
    ).json
  }
  const addVal = async (contents: Contents, as = ada): Promise<ValView> => {
    names += 1
    const body = { name: `v${names}`, code: "export default 0", privacy: "public" }
    const val: ValView = expectStatus(await api.call("POST", "/v1/vals", { as, body }), 200).json
    await change(val, contents, val.id, as)
    return val
  }
  const run = async ({ id }: Pick<ValView, "id">, body: object = {}) =>
    expectStatus(await api.call("POST", `/v1/vals/${id}/runs`, { as: ada, body }), 200).json
  const resultOf = async (contents: Contents) => {
    const { returnValue, error } = await run(await addVal(contents))
    return error ?? returnValue
  }
  const lockOf = async ({ id }: Pick<ValView, "id">, version: number) =>
    (await api.call("GET", `/v1/vals/${id}/versions/${version}/lock`, { as: ada })).json
  const whenSettled = (val: Pick<ValView, "id">, version: number) =>
    waitUntil(async () => (await lockOf(val, version)).state !== "pending")
  /** The ids of the vals that a val depends on. */
  const targetsOf = async ({ id }: Pick<ValView, "id">) => {
    const { data } = (await api.call("GET", `/v1/vals/${id}/dependencies`, { as: ada })).json
    return data.map((one: { dependsOn: { id: string } }) => one.dependsOn.id)
  }

  test("imports other vals by it, which are then references", async () => {
    const other = await addVal({
      "main.tsx": `export const x = "x"`,
      "y.ts": `export const y = "y"`,
    })
    const address = `${testBaseUrl}/v/ada/${other.name}`
    const val = await addVal({
      "deno.json": { imports: { other: address, "other/": `${address}/` } },
      "main.tsx": `import { x } from "other"; import { y } from "other/y.ts"; export default () => x + y`,
    })
    expect((await run(val)).returnValue).toBe("xy")
    expect(await targetsOf(val)).toEqual([other.id])
    await change(other, { "main.tsx": `export const x = "X"` })
    expect((await run(val)).returnValue).toBe("Xy")
    await change(val, { "deno.json": null, "main.tsx": "export default () => 1" })
    expect(await targetsOf(val)).toEqual([])
  })

  test("each val, version and branch has its own", async () => {
    const lib = await addVal(
      {
        "deno.json": { imports: { x: "./x.ts" } },
        "x.ts": `export default "bob's"`,
        "main.tsx": `export { default } from "x"`,
      },
      bob,
    )
    const val = await addVal({
      "deno.json": { imports: { x: "./x.ts", lib: `${testBaseUrl}/v/bob/${lib.name}` } },
      "x.ts": `export default "one"`,
      "y.ts": `export default "two"`,
      "main.tsx": `import x from "x"; import lib from "lib"; export default () => [x, lib]`,
    })
    expect((await run(val)).returnValue).toEqual(["one", "bob's"])
    const branch = expectStatus(
      await api.call("POST", `/v2/vals/${val.id}/branches`, { as: ada, body: { name: "draft" } }),
      201,
    ).json
    await change(val, { "deno.json": { imports: { x: "./y.ts", lib: "./x.ts" } } }, branch.id)
    expect((await run(val, { branch: "draft" })).returnValue).toEqual(["two", "one"])
    expect((await run(val)).returnValue).toEqual(["one", "bob's"])
    await change(val, { "deno.json": { imports: { x: "./y.ts", lib: "./y.ts" } } })
    expect((await run(val)).returnValue).toEqual(["two", "two"])
    expect((await run(val, { version: 2 })).returnValue).toEqual(["one", "bob's"])
  })

  describe("the lockfile of a version", () => {
    const askedDuring = async (work: () => Promise<unknown>) => {
      const before = resolver.asked.length
      await work()
      return resolver.asked.length - before
    }

    test("is taken over in the save, while the registry is down", async () => {
      const val = await addVal({
        "deno.json": { imports: { zod: "npm:zod@4" } },
        "main.tsx": `import value from "zod"; export default () => value`,
        "three.ts": `import three from "npm:zod@3"; export default () => three`,
      })
      expect((await run(val)).returnValue).toBe("zod 4")
      const first = await lockOf(val, 2)
      resolver.failure = new Error("the registry is down")
      try {
        const asked = await askedDuring(async () => {
          await change(val, {
            "main.tsx": `// An edit.\nimport value from 'zod'\nexport default () => [value, "zod"]`,
          })
          const second = await lockOf(val, 3)
          expect(second).toMatchObject({ state: "ready", imports: first.imports })
          expect((await run(val)).returnValue).toEqual(["zod 4", "zod"])
          // Another file with the same packages, a moved one, and one that is deleted.
          await change(val, {
            "more.ts": `export { default } from "npm:zod@3"; export * from "zod"`,
          })
          expect((await run(val, { file: "more.ts" })).returnValue).toBe("zod 3")
          const body = { changes: [{ path: "three.ts", newPath: "lib/three.ts" }] }
          expectStatus(await api.call("POST", `/v1/vals/${val.id}/files`, { as: ada, body }), 200)
          await change(val, { "deno.json": `// A comment.\n{"imports": {"zod": "npm:zod@4"}}` })
          await change(val, { "lib/three.ts": null })
          expect((await run(val)).returnValue).toEqual(["zod 4", "zod"])
          // Through /v1.
          const code = `import value from "zod"; export default () => value + "!"`
          const put = await api.call("PUT", "/v1/vals", { as: ada, body: { name: val.name, code } })
          expect(expectStatus(put, 200).json.version).toBe(8)
          expect((await lockOf(val, 8)).state).toBe("ready")
          expect((await run(val)).returnValue).toBe("zod 4!")
        })
        expect(asked).toBe(0)
      } finally {
        resolver.failure = undefined
      }
    })

    test("is resolved again when the set of packages changes", async () => {
      const val = await addVal({
        "main.tsx": `import value from "npm:zod@4"; export default () => value`,
        "three.ts": `import three from "npm:zod@3"; export default () => three`,
      })
      await whenSettled(val, 2)
      const change1 = await askedDuring(async () => {
        await change(val, { "three.ts": "export default () => 3" })
        await whenSettled(val, 3)
      })
      expect(change1).toBe(1)
      expect((await lockOf(val, 3)).imports).toHaveLength(1)
      await change(val, { "main.tsx": "export default () => 1" })
      const none = await api.call("GET", `/v1/vals/${val.id}/versions/4/lock`, { as: ada })
      expect(none.json).toMatchObject({ imports: [] })
      await change(val, { "main.tsx": `import value from "npm:zod@3"; export default () => value` })
      expect((await run(val)).returnValue).toBe("zod 3")
    })

    test("that has failed is resolved again by an edit", async () => {
      const val = await addVal({
        "main.tsx": `import value from "npm:later"; export default () => value`,
      })
      await whenSettled(val, 2)
      expect((await lockOf(val, 2)).state).toBe("failed")
      resolver.add("npm:later", "later")
      await change(val, {
        "main.tsx": `import value from "npm:later"; export default () => value + 1`,
      })
      expect((await run(val)).returnValue).toBe("later1")
    })
  })

  if (!isWhole) return

  describe("import by it", () => {
    test("packages", async () => {
      const val = await addVal({
        "deno.json": { imports: { zod: "npm:zod@4" }, tasks: { start: "deno run -A main.ts" } },
        "main.tsx": `import value from "zod"; export default () => value`,
      })
      expect((await run(val)).returnValue).toBe("zod 4")
      expect(await lockOf(val, 2)).toMatchObject({
        state: "ready",
        imports: [{ specifier: "npm:zod@4", error: null }],
      })
    })

    test("what import.meta.resolve returns", async () => {
      const result = await resultOf({
        "deno.json": { imports: { files: "node:fs", "@/": "./" } },
        "lib/x.ts": "export default 0",
        "main.tsx": `export default () => [
          import.meta.resolve("files"), import.meta.resolve("@/lib/x.ts"), import.meta.resolve("./lib/x.ts"),
        ]`,
      })
      const own = expect.stringMatching(/^http:\/\/.*@2-main\/lib\/x\.ts$/)
      expect(result).toEqual(["node:fs", own, own])
    })

    test("packages of code that is saved beside it through /v1", async () => {
      names += 1
      const body = { name: `v${names}`, privacy: "public" }
      const val = expectStatus(await api.call("POST", "/v2/vals", { as: ada, body }), 201).json
      await change(val, { "deno.json": { imports: { zod: "npm:zod@4" } } })
      const code = `import value from "zod"; export default () => value`
      expectStatus(
        await api.call("POST", `/v1/vals/${val.id}/versions`, { as: ada, body: { code } }),
        201,
      )
      expect((await run(val)).returnValue).toBe("zod 4")
    })

    test("their own files, from any folder", async () => {
      expect(
        await resultOf({
          "deno.jsonc": `{ "imports": { "@/": "./", /* libraries */ "#lib/": "./lib/", }, }`,
          "lib/deep/a.ts": `import { b } from "#lib/b.ts"; export const a = "a" + b`,
          "lib/b.ts": `import { c } from "@/c.ts"; export const b = "b" + c`,
          "c.ts": `export const c = "c"`,
          "main.tsx": `import { a } from "@/lib/deep/a.ts"; export default () => [a, "@/c.ts"]`,
        }),
      ).toEqual(["abc", "@/c.ts"])
    })

    test("modules of the runtime and of the standard library", async () => {
      expect(
        await resultOf({
          "deno.json": {
            imports: { path: "node:path", utils: "https://esm.town/v/std/utils/index.ts" },
          },
          "main.tsx": `import { basename } from "path"; import { listFiles } from "utils"
            export default async () => [basename("/a/b"), (await listFiles()).map((file) => file.path)]`,
        }),
      ).toEqual(["b", ["deno.json", "main.tsx"]])
    })

    test("what JSX needs, unless the file says it", async () => {
      resolver.packages.set("npm:view@1/jsx-runtime", {
        code: "({ jsx: (...args) => ['view', ...args], jsxs: 0, Fragment: 0 })",
        exports: ["jsx", "jsxs", "Fragment"],
      })
      const jsx = { jsx: "react-jsx", jsxImportSource: "view" }
      const config = { imports: { view: "npm:view@1" }, compilerOptions: jsx }
      const val = await addVal({
        "deno.json": config,
        "main.tsx": `export default () => [<p>hi</p>, new Error("x").stack.split("\\n")[1].match(/:1:(\\d+)/)?.[1]]`,
        "own.tsx": `/** @jsx h */ const h = (...args) => args; export default () => <p>hi</p>`,
      })
      expect((await run(val)).returnValue[0]).toEqual(["view", "p", { children: "hi" }])
      expect((await run(val, { file: "own.tsx" })).returnValue).toEqual(["p", null, "hi"])
      await change(val, { "deno.json": { compilerOptions: { jsx: "react", jsxFactory: "f" } } })
      await change(val, {
        "main.tsx": `const f = (...args) => ["f", ...args]; export default () => <p>hi</p>`,
      })
      expect((await run(val)).returnValue).toEqual(["f", "p", null, "hi"])
    })

    test("what the most specific scope says", async () => {
      const code = `import value from "zod"; export default () => value`
      const val = await addVal({
        "deno.json": { imports: { zod: "npm:zod@4" }, scopes: { "./old/": { zod: "npm:zod@3" } } },
        "main.tsx": code,
        "old/main.tsx": code,
      })
      expect((await run(val)).returnValue).toBe("zod 4")
      expect((await run(val, { file: "old/main.tsx" })).returnValue).toBe("zod 3")
    })
  })

  test("a change of it restarts the processes that it affects, and a save of another file none", async () => {
    const val = await addVal({
      "deno.json": { imports: { x: "./x.ts" } },
      "x.ts": "export default 1",
      "y.ts": "export default 2",
      "main.tsx": `import x from "x"; let runs = 0; export default () => [x, ++runs]`,
    })
    expect((await run(val)).returnValue).toEqual([1, 1])
    await change(val, { "y.ts": "export default 3" })
    expect((await run(val)).returnValue).toEqual([1, 2])
    await change(val, { "deno.json": { imports: { x: "./y.ts" } } })
    expect((await run(val)).returnValue).toEqual([3, 1])
    await change(val, { "deno.json": null })
    expect((await run(val)).error.message).toContain(`Cannot import "x"`)
  })

  describe("is broken", () => {
    test("and the save warns, and the val runs", async () => {
      const val = await addVal({ "main.tsx": "export default () => 1" })
      const saved = await change(val, { "deno.json": `{"imports": ` })
      expect(saved).toMatchObject({
        isNewVersion: true,
        warnings: ["deno.json: it is ignored: it is not valid JSON"],
      })
      expect((await run(val)).returnValue).toBe(1)
      expect((await change(val, { "deno.json": {} })).warnings).toEqual([])
      const ignored = await change(val, { "package.json": { dependencies: { zod: "3" } } })
      expect(ignored.warnings).toEqual([expect.stringContaining('{"zod":"npm:zod@3"}')])
      const query = "path=deno.json"
      const content = JSON.stringify({ imports: { a: 1, b: "npm:zod@4" } })
      const put = await api.call("PUT", `/v2/vals/${val.id}/files?${query}`, {
        as: ada,
        body: { content },
      })
      expect(expectStatus(put, 200).json.warnings).toEqual([
        'deno.json: imports: "a" is ignored: its target is not text',
      ])
      const plain = await api.call("PUT", `/v2/vals/${val.id}/files?${query}`, {
        as: ada,
        body: { content: "{}" },
      })
      expect(plain.json).not.toHaveProperty("warnings")
    })

    test("and what is right in it counts", async () => {
      expect(
        await resultOf({
          "deno.json": `{"imports": {"__proto__": "./x.ts", "y": null, "../": "./", "loop": "loop", "z": "./z.ts"}, "scopes": 3}`,
          "x.ts": `export default "x"`,
          "z.ts": `export default "z"`,
          "main.tsx": `import x from "__proto__"; import z from "z"; export default () => x + z`,
        }),
      ).toBe("xz")
    })
  })

  test("module addresses show what the names mean", async () => {
    const val = await addVal({
      "deno.json": {
        imports: { "@/": "./", remote: "https://esm.sh/x", "view/": "https://esm.sh/view/" },
        compilerOptions: { jsx: "react-jsx", jsxImportSource: "view" },
      },
      "lib/a.ts": "export const a = 1",
      "lib/page.tsx": `import { a } from "@/lib/a.ts"; import b from "remote"\nexport default () => <p>{a}{b}{"remote"}</p>`,
    })
    const home = `/v/ada/${val.name}@2-main/lib`
    const read = async (userAgent: string) =>
      (await api.call("GET", `${home}/page.tsx`, { headers: { "user-agent": userAgent } })).text
    expect(await read("Deno/2")).toBe(
      `/** @jsxImportSource https://esm.sh/view */import { a } from "${testBaseUrl}${home}/a.ts"; import b from "https://esm.sh/x"\nexport default () => <p>{a}{b}{"remote"}</p>`,
    )
    const script = await read("Mozilla/5.0")
    expect(script).toContain(`from "${testBaseUrl}${home}/a.ts"`)
    expect(script).toContain(`from "https://esm.sh/view/jsx-runtime"`)
    expect(script).toContain(`"remote"`)
  })
}
