import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import { createBundleStore } from "../../src/storage/modules/bundles.ts"
import { expectStatus, openApi, type TestApi, type TestUser, testBaseUrl } from "../support/api.ts"
import { describeEachDatabase, type TestDatabase } from "../support/databases.ts"
import { FakeResolver } from "../support/fakes/fake-resolver.ts"
import { idsOf, nextMillisecond, refusalOf, type ValView } from "./suite.ts"

const base = `${testBaseUrl}/v`
const missing = "01890000-0000-7000-8000-000000000000"

describeEachDatabase("api/forks", (open) => {
  let api: TestApi
  let database: TestDatabase
  let resolver: FakeResolver
  let people = 0

  beforeAll(async () => {
    resolver = new FakeResolver()
    resolver.packages.set("npm:a", {
      code: "({ default: 1 })",
      exports: ["default"],
      resolved: "npm:a@1.2.3",
    })
    const shared = async () => {
      database = await open()
      return database
    }
    api = await openApi(shared, {}, { resolver })
  })
  afterAll(() => api.close())

  const person = () => {
    people += 1
    return api.addUser(`Person${people}`)
  }
  const add = async (as: TestUser, fields: object = {}): Promise<ValView> =>
    expectStatus(
      await api.call("POST", "/v1/vals", { as, body: { code: "1", privacy: "public", ...fields } }),
      200,
    ).json
  const save = async (as: TestUser, { id }: ValView, code: string): Promise<ValView> => {
    await nextMillisecond()
    return expectStatus(
      await api.call("POST", `/v1/vals/${id}/versions`, { as, body: { code } }),
      201,
    ).json
  }
  const tryFork = (as: TestUser | undefined, id: string, body: object = {}) =>
    api.call("POST", `/v1/vals/${id}/fork`, { as, body })
  const fork = async (as: TestUser, { id }: ValView, body: object = {}): Promise<ValView> =>
    expectStatus(await tryFork(as, id, body), 201).json
  const get = async ({ id }: Pick<ValView, "id">, as?: TestUser): Promise<ValView> =>
    expectStatus(await api.call("GET", `/v1/vals/${id}`, { as }), 200).json
  const change = async (as: TestUser, { id }: ValView, body: object) =>
    expectStatus(await api.call("PUT", `/v1/vals/${id}`, { as, body }), 204)
  const remove = async (as: TestUser, path: string) =>
    expectStatus(await api.call("DELETE", path, { as }), 204)
  const lockOf = async ({ id }: ValView, as: TestUser, version = 1) =>
    expectStatus(await api.call("GET", `/v1/vals/${id}/versions/${version}/lock`, { as }), 200).json
  const settled = (val: ValView, as: TestUser) =>
    waitUntil(async () => (await lockOf(val, as, val.version)).state !== "pending")
  /** The code of the modules of a val's program, without its own module. */
  const modulesOf = async ({ id, version, author }: ValView): Promise<readonly string[]> => {
    const { versions } = api.hamlet.stores
    const { programs } = api.hamlet.parts.runs
    const val = await versions.find(id, version)
    if (!val) throw new Error(`Cannot find val ${id}`)
    const program = await programs.of(val, author.id)
    const { modules, end } = await program.load()
    end()
    return modules
      .filter(({ url, location }) => url !== program.entryUrl && location === undefined)
      .map(({ code }) => code)
      .sort()
  }

  describe("POST /v1/vals/{val_id}/fork", () => {
    test("copies a val without files or without code as it is", async () => {
      const ada = await person()
      const create = async (name: string) => {
        const body = { name, privacy: "public" }
        return expectStatus(await api.call("POST", "/v2/vals", { as: ada, body }), 201).json
      }
      const paths = async ({ id }: { id: string }) => {
        const path = `/v2/vals/${id}/files?path=&recursive=true`
        const { json } = expectStatus(await api.call("GET", path, { as: ada }), 200)
        return json.data.map((file: { path: string }) => file.path)
      }
      const forkOf = async ({ id }: { id: string }) =>
        expectStatus(await api.call("POST", `/v1/vals/${id}/fork`, { as: ada, body: {} }), 201).json
      const empty = await forkOf(await create("empty"))
      expect([empty.code, empty.files, await paths(empty)]).toEqual(["", 0, []])
      const data = await create("data")
      const changes = ["README.md", "a/data.json"].map((path) => ({ path, content: "{}" }))
      const saved = await api.call("POST", `/v1/vals/${data.id}/files`, {
        as: ada,
        body: { changes },
      })
      expectStatus(saved, 200)
      const copy = await forkOf(data)
      expect([copy.code, copy.readme, copy.files]).toEqual(["", "{}", 2])
      expect(await paths(copy)).toEqual(["README.md", "a", "a/data.json"])
      // A first save of code makes its entry file.
      const body = { code: "1" }
      const next = await api.call("POST", `/v1/vals/${copy.id}/versions`, { as: ada, body })
      expect(expectStatus(next, 201).json).toMatchObject({ code: "1", files: 3, version: 2 })
      expect(await paths(copy)).toContain("main.tsx")
    })

    test("copies code, readme and type of another user's val into a private val", async () => {
      const [ada, bob] = [await person(), await person()]
      const original = await add(ada, { name: "hello", readme: "# Hi", type: "http" })
      expectStatus(await api.call("PUT", `/v1/vals/${original.id}/like`, { as: ada }), 204)

      const copy = await fork(bob, original)

      expect(copy).toMatchObject({
        name: "hello",
        version: 1,
        code: "1",
        readme: "# Hi",
        type: "http",
        privacy: "private",
        public: false,
        likeCount: 0,
        forkCount: 0,
        author: { id: bob.id, username: bob.username },
        forkedFrom: {
          id: original.id,
          name: "hello",
          version: 1,
          author: { id: ada.id, username: ada.username },
        },
      })
      expect(copy.id).not.toBe(original.id)
      expect(await get(copy, bob)).toEqual(copy)
      expect(original).toMatchObject({ forkedFrom: null, forkCount: 0 })
    })

    test("takes a version, a name and a privacy, and needs no body", async () => {
      const [ada, bob] = [await person(), await person()]
      const original = await add(ada, { code: "first" })
      await save(ada, original, "second")
      const copy = await fork(bob, original, { version: 1, name: "mine", privacy: "unlisted" })
      expect(copy).toMatchObject({ code: "first", name: "mine", privacy: "unlisted", version: 1 })
      expect(copy.forkedFrom?.version).toBe(1)
      const current = await api.call("POST", `/v1/vals/${original.id}/fork`, { as: bob })
      expect(expectStatus(current, 201).json).toMatchObject({
        code: "second",
        forkedFrom: { version: 2 },
      })
    })

    test("adds a number to a name that the caller has, within the length of a name", async () => {
      const [ada, bob] = [await person(), await person()]
      const long = "a".repeat(48)
      const [plain, longest] = [await add(ada, { name: "plain" }), await add(ada, { name: long })]
      await add(bob, { name: "PLAIN" })
      await add(bob, { name: long })
      expect((await fork(bob, plain)).name).toBe("plain_2")
      expect((await fork(bob, plain)).name).toBe("plain_3")
      expect((await fork(bob, longest)).name).toBe(`${"a".repeat(46)}_2`)
      expect((await fork(ada, plain)).name).toBe("plain_2")
      const names = await Promise.all(Array.from({ length: 12 }, () => fork(ada, plain)))
      expect(new Set(names.map(({ name }) => name.toLowerCase())).size).toBe(12)
    })

    test("is 409 for a name that the caller has, and creates nothing", async () => {
      const [ada, bob] = [await person(), await person()]
      const original = await add(ada)
      await add(bob, { name: "Taken" })
      expect(refusalOf(await tryFork(bob, original.id, { name: "taken" }))).toEqual([
        409,
        "name_taken",
      ])
      expect(idsOf(await api.call("GET", "/v1/me/vals", { as: bob }))).toHaveLength(1)
    })

    test("copies what the caller may see: own vals and unlisted ones, not private ones", async () => {
      const [ada, bob] = [await person(), await person()]
      const unlisted = await add(ada, { privacy: "unlisted" })
      const hidden = await add(ada, { privacy: "private" })
      expect((await fork(bob, unlisted)).forkedFrom?.id).toBe(unlisted.id)
      expect((await fork(ada, hidden)).forkedFrom?.id).toBe(hidden.id)
      const refused = await tryFork(bob, hidden.id)
      expect(refusalOf(refused)).toEqual([404, "val_not_found"])
      expect(refusalOf(await tryFork(bob, missing))).toEqual([404, "val_not_found"])
      expect(refusalOf(await tryFork(bob, hidden.id, { version: 7 }))).toEqual([
        404,
        "val_not_found",
      ])
      expect(refusalOf(await tryFork(undefined, unlisted.id))).toEqual([401, "unauthenticated"])
    })

    test("is 404 for a version that was deleted or never existed", async () => {
      const [ada, bob] = [await person(), await person()]
      const original = await add(ada)
      await save(ada, original, "2")
      await remove(ada, `/v1/vals/${original.id}/versions/1`)
      for (const version of [1, 0, 3, 4_000_000_000])
        expect(refusalOf(await tryFork(bob, original.id, { version }))).toEqual([
          404,
          "version_not_found",
        ])
    })

    test("is 400 for anything that is no version, name or privacy", async () => {
      const ada = await person()
      const { id } = await add(ada)
      for (const body of [{ version: -1 }, { version: "1" }, { name: "a b" }, { privacy: "open" }])
        expect(refusalOf(await tryFork(ada, id, body))).toEqual([400, "invalid_request"])
    })

    test("with an Idempotency-Key copies once", async () => {
      const [ada, bob] = [await person(), await person()]
      const original = await add(ada, { name: "once" })
      await add(bob, { name: "once" })
      const send = () =>
        api.call("POST", `/v1/vals/${original.id}/fork`, {
          as: bob,
          body: { privacy: "public" },
          headers: { "idempotency-key": "fork-1" },
        })
      const [first, second] = [await send(), await send()]
      expect(expectStatus(first, 201).json).toEqual(expectStatus(second, 201).json)
      expect((await get(original)).forkCount).toBe(1)
    })

    test("copies a fork of a fork with its direct original", async () => {
      const [ada, bob, carol] = [await person(), await person(), await person()]
      const first = await add(ada)
      const second = await fork(bob, first, { privacy: "public" })
      const third = await fork(carol, second, { privacy: "public" })
      expect(third.forkedFrom?.id).toBe(second.id)
      expect([(await get(first)).forkCount, (await get(second)).forkCount]).toEqual([1, 1])
    })
  })

  describe("forkedFrom", () => {
    const seenBy = async (val: ValView, ...viewers: (TestUser | undefined)[]) =>
      Promise.all(viewers.map(async (viewer) => (await get(val, viewer)).forkedFrom?.name ?? null))

    test("shows the original to those who may know of it, wherever the fork is shown", async () => {
      const [ada, bob, carol] = [await person(), await person(), await person()]
      const original = await add(ada, { name: "origin" })
      const copy = await fork(bob, original, { name: "forked", privacy: "public" })
      const viewers = [ada, bob, carol, undefined, api.admin]
      expect(await seenBy(copy, ...viewers)).toEqual(viewers.map(() => "origin"))

      await change(ada, original, { privacy: "unlisted", name: "renamed" })
      // Bob has had its address.
      expect(await seenBy(copy, ...viewers)).toEqual(["renamed", "renamed", null, null, null])

      await change(ada, original, { privacy: "private" })
      expect(await seenBy(copy, ...viewers)).toEqual(["renamed", null, null, null, null])

      for (const path of [
        `/v1/users/${bob.id}/vals`,
        `/v1/vals?userId=${bob.id}`,
        `/v1/alias/${bob.username}/forked`,
        `/v1/vals/${copy.id}/versions/1`,
        "/v1/me/vals",
      ]) {
        const { text } = await api.call("GET", path, { as: bob })
        expect(text).toContain(copy.id)
        expect(text).not.toContain(original.id)
        expect(text).not.toContain("renamed")
      }
      const saved = await save(bob, copy, "2")
      expect(saved.forkedFrom).toBeNull()

      await change(ada, original, { privacy: "public" })
      expect(await seenBy(copy, ...viewers)).toEqual(viewers.map(() => "renamed"))
      await remove(ada, `/v1/vals/${original.id}`)
      expect(await seenBy(copy, ...viewers)).toEqual(viewers.map(() => null))
    })

    test("stays when the fork is saved, renamed, and when the copied version is deleted", async () => {
      const [ada, bob] = [await person(), await person()]
      const original = await add(ada)
      await save(ada, original, "2")
      const copy = await fork(bob, original, { version: 1 })
      await remove(ada, `/v1/vals/${original.id}/versions/1`)
      await save(bob, copy, "3")
      await change(bob, copy, { name: "other" })
      expect((await get(copy, bob)).forkedFrom).toMatchObject({ id: original.id, version: 1 })
    })
  })

  describe("forkCount", () => {
    test("counts public forks only, through every change, for every viewer", async () => {
      const [ada, bob] = [await person(), await person()]
      const original = await add(ada)
      const counts = async () =>
        Promise.all([ada, bob, undefined].map(async (as) => (await get(original, as)).forkCount))
      const copy = await fork(bob, original)
      expect(await counts()).toEqual([0, 0, 0])
      await change(bob, copy, { privacy: "unlisted" })
      expect(await counts()).toEqual([0, 0, 0])
      await change(bob, copy, { privacy: "public" })
      expect(await counts()).toEqual([1, 1, 1])
      await save(bob, copy, "2")
      const own = await fork(ada, original, { privacy: "public" })
      expect(await counts()).toEqual([2, 2, 2])
      await change(bob, copy, { privacy: "private" })
      expect(await counts()).toEqual([1, 1, 1])
      await remove(ada, `/v1/vals/${own.id}`)
      expect(await counts()).toEqual([0, 0, 0])
    })

    test("is right after forks and changes at the same time", async () => {
      const [ada, bob] = [await person(), await person()]
      const original = await add(ada)
      const copies = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          fork(index % 2 === 0 ? ada : bob, original, {
            name: `copy${index}`,
            privacy: index % 3 === 0 ? "private" : "public",
          }),
        ),
      )
      await Promise.all(
        copies.map(({ id, author }, index) => {
          const as = author.id === ada.id ? ada : bob
          if (index % 4 === 0) return api.call("DELETE", `/v1/vals/${id}`, { as })
          const body = { privacy: index % 4 === 1 ? "private" : "public" }
          return api.call("PUT", `/v1/vals/${id}`, { as, body })
        }),
      )
      const shown = await api.call("GET", `/v1/vals/${original.id}/forks?limit=100`)
      expect((await get(original)).forkCount).toBe(idsOf(shown).length)
      expect(idsOf(shown)).toHaveLength(6)
    })
  })

  describe("GET /v1/vals/{val_id}/forks", () => {
    test("lists public forks and the viewer's own, newest first", async () => {
      const [ada, bob, carol] = [await person(), await person(), await person()]
      const original = await add(ada)
      const made: ValView[] = []
      for (const [as, privacy] of [
        [bob, "public"],
        [bob, "private"],
        [carol, "unlisted"],
        [carol, "public"],
      ] as const) {
        made.push(await fork(as, original, { privacy }))
        await nextMillisecond()
      }
      const [shown = "", hidden = "", unlisted = "", latest = ""] = made.map(({ id }) => id)
      const listFor = async (as?: TestUser) =>
        idsOf(await api.call("GET", `/v1/vals/${original.id}/forks`, { as }))
      for (const as of [ada, undefined, api.admin])
        expect(await listFor(as)).toEqual([latest, shown])
      expect(await listFor(bob)).toEqual([latest, hidden, shown])
      expect(await listFor(carol)).toEqual([latest, unlisted, shown])
      const page = await api.call("GET", `/v1/vals/${original.id}/forks?limit=1`)
      expect(idsOf(page)).toEqual([latest])
      const next = new URL(page.json.links.next)
      expect(idsOf(await api.call("GET", next.pathname + next.search))).toEqual([shown])
    })

    test("is 404 for a val that the caller may not see", async () => {
      const [ada, bob] = [await person(), await person()]
      const { id } = await add(ada, { privacy: "private" })
      for (const val of [id, missing])
        expect(refusalOf(await api.call("GET", `/v1/vals/${val}/forks`, { as: bob }))).toEqual([
          404,
          "val_not_found",
        ])
    })
  })

  describe("the imports of a fork", () => {
    test("of the original's owner mean the same vals, as they are when it is forked", async () => {
      const [ada, bob] = [await person(), await person()]
      const inner = await add(ada, { name: "inner", code: "inner 1" })
      const lib = await add(ada, { name: "lib", code: `import "./inner"` })
      const code = [
        `import "./lib"; import x from './lib'`,
        'const page = `<script type="module">import "./lib"</script>` // from "./lib"',
        `export { y } from "./lib@1"; await import("./inner"); import "../${ada.username}/inner"`,
        `const other = { from: "./lib" }`,
      ].join("\n")
      const original = await add(ada, { name: "main", code })
      await add(bob, { name: "lib", code: "another" })
      const copy = await fork(bob, original)

      const at = `../${ada.username}`
      expect(copy.code).toBe(
        [
          `import "${at}/lib"; import x from '${at}/lib'`,
          'const page = `<script type="module">import "./lib"</script>` // from "./lib"',
          `export { y } from "${at}/lib@1"; await import("${at}/inner"); import "${at}/inner"`,
          `const other = { from: "./lib" }`,
        ].join("\n"),
      )
      const expected = [`import "./inner"`, "inner 1"]
      expect(await modulesOf(copy)).toEqual(expected)
      await save(ada, inner, "inner 2")
      await change(ada, lib, { name: "moved" })
      expect(await modulesOf(copy)).toEqual(expected)
      // A later version of the fork is code like any other.
      await change(ada, lib, { name: "lib" })
      const next = await save(bob, copy, `${copy.code}\n// next`)
      expect(await modulesOf(next)).toEqual([`import "./inner"`, "inner 2"])
    })

    test("of third users' vals stay pinned, with what these import in turn", async () => {
      const [ada, bob, carol] = [await person(), await person(), await person()]
      const deep = await add(carol, { name: "deep", code: "deep 1" })
      const lib = await add(carol, { name: "lib", code: `import "./deep"` })
      const url = `${base}/${carol.username}/lib`
      await nextMillisecond()
      const original = await add(ada, { code: `import "${url}"` })
      const expected = ["deep 1", `import "./deep"`]
      expect(await modulesOf(original)).toEqual(expected)
      await save(carol, deep, "deep 2")
      await save(carol, lib, `import "./deep" // 2`)
      await change(carol, lib, { name: "moved" })
      await add(carol, { name: "lib", code: "a stranger" })

      const copy = await fork(bob, original)
      const again = await fork(carol, original)

      expect(copy.code).toBe(original.code)
      expect(await modulesOf(copy)).toEqual(expected)
      expect(await modulesOf(again)).toContain(`import "./deep"`)
      // Only public vals count as references.
      await change(bob, copy, { privacy: "public" })
      const references = await api.call("GET", `/v1/vals/${lib.id}/references`)
      expect(
        references.json.data.map((one: { reference: { id: string } }) => one.reference.id),
      ).toEqual(expect.arrayContaining([original.id, copy.id]))
      expect((await get(lib)).referenceCount).toBe(2)
    })

    test("do not reach a private val of the original's owner", async () => {
      const [ada, bob] = [await person(), await person()]
      const hidden = await add(ada, { name: "hidden", code: "secret code", privacy: "private" })
      const original = await add(ada, { code: `import "./hidden"` })
      expect(await modulesOf(original)).toEqual(["secret code"])
      const copy = await fork(bob, original)
      expect(await modulesOf(copy)).toEqual([])
      expect((await get(hidden, ada)).referenceCount).toBe(1)
    })

    test("of own vals stay as they are in a fork of an own val", async () => {
      const ada = await person()
      const lib = await add(ada, { name: "lib", code: "1" })
      const original = await add(ada, { name: "main", code: `import "./lib"` })
      const copy = await fork(ada, original)
      expect(copy).toMatchObject({ name: "main_2", code: original.code })
      await save(ada, lib, "2")
      expect(await modulesOf(copy)).toEqual(["2"])
    })

    test("are no reference to the original", async () => {
      const [ada, bob] = [await person(), await person()]
      const original = await add(ada)
      await fork(bob, original, { privacy: "public" })
      expect((await get(original)).referenceCount).toBe(0)
    })
  })

  describe("the packages of a fork", () => {
    test("are those of the original, and nothing is fetched", async () => {
      const [ada, bob] = [await person(), await person()]
      await add(ada, { name: "lib", code: "export default 2" })
      const original = await add(ada, { code: `import "./lib"\nimport a from "npm:a"` })
      await settled(original, ada)
      const asked = resolver.asked.length
      const copy = await fork(bob, original)
      expect(await lockOf(copy, bob)).toMatchObject({
        state: "ready",
        imports: [{ specifier: "npm:a", resolved: "npm:a@1.2.3", error: null }],
      })
      expect(resolver.asked).toHaveLength(asked)
      // The specifier has moved, because the relative import before it has become longer.
      const { versions } = api.hamlet.stores
      const { programs } = api.hamlet.parts.runs
      const val = await versions.find(copy.id, 1)
      if (!val) throw new Error("Cannot find the fork")
      const { modules, bundles, end } = await (await programs.of(val, bob.id)).load()
      end()
      expect(bundles).toHaveLength(1)
      expect(modules[0]?.code).toMatch(
        /^import "\.\.\/Person\d+\/lib"\nimport a from "http:\/\/hamlet\.test\/packages\/[0-9a-f]{64}\/0\/npm:a"$/,
      )
    })

    test("stay when the original is deleted and its bundle would be purged", async () => {
      const [ada, bob] = [await person(), await person()]
      const original = await add(ada, { code: `import "npm:a" // ${ada.id}` })
      await settled(original, ada)
      const copy = await fork(bob, original)
      await remove(ada, `/v1/vals/${original.id}`)
      await createBundleStore(database.db).purge("", Date.now() + 60_000, 1_000)
      const [row] = await database.db.read<{ count: number | string }>(sql`
        select count(*) as count from locks l join bundles b on b.hash = l.bundle_hash where l.branch_id = ${copy.id}`)
      expect(Number(row?.count)).toBe(1)
    })

    test("are waited for while the original's are being fetched", async () => {
      const [ada, bob] = [await person(), await person()]
      const gate = Promise.withResolvers<void>()
      resolver.gate = gate.promise
      const original = await add(ada, { code: `import "npm:a" // waits` })
      const asked = () => resolver.asked.filter((code) => code.includes("waits")).length
      await waitUntil(() => asked() === 1)
      const forking = fork(bob, original)
      resolver.gate = undefined
      gate.resolve()
      expect(await lockOf(await forking, bob)).toMatchObject({ state: "ready" })
      expect(asked()).toBe(1)
    })

    test("with an error have the same error, and can be tried again", async () => {
      const [ada, bob] = [await person(), await person()]
      const original = await add(ada, { code: `import "npm:later"` })
      await settled(original, ada)
      const copy = await fork(bob, original)
      expect(await lockOf(copy, bob)).toMatchObject({ state: "failed" })
      resolver.add("npm:later", 1)
      const path = `/v1/vals/${copy.id}/versions/1/lock`
      expectStatus(await api.call("POST", path, { as: bob }), 202)
      await waitUntil(async () => (await lockOf(copy, bob)).state === "ready")
      expect(await lockOf(original, ada)).toMatchObject({ state: "failed" })
    })
  })
})
