import { afterAll, beforeAll, expect, test } from "bun:test"
import { type Database, sql } from "@hamlet/database"
import { expectStatus, openApi, type TestApi, type TestUser } from "../support/api.ts"
import { describeEachDatabase } from "../support/databases.ts"
import type { ValView } from "./suite.ts"

/** A val and the file in which it was found. */
type Found = readonly [name: string, file: string | null]

describeEachDatabase("api/search-files", (open) => {
  let api: TestApi
  let db: Database
  let ada: TestUser
  let bob: TestUser
  let count = 0
  /** What housekeeping does, which would otherwise do it at any moment. */
  let indexBacklog: TestApi["hamlet"]["stores"]["vals"]["indexBacklog"]

  beforeAll(async () => {
    api = await openApi(async (options) => {
      const database = await open(options)
      db = database.db
      return database
    })
    const { vals } = api.hamlet.stores
    indexBacklog = vals.indexBacklog
    Object.assign(vals, { indexBacklog: async () => false })
    ada = await api.addUser("ada")
    bob = await api.addUser("bob")
  })
  afterAll(() => api.close())

  const create = async (fields: object = {}): Promise<ValView> => {
    count += 1
    const body = { name: `val${count}`, code: "export default 1", privacy: "public", ...fields }
    return expectStatus(await api.call("POST", "/v1/vals", { as: ada, body }), 200).json
  }
  const save = async ({ id }: ValView, changes: readonly object[], query = "") =>
    expectStatus(
      await api.call("POST", `/v1/vals/${id}/files${query}`, { as: ada, body: { changes } }),
      200,
    ).json
  const search = async (text: string, as?: TestUser): Promise<readonly Found[]> => {
    const path = `/v1/search/vals?query=${encodeURIComponent(text)}`
    return expectStatus(await api.call("GET", path, { as }), 200).json.data.map(
      ({ name, file }: ValView & { file: string | null }) => [name, file],
    )
  }

  const indexRest = async () => {
    while (await indexBacklog(10));
  }

  test("names the file that contains the text, the code before other files before the readme", async () => {
    const val = await create({ code: "const zebraOne = 1", readme: "zebraThree" })
    await save(val, [
      { path: "lib/b.ts", content: "const zebraTwo = zebraThree" },
      { path: "lib/a.txt", content: "zebraOne zebraTwo" },
    ])
    expect(await search("zebraOne")).toEqual([[val.name, "main.tsx"]])
    expect(await search("zebraTwo")).toEqual([[val.name, "lib/a.txt"]])
    expect(await search("zebraThree")).toEqual([[val.name, "lib/b.ts"]])
    await save(val, [{ path: "lib/b.ts", delete: true }])
    expect(await search("zebraThree")).toEqual([[val.name, "README.md"]])
  })

  test("finds paths and descriptions, and names no file for a hit in the name", async () => {
    const val = await create({ name: "okapiVal" })
    await save(val, [{ path: "quagga/file.txt", content: "text" }])
    expect(await search("quagga/file")).toEqual([[val.name, "quagga/file.txt"]])
    const body = { description: "a lonely oryx" }
    expectStatus(await api.call("PUT", `/v1/vals/${val.id}`, { as: ada, body }), 204)
    expect(await search("lonely oryx")).toEqual([[val.name, null]])
    expect(await search("okapiVal")).toEqual([[val.name, null]])
  })

  test("shows a val once, however many of its files contain the text", async () => {
    const val = await create({ code: "const gnu9 = 1" })
    const changes = Array.from({ length: 30 }, (_, n) => ({ path: `f${n}.ts`, content: "gnu9" }))
    await save(val, changes)
    expect(await search("gnu9")).toEqual([[val.name, "main.tsx"]])
  })

  test("follows edits, moves, deletions and the deletion of a version", async () => {
    const val = await create()
    await save(val, [{ path: "a.ts", content: "const tapir = 1" }])
    await save(val, [{ path: "a.ts", newPath: "b.ts" }])
    expect(await search("tapir")).toEqual([[val.name, "b.ts"]])
    const { version } = await save(val, [{ path: "b.ts", content: "const civet = 1" }])
    expect([await search("tapir"), await search("civet")]).toEqual([[], [[val.name, "b.ts"]]])
    const path = `/v1/vals/${val.id}/versions/${version}`
    expectStatus(await api.call("DELETE", path, { as: ada }), 204)
    expect([await search("tapir"), await search("civet")]).toEqual([[[val.name, "b.ts"]], []])
    await save(val, [{ path: "b.ts", delete: true }])
    expect(await search("tapir")).toEqual([])
  })

  test("finds what becomes the entry file, and what no longer is it, once", async () => {
    const body = { name: "folder", privacy: "public" }
    const val = expectStatus(await api.call("POST", "/v2/vals", { as: ada, body }), 201).json
    await save(val, [{ path: "zz.ts", type: "script", content: "const ibex = 1" }])
    expect(await search("ibex")).toEqual([["folder", "zz.ts"]])
    await save(val, [{ path: "main.ts", type: "script", content: "const eland = 1" }])
    expect(await search("ibex")).toEqual([["folder", "zz.ts"]])
    expect(await search("eland")).toEqual([["folder", "main.ts"]])
    expect(await search("zz.ts")).toEqual([["folder", "zz.ts"]])
    await save(val, [{ path: "main.ts", delete: true }])
    expect([await search("ibex"), await search("eland")]).toEqual([[["folder", "zz.ts"]], []])
  })

  test("shows the files of a val to those who may find the val, also after its privacy changes", async () => {
    const val = await create()
    await save(val, [{ path: "secret.ts", content: "const aardvark = 1" }])
    const change = async (privacy: string) =>
      expectStatus(await api.call("PUT", `/v1/vals/${val.id}`, { as: ada, body: { privacy } }), 204)
    const hit = [[val.name, "secret.ts"]] as const
    for (const privacy of ["private", "unlisted"]) {
      await change(privacy)
      expect([await search("aardvark"), await search("aardvark", bob)]).toEqual([[], []])
      expect(await search("aardvark", ada)).toEqual([...hit])
    }
    await save(val, [{ path: "other.ts", content: "const aardwolf = 1" }])
    expect(await search("aardwolf")).toEqual([])
    await change("public")
    expect([await search("aardvark"), await search("aardwolf")]).toEqual([
      [...hit],
      [[val.name, "other.ts"]],
    ])
  })

  test("finds the files of main only, and those of a fork", async () => {
    const val = await create({ code: "const wombat0 = 1" })
    await save(val, [{ path: "lib.ts", content: "const wombat1 = 1" }])
    const branch = expectStatus(
      await api.call("POST", `/v2/vals/${val.id}/branches`, { as: ada, body: { name: "try" } }),
      201,
    ).json
    const changes = [{ path: "lib.ts", content: "const wombat2 = 1" }]
    await save(val, changes, `?branch_id=${branch.id}`)
    expect(await search("wombat2", ada)).toEqual([])
    const body = { name: "fork", privacy: "public" }
    expectStatus(await api.call("POST", `/v1/vals/${val.id}/fork`, { as: bob, body }), 201)
    expect((await search("wombat1")).toSorted()).toEqual([
      ["fork", "lib.ts"],
      [val.name, "lib.ts"],
    ])
  })

  test("compares half a megabyte of a val's other files, code first", async () => {
    const val = await create()
    const long = (word: string) => `${word} ${"x".repeat(200_000)}`
    await save(val, [
      { path: "a.txt", content: long("numbat1") },
      { path: "b.txt", content: long("numbat2") },
      { path: "z.ts", content: `// ${long("numbat3")}` },
    ])
    await indexRest()
    expect(await search("numbat1")).toEqual([[val.name, "a.txt"]])
    expect(await search("numbat2")).toEqual([])
    expect(await search("numbat3")).toEqual([[val.name, "z.ts"]])
    await save(val, [{ path: "a.txt", delete: true }])
    await indexRest()
    expect(await search("numbat1")).toEqual([])
    expect(await search("numbat2")).toEqual([[val.name, "b.txt"]])
  })

  test("a save indexes no more text than the longest code has, and housekeeping the rest", async () => {
    const val = await create()
    const long = (word: string) => `${word} ${"x".repeat(150_000)}`
    const both = (word: string) => [
      { path: "a.ts", content: long(`${word}1`) },
      { path: "b.ts", content: long(`${word}2`) },
    ]
    await save(val, both("bilby"))
    expect(await search("bilby1")).toEqual([[val.name, "a.ts"]])
    expect(await search("bilby2")).toEqual([])
    await indexRest()
    expect(await search("bilby2")).toEqual([[val.name, "b.ts"]])
    await save(val, both("quokka"))
    expect([await search("quokka1"), await search("quokka2")]).toEqual([[[val.name, "a.ts"]], []])
    await indexRest()
    expect([await search("quokka2"), await search("bilby")]).toEqual([[[val.name, "b.ts"]], []])
  })

  test("housekeeping indexes the files of a val that becomes public, once", async () => {
    const val = await create({ privacy: "private" })
    await save(val, [{ path: "lib.ts", content: "const vicuna = 1" }])
    const change = async (privacy: string) =>
      expectStatus(await api.call("PUT", `/v1/vals/${val.id}`, { as: ada, body: { privacy } }), 204)
    const listIndexed = () =>
      db.read(
        sql`select path from search_texts where val_id = ${val.id} and is_public = 1 order by path`,
      )
    expect(await listIndexed()).toEqual([])
    await change("public")
    await indexRest()
    expect(await listIndexed()).toEqual([{ path: "" }, { path: "lib.ts" }])
    await change("private")
    await change("public")
    expect(await db.read(sql`select * from search_backlog where val_id = ${val.id}`)).toEqual([])
    expect(await listIndexed()).toEqual([{ path: "" }, { path: "lib.ts" }])
    expect(await search("vicuna")).toEqual([[val.name, "lib.ts"]])
  })

  test("housekeeping adds the files that an earlier release has not indexed", async () => {
    const val = await create({ code: "const dugong0 = 1" })
    await save(val, [{ path: "lib.ts", content: "const dugong1 = 1" }])
    await db.write(function* () {
      yield sql`delete from search_texts where val_id = ${val.id} and path <> ''`
      yield sql`insert into search_backlog (val_id) values (${val.id})`
    })
    expect([await search("dugong0"), await search("dugong1")]).toEqual([
      [[val.name, "main.tsx"]],
      [],
    ])
    await Promise.all([
      indexBacklog(10),
      save(val, [{ path: "new.ts", content: "const dugong2 = 1" }]),
    ])
    expect([await search("dugong1"), await search("dugong2")]).toEqual([
      [[val.name, "lib.ts"]],
      [[val.name, "new.ts"]],
    ])
    expect(await indexBacklog(10)).toBe(false)
    expect(await db.read(sql`select val_id from search_backlog`)).toEqual([])
  })
})
