import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import { expectStatus, openApi, type TestApi, type TestUser } from "../support/api.ts"
import { describeEachDatabase, type TestDatabase } from "../support/databases.ts"
import { FakeResolver } from "../support/fakes/fake-resolver.ts"
import { refusalOf, type ValView } from "./suite.ts"

const missing = "01890000-0000-7000-8000-000000000000"
const time = expect.stringMatching(/^\d{4}-.*Z$/)
const none = { state: "none", imports: [], warnings: [], updatedAt: null }

describeEachDatabase("api/locks", (open) => {
  let api: TestApi
  let database: TestDatabase
  let resolver: FakeResolver
  let ada: TestUser
  let bob: TestUser

  beforeAll(async () => {
    resolver = new FakeResolver()
    resolver.packages.set("npm:a", { code: "({})", exports: [], resolved: "npm:a@1.2.3" })
    const shared = async () => {
      database = await open()
      return database
    }
    api = await openApi(shared, {}, { resolver })
    ada = await api.addUser("ada")
    bob = await api.addUser("bob")
  })
  afterAll(() => api.close())

  const save = async (code: string, fields: object = {}, as = ada): Promise<ValView> =>
    expectStatus(
      await api.call("POST", "/v1/vals", { as, body: { code, privacy: "public", ...fields } }),
      200,
    ).json
  const path = ({ id }: Pick<ValView, "id">, version: number | string = 1) =>
    `/v1/vals/${id}/versions/${version}/lock`
  const lockOf = async (val: ValView, version = 1, as: TestUser | undefined = ada) =>
    expectStatus(await api.call("GET", path(val, version), { as }), 200).json
  const settled = (val: ValView, version = 1) =>
    waitUntil(async () => {
      const lock = await lockOf(val, version)
      return lock.state !== "pending" && lock
    })
  const isSaved = async ({ id }: ValView) =>
    (
      await database.db.read<{ count: number | string }>(
        sql`select count(*) as count from locks where branch_id = ${id}`,
      )
    ).map(({ count }) => Number(count))[0]

  /** While that lasts, nothing is resolved. */
  const whilePending = async (work: () => Promise<void>) => {
    const gate = Promise.withResolvers<void>()
    resolver.gate = gate.promise
    try {
      await work()
    } finally {
      resolver.gate = undefined
      gate.resolve()
    }
  }

  describe("a save", () => {
    test("resolves the packages that the version imports", async () => {
      const val = await save(`import a from "npm:a"; export default a`)
      expect(await settled(val)).toEqual({
        state: "ready",
        imports: [{ specifier: "npm:a", resolved: "npm:a@1.2.3", error: null }],
        warnings: [],
        updatedAt: time,
      })
    })

    test("warns of packages whose files are too large", async () => {
      resolver.leftOut = ["large@1.0.0"]
      resolver.add("npm:large", 1)
      const val = await save(`import "npm:large"`)
      const { state, warnings } = await settled(val)
      resolver.leftOut = []
      expect([state, warnings]).toEqual([
        "ready",
        [`the files of "large@1.0.0" are left out: together, those of all packages are too large`],
      ])
    })

    test("reports the error of each import", async () => {
      const val = await save(
        `import "npm:a"; await import("npm:nope"); import { b } from "https://example.com/b.ts"`,
      )
      expect(await settled(val)).toEqual({
        state: "failed",
        imports: [
          { specifier: "npm:a", resolved: "npm:a@1.2.3", error: null },
          { specifier: "npm:nope", resolved: null, error: "there is no such package" },
          {
            specifier: "https://example.com/b.ts",
            resolved: null,
            error: "there is no such package",
          },
        ],
        warnings: [],
        updatedAt: time,
      })
    })

    test("does not wait for the resolution, and stays when it fails", () =>
      whilePending(async () => {
        const val = await save(`import "npm:b"`)
        expect(await lockOf(val)).toEqual({
          ...none,
          state: "pending",
          updatedAt: time,
        })
        const body = { code: `import "npm:b" // again` }
        expect(
          (await api.call("POST", `/v1/vals/${val.id}/versions`, { as: ada, body })).status,
        ).toBe(201)
        const put = { name: val.name, code: `import "npm:b" // and again` }
        expect((await api.call("PUT", "/v1/vals", { as: ada, body: put })).status).toBe(200)
        for (const version of [2, 3])
          expect(await lockOf(val, version)).toMatchObject({ state: "pending" })
      }))

    const near = [
      "export default 1",
      `import { readFileSync } from "node:fs"; fetch("https://example.com")`,
      `import x from "./other"; import y from "https://esm.town/v/ada/y"; import z from "http://hamlet.test/v/ada/z"`,
      `import { blob } from "http://hamlet.test/std/blob"; import { sqlite } from "https://esm.town/v/std/sqlite"`,
      `import type { A } from "npm:a"`,
      `const text = 'import "npm:a"'`,
    ]
    test.each(near)("creates no lockfile for code without packages: %s", async (code) => {
      const val = await save(code)
      expect(await lockOf(val)).toEqual(none)
      expect(await isSaved(val)).toBe(0)
    })

    test("fetches a val of esm.town that this server does not have, once and for all", async () => {
      const address = "https://esm.town/v/bob/elsewhere"
      const secret = "https://esm.town/v/bob/hidden"
      resolver.packages.set(address, {
        code: "({ default: 1 })",
        exports: ["default"],
        resolved: address,
      })
      await save("export default 2", { name: "hidden", privacy: "private" }, bob)
      const code = `import a from "${address}"; import b from "${secret}"; export default [a, b]`
      const val = await save(code)
      const imports = [
        { specifier: address, resolved: address, error: null },
        { specifier: secret, resolved: null, error: "there is no such package" },
      ]
      expect((await settled(val)).imports).toEqual(imports)
      // The failed import is locked, even if there is such a val later, and does not become a
      // reference to it.
      const later = await save("export default 3", { name: "elsewhere" }, bob)
      expect((await lockOf(val)).imports).toEqual(imports)
      const references = await api.call("GET", `/v1/vals/${later.id}/references`, { as: ada })
      expect(references.json.data).toEqual([])
      // Saved now, it means the val here.
      const next = await save(`import a from "${address}"; export default a`)
      expect(await lockOf(next)).toEqual(none)
    })

    test("resolves the JSX import source", async () => {
      const val = await save("/** @jsxImportSource npm:view */\nexport default () => <p />")
      expect((await settled(val)).imports).toEqual([
        { specifier: "npm:view/jsx-runtime", resolved: null, error: "there is no such package" },
      ])
    })

    test("that creates no version starts no resolution", async () => {
      const code = `import "npm:a" // the same`
      const val = await save(code)
      await settled(val)
      const before = resolver.asked.length
      expectStatus(
        await api.call("POST", `/v1/vals/${val.id}/versions`, { as: ada, body: { code } }),
        200,
      )
      expect([resolver.asked.length, await isSaved(val)]).toEqual([before, 1])
    })
  })

  describe("GET", () => {
    test("is allowed to every caller that can see the version", async () => {
      const hidden = await save(`import "npm:a"`, { privacy: "private" })
      await settled(hidden)
      expect(refusalOf(await api.call("GET", path(hidden), { as: bob }))).toEqual([
        404,
        "val_not_found",
      ])
      expect(refusalOf(await api.call("GET", path(hidden), {}))).toEqual([404, "val_not_found"])
      const open = await save(`import "npm:a"`, { privacy: "unlisted" })
      await settled(open)
      expect(await lockOf(open, 1, undefined)).toMatchObject({ state: "ready" })
    })

    test("is 404 for a missing val or version, and 400 for an invalid version", async () => {
      const val = await save("1")
      expect(refusalOf(await api.call("GET", path(val, 2), { as: ada }))).toEqual([
        404,
        "version_not_found",
      ])
      expect(refusalOf(await api.call("GET", path(val, "9".repeat(30)), { as: ada }))).toEqual([
        404,
        "version_not_found",
      ])
      expect(refusalOf(await api.call("GET", path({ id: missing }), { as: ada }))).toEqual([
        404,
        "val_not_found",
      ])
      expect((await api.call("GET", path(val, "x"), { as: ada })).status).toBe(400)
    })
  })

  describe("POST", () => {
    test("retries failed imports", async () => {
      const val = await save(`import "npm:later"`)
      const before = await settled(val)
      expect(before.state).toBe("failed")
      const response = expectStatus(await api.call("POST", path(val), { as: ada }), 202).json
      expect(response.state).toBe("pending")
      expect((await settled(val)).state).toBe("failed")
      resolver.add("npm:later", 1)
      expectStatus(await api.call("POST", path(val), { as: ada }), 202)
      expect(await settled(val)).toMatchObject({
        state: "ready",
        imports: [{ specifier: "npm:later", error: null }],
      })
    })

    test("does nothing for a lockfile that is ready, pending or not needed", async () => {
      resolver.add("npm:fixed", 1)
      resolver.add("npm:waiting", 1)
      const ready = await save(`import "npm:fixed"`)
      const lock = await settled(ready)
      resolver.packages.set("npm:fixed", { code: "2", exports: [], resolved: "npm:fixed@2" })
      expect(expectStatus(await api.call("POST", path(ready), { as: ada }), 200).json).toEqual(lock)
      expect(await lockOf(ready)).toEqual(lock)
      const plain = await save("1")
      expect(expectStatus(await api.call("POST", path(plain), { as: ada }), 200).json).toEqual(none)
      await whilePending(async () => {
        // Packages that a version has resolved are taken over, without the resolver.
        const pending = await save(`import "npm:fixed"; import "npm:waiting"`)
        expect(
          expectStatus(await api.call("POST", path(pending), { as: ada }), 202).json.updatedAt,
        ).toBe((await lockOf(pending)).updatedAt)
      })
    })

    test("is allowed to the owner only", async () => {
      const [open, hidden] = [
        await save(`import "npm:nope"`),
        await save(`import "npm:nope"`, { privacy: "private" }),
      ]
      const before = await Promise.all([settled(open), settled(hidden)])
      expect(refusalOf(await api.call("POST", path(open), { as: bob }))).toEqual([403, "not_owner"])
      expect(refusalOf(await api.call("POST", path(hidden), { as: bob }))).toEqual([
        404,
        "val_not_found",
      ])
      expect(refusalOf(await api.call("POST", path(open), {}))).toEqual([401, "unauthenticated"])
      expect(refusalOf(await api.call("POST", path(open, 2), { as: ada }))).toEqual([
        404,
        "version_not_found",
      ])
      expect(await Promise.all([lockOf(open), lockOf(hidden)])).toEqual(before)
    })
  })
})
