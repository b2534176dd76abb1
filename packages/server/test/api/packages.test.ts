import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import type { GatewayConnection } from "../../src/gateway/deps.ts"
import { expectStatus, openApi, type TestApi, type TestUser, testBaseUrl } from "../support/api.ts"
import {
  describeEachDatabase,
  describeSqlite,
  type OpenDatabase,
  type TestDatabase,
} from "../support/databases.ts"
import { FakeResolver } from "../support/fakes/fake-resolver.ts"
import { nextMillisecond, type ValView } from "./suite.ts"

const runtime = { "user-agent": "Deno/2.9.5" }

describeSqlite("vals with packages", (open) => {
  let database: TestDatabase
  let shared: OpenDatabase
  let api: TestApi
  let resolver: FakeResolver
  let ada: TestUser
  let bob: TestUser

  beforeAll(async () => {
    database = await open()
    shared = async () => ({ ...database, close: async () => {} })
    resolver = new FakeResolver()
    api = await openApi(shared, {}, { resolver })
    ada = await api.addUser("ada")
    bob = await api.addUser("bob")
  })
  afterAll(() => api.close())

  let names = 0
  const save = async (code: string, fields: object = {}, as = ada, on = api): Promise<ValView> => {
    names += 1
    const body = { name: `v${names}`, code, privacy: "public", ...fields }
    return expectStatus(await on.call("PUT", "/v1/vals", { as, body }), 200).json
  }
  const run = async ({ id }: ValView, body: object = {}, on = api, as = ada) =>
    expectStatus(await on.call("POST", `/v1/vals/${id}/runs`, { as, body }), 200).json
  const resultOf = async (code: string) => {
    const { returnValue, error } = await run(await save(code))
    return error ?? returnValue
  }
  const visit = async ({ name }: ValView, on = api): Promise<Response> => {
    const request = new Request(`http://ada-${name}.hamlet.test/`, {
      headers: { host: `ada-${name}.hamlet.test` },
    })
    const connection: GatewayConnection = {
      address: () => "127.0.0.1",
      timeout: () => {},
      upgrade: () => false,
    }
    return (await on.hamlet.gateway.fetch(request, connection)) ?? Response.error()
  }
  const lockOf = async ({ id, version }: ValView) =>
    (await api.call("GET", `/v1/vals/${id}/versions/${version}/lock`, { as: ada })).json
  const whenSettled = async (val: ValView) => {
    await waitUntil(async () => (await lockOf(val)).state !== "pending")
  }
  /**
   * Keeps the server busy with a version of ada's: of one owner it resolves one version at a time,
   * so that another server on the database resolves her next one.
   */
  const whileBusy = async (work: () => Promise<void>) => {
    const gate = Promise.withResolvers<void>()
    const asked = resolver.asked.length
    resolver.gate = gate.promise
    try {
      const busy = await save(`import "npm:busy"`)
      await waitUntil(() => resolver.asked.length !== asked)
      await work()
      resolver.gate = undefined
      gate.resolve()
      await whenSettled(busy)
    } finally {
      resolver.gate = undefined
      gate.resolve()
    }
  }

  describe("import", () => {
    test("every kind of export of a package", async () => {
      resolver.packages.set("npm:a", {
        code: `(() => { class Thing { name = "thing" } return { default: (x) => 2 * x, Thing, "odd name": 3, delete: 4 } })()`,
        exports: ["default", "Thing", "odd name", "delete"],
      })
      const code = `import double, { Thing, "odd name" as odd, delete as remove } from "npm:a"
        import * as all from 'npm:a'
        export { Thing as Again } from "npm:a"
        export default async (): Promise<unknown> => {
          const later = await import(\`npm:a\`)
          return [double(4), new Thing().name, odd, remove, Object.keys(all).sort(), later.Thing === Thing, later.default(1)]
        }`
      expect(await resultOf(code)).toEqual([
        8,
        "thing",
        3,
        4,
        ["Thing", "default", "delete", "odd name"],
        true,
        2,
      ])
    })

    test("a package once, however often it is imported", async () => {
      resolver.packages.set("npm:counter", {
        code: "(globalThis.times = (globalThis.times ?? 0) + 1, { default: globalThis.times })",
        exports: ["default"],
      })
      const code = `import a from "npm:counter"; import { default as b } from "npm:counter"
        export default async () => [a, b, (await import("npm:counter")).default, globalThis.times]`
      expect(await resultOf(code)).toEqual([1, 1, 1, 1])
    })

    test("packages in evaluated code", async () => {
      resolver.add("npm:once", "for eval")
      const code = 'import { value } from "npm:once"\nexport default (...args) => [value, ...args]'
      const response = await api.call("POST", "/v1/eval", { as: ada, body: { code, args: [1] } })
      expect(expectStatus(response, 200).json).toEqual(["for eval", 1])
    })

    test("the source of JSX", async () => {
      resolver.packages.set("npm:view/jsx-runtime", {
        code: "({ jsx: (tag, props) => [tag, props] })",
        exports: ["jsx"],
      })
      expect(
        await resultOf("/** @jsxImportSource npm:view */\nexport default () => <p>hi</p>"),
      ).toEqual(["p", { children: "hi" }])
    })

    test("packages and vals with packages, each by its own lockfile", async () => {
      resolver.add("npm:v", "one")
      const lib = await save(`export { value } from "npm:v"`)
      await whenSettled(lib)
      resolver.add("npm:v", "two")
      // With another package beside it: the same ones would be taken over.
      resolver.add("npm:w", 1)
      const main = await save(
        `import { value } from "npm:v"; import "npm:w"; import * as lib from "./${lib.name}"; export default () => [value, lib.value]`,
      )
      expect((await run(main)).returnValue).toEqual(["two", "one"])
      // One's own vals are imported as they are now.
      resolver.add("npm:v@2", "three")
      await save(`export { value } from "npm:v@2"`, { name: lib.name })
      expect((await run(main)).returnValue).toEqual(["two", "three"])
    })

    test("other users' vals with the packages of their lockfiles", async () => {
      resolver.add("npm:w", "old")
      const theirs = await save(`export { value } from "npm:w"`, {}, bob)
      const mine = await save(
        `import { value } from "${testBaseUrl}/v/bob/${theirs.name}"; export default () => value`,
      )
      resolver.add("npm:w@2", "new")
      await save(`export { value } from "npm:w@2"`, { name: theirs.name }, bob)
      expect((await run(mine)).returnValue).toBe("old")
      expect(
        (await run(await save(`${mine.code} // again`, { name: mine.name }))).returnValue,
      ).toBe("new")
    })
  })

  test("use the same packages after the registry has changed, on every node, for each version", async () => {
    resolver.add("npm:moving", 1)
    resolver.add("npm:other", 0)
    const code = (other = "") =>
      `import value from "npm:moving"; ${other} export default () => value`
    const val = await save(code())
    expect((await run(val)).returnValue).toBe(1)
    resolver.add("npm:moving", 2)
    const changed = await save(code(`import "npm:other";`), { name: val.name })
    expect((await run(changed)).returnValue).toBe(2)
    resolver.packages.delete("npm:moving")
    const other = await openApi(shared, {}, { resolver: new FakeResolver() })
    expect((await run(val, { version: 1 }, other)).returnValue).toBe(1)
    expect((await run(val, {}, other)).returnValue).toBe(2)
    await other.close()
  })

  describe("whose packages are missing", () => {
    test("fail at the import, with line and reason", async () => {
      const error = await resultOf(
        `import fs from "node:fs"\nimport { x, type Y } from "npm:nope"\nexport default () => x`,
      )
      const message = 'Cannot import "npm:nope": there is no such package'
      expect(error).toEqual({
        name: "TypeError",
        message,
        stack: `TypeError: ${message}\n    at ada/v${names}.tsx:2:27`,
      })
    })

    test("run with the packages that were found", async () => {
      resolver.add("npm:there", "there")
      const code = `import { value } from "npm:there"
        export default async () => [value, await import("npm:nope").catch((error) => error instanceof TypeError && error.message)]`
      expect(await resultOf(code)).toEqual([
        "there",
        'Cannot import "npm:nope": there is no such package',
      ])
    })

    test("run with a package that was fetched later", async () => {
      const val = await save(`import { value } from "npm:late"; export default () => value`)
      expect((await run(val)).error.message).toContain("npm:late")
      resolver.add("npm:late", "at last")
      expectStatus(await api.call("POST", `/v1/vals/${val.id}/versions/1/lock`, { as: ada }), 202)
      expect((await run(val)).returnValue).toBe("at last")
    })
  })

  test("report errors with the right lines", async () => {
    resolver.add("npm:a-package-with-a-longer-name", 1)
    const code = `import x from "npm:a-package-with-a-longer-name"; export const y = x
export default () => {
  throw new Error("here")
}`
    const error = await resultOf(code)
    expect(error).toMatchObject({
      message: "here",
      stack: expect.stringMatching(/^Error: here\n {4}at .*ada\/v\d+\.tsx:3:9\)?$/m),
    })
  })

  test("report errors in packages with the file of packages", async () => {
    resolver.packages.set("npm:thrower", {
      code: `({ fail() { throw new RangeError("in a package") } })`,
      exports: ["fail"],
    })
    const { stack } = await resultOf(
      `import { fail } from "npm:thrower"\nexport default () => fail()`,
    )
    expect(stack.split("\n")).toEqual([
      "RangeError: in a package",
      expect.stringMatching(/^ {4}at .*packages:bundle\.js:\d+:\d+\)?$/),
      expect.stringMatching(/^ {4}at .*ada\/v\d+\.tsx:2:\d+\)?$/),
    ])
  })

  test("are served unchanged at their module addresses", async () => {
    resolver.add("npm:served", 1)
    const val = await save(`import x from "npm:served"; export default x`)
    await whenSettled(val)
    for (const address of [`/v/ada/${val.name}`, `/v/ada/${val.name}@1`])
      expect((await api.call("GET", address, { headers: runtime })).text).toBe(val.code)
  })

  test("respond at their HTTP addresses", async () => {
    resolver.add("npm:greeting", "hello")
    const val = await save(
      `import { value } from "npm:greeting"; export default () => new Response(value)`,
      { type: "http" },
    )
    expect([await (await visit(val)).text(), await (await visit(val)).text()]).toEqual([
      "hello",
      "hello",
    ])
  })

  describe("that are still being fetched", () => {
    test("wait until they are fetched", async () => {
      const gate = Promise.withResolvers<void>()
      resolver.add("npm:slow", "worth it")
      resolver.gate = gate.promise
      const asked = resolver.asked.length
      const val = await save(`import { value } from "npm:slow"; export default () => value`)
      const runs = Promise.all([run(val), run(val)])
      await waitUntil(() => resolver.asked.length !== asked)
      resolver.gate = undefined
      gate.resolve()
      for (const { returnValue } of await runs) expect(returnValue).toBe("worth it")
    })

    describe("by files that are not imported", () => {
      const page = { path: "client/page.tsx", content: `import "https://away.example/react"` }
      const saveFiles = async (...changes: object[]): Promise<ValView> => {
        const val = await save("export default 0", { type: "http" })
        const body = { changes }
        const path = `/v1/vals/${val.id}/files`
        expectStatus(await api.call("POST", path, { as: ada, body }), 200)
        return { ...val, version: 2 }
      }
      const withGate = async (work: () => Promise<void>) => {
        const gate = Promise.withResolvers<void>()
        resolver.gate = gate.promise
        try {
          await work()
        } finally {
          resolver.gate = undefined
          gate.resolve()
        }
      }

      test("do not keep one that imports no packages waiting", () =>
        withGate(async () => {
          const code = `const home = "https://example.com/"\nexport default () => home`
          const val = await saveFiles({ path: "main.tsx", content: code }, page)
          expect((await run(val)).returnValue).toBe("https://example.com/")
          expect(await (await visit(val)).text()).toBe("https://example.com/")
          expect((await lockOf(val)).state).toBe("pending")
        }))

      test("do not stop one whose packages were found, also if a release before has stored its lockfile", async () => {
        resolver.add("npm:found", "found")
        resolver.isTemporary = true
        const content = `import { value } from "npm:found"; export default () => value`
        const val = await saveFiles({ path: "main.tsx", content }, page)
        expect((await run(val)).returnValue).toBe("found")
        await waitUntil(async () => (await lockOf(val)).imports.length === 2)
        expect((await lockOf(val)).state).toBe("pending")
        expect((await visit(val)).status).toBe(200)
        const refused = await api.call("POST", `/v1/vals/${val.id}/runs`, {
          as: ada,
          body: { file: page.path },
        })
        const seconds =
          /"https:\/\/away.example\/react" in "client\/page.tsx" could not be fetched: .*; the server tries again in (\d+) s$/
        const [, next = ""] = seconds.exec(expectStatus(refused, 503).json.message) ?? []
        expect(refused.headers.get("retry-after")).toBe(next)
        await database.db.run`update locks set bundle_hash = null where branch_id = ${val.id}`
        await database.db.run`delete from bundles`
        expect((await run(val)).returnValue).toBe("found")
        resolver.isTemporary = false
      })
    })

    test("wait for another node that fetches", () =>
      whileBusy(async () => {
        const [gate, theirs] = [Promise.withResolvers<void>(), new FakeResolver()]
        theirs.add("npm:elsewhere", "fetched elsewhere")
        theirs.gate = gate.promise
        const other = await openApi(shared, {}, { resolver: theirs })
        const val = await save(
          `import { value } from "npm:elsewhere"; export default () => value`,
          {},
          ada,
          other,
        )
        await waitUntil(() => theirs.asked.length !== 0)
        const running = run(val)
        gate.resolve()
        expect((await running).returnValue).toBe("fetched elsewhere")
        await other.close()
      }))

    test("fail when fetching takes too long, and run later", () =>
      whileBusy(async () => {
        const [gate, slow] = [Promise.withResolvers<void>(), new FakeResolver()]
        slow.gate = gate.promise
        slow.add("npm:slow", 1)
        const other = await openApi(shared, { HAMLET_RUN_SECONDS_MAX: "3" }, { resolver: slow })
        const val = await save(
          `import { value } from "npm:slow"; export default () => value // too slow`,
          { type: "http" },
          ada,
          other,
        )
        await waitUntil(() => slow.asked.length !== 0)
        const response = expectStatus(
          await other.call("POST", `/v1/vals/${val.id}/runs`, { as: ada }),
          503,
        )
        const message = "Cannot run the val: the packages of this version are still being fetched"
        expect(response.json).toMatchObject({ code: "packages_pending", message })
        expect(response.headers.get("retry-after")).toBe("1")
        const { json } = await other.call("GET", `/v1/vals/${val.id}/runs`, { as: ada })
        const [{ status, error }] = json.data
        expect([status, error]).toEqual(["failed", { name: "packages_pending", message }])
        const visited = await visit(val, other)
        expect([
          visited.status,
          visited.headers.has("retry-after"),
          (await visited.text()).includes(message),
        ]).toEqual([503, true, true])
        gate.resolve()
        await whenSettled(val)
        // On the server where a run has its usual time, also to start its process.
        expect((await run(val)).returnValue).toBe(1)
        await other.close()
      }))
  })

  describe("as programs", () => {
    const programs = () => api.hamlet.parts.runs.programs
    const find = async ({ id, version }: ValView) => {
      const val = await api.hamlet.stores.versions.find(id, version)
      if (!val) throw new Error("the val is gone")
      return val
    }

    test("keep their key while nothing changes, on each account", async () => {
      resolver.add("npm:known", 1)
      const saved = await save(`import "npm:known"`)
      await whenSettled(saved)
      const [val, of] = [await find(saved), programs()]
      const first = await of.of(val, ada.id)
      expect((await of.of(await find(saved), ada.id)).key).toBe(first.key)
      expect((await of.of(val, bob.id)).key).not.toBe(first.key)
      expect((await of.of(val, bob.id)).key).toBe((await of.of(val, bob.id)).key)
    })

    test("change their key when packages of theirs or of an imported val change", async () => {
      const lib = await save(`export * from "npm:unknown"`)
      const main = await save(`import "./${lib.name}"; import "npm:missing"`)
      await Promise.all([whenSettled(lib), whenSettled(main)])
      const of = programs()
      const keyOf = async () => (await of.of(await find(main), ada.id)).key
      const keys = [await keyOf(), await keyOf()]
      expect(keys[0]).toBe(keys[1] as string)
      for (const val of [lib, main]) {
        await nextMillisecond()
        expectStatus(await api.call("POST", `/v1/vals/${val.id}/versions/1/lock`, { as: ada }), 202)
        await whenSettled(val)
        keys.push(await keyOf())
      }
      expect(new Set(keys).size).toBe(3)
      const { whenFetched } = await of.of(await find(main), ada.id)
      expect(whenFetched).toBeUndefined()
    })

    test("have whenFetched while packages are pending, and start no process until then", async () => {
      const gate = Promise.withResolvers<void>()
      resolver.gate = gate.promise
      const asked = resolver.asked.length
      const saved = await save(`import "npm:known"; import "npm:known/more"`)
      await waitUntil(() => resolver.asked.length !== asked)
      const program = await programs().of(await find(saved), ada.id)
      const fetched = program.whenFetched?.().then(() => "fetched")
      expect(await Promise.race([fetched, Bun.sleep(0).then(() => "not yet")])).toBe("not yet")
      resolver.gate = undefined
      gate.resolve()
      expect(await fetched).toBe("fetched")
      const { bundles, end } = await program.load()
      end()
      expect(bundles).toHaveLength(1)
    })
  })
})

describeEachDatabase("vals that were saved before packages were supported", (open) => {
  test("get a lockfile when they run, if they import packages", async () => {
    const database = await open()
    const dayMs = 86_400_000
    await database.db.write(function* () {
      for (const [version, at] of Object.entries({ 1: Date.now() - dayMs, 3: Date.now() }))
        yield sql`insert into schema_migrations (version, name, applied_at) values (${Number(version)}, 'old', ${at})`
    })
    const resolver = new FakeResolver()
    resolver.add("npm:old", "not too late")
    const api = await openApi(
      async () => ({ ...database, close: async () => {} }),
      {},
      { resolver },
    )
    const { token } = await api.addUser("ada")
    const save = async (name: string, code: string): Promise<ValView> =>
      expectStatus(await api.call("PUT", "/v1/vals", { as: token, body: { name, code } }), 200).json
    const resultOf = async ({ id }: ValView) =>
      (await api.call("POST", `/v1/vals/${id}/runs`, { as: token })).json.returnValue
    const lib = await save("lib", `export { value } from "npm:old"`)
    const main = await save(
      "main",
      `import { value } from "./lib"; import fs from "node:fs"; export default () => value + typeof fs`,
    )
    const other = await save("other", `import { value } from "npm:old"; export default () => value`)
    const pending = sql`select branch_id from locks where state = 'pending'`
    await waitUntil(async () => (await database.db.read(pending)).length === 0)
    await database.db.write(function* () {
      yield sql`delete from locks where branch_id in (${lib.id}, ${other.id})`
    })
    const lockOf = async (val: ValView) =>
      (await api.call("GET", `/v1/vals/${val.id}/versions/1/lock`, { as: token })).json.state
    expect(await lockOf(lib)).toBe("none")

    expect(await resultOf(main)).toBe("not too lateobject")

    expect([await lockOf(lib), await lockOf(main)]).toEqual(["ready", "none"])
    // The packages of a version are resolved on request, too.
    expect(
      expectStatus(
        await api.call("POST", `/v1/vals/${other.id}/versions/1/lock`, { as: token }),
        202,
      ).json.state,
    ).toBe("pending")
    expect(await resultOf(other)).toBe("not too late")
    await api.close()
  })
})
