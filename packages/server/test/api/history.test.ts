import { describe, expect, test } from "bun:test"
import { expectStatus } from "../support/api.ts"
import { type ApiSuite, describeSqliteApi, refusalOf } from "./suite.ts"

describeSqliteApi("api/history", (suite) => {
  describe("GET /v1/vals/{val_id}/history", () => defineHistory(suite))
  describe("POST /v1/vals/{val_id}/versions/{version}/restore", () => defineRestore(suite))
  describe("PUT /v1/vals/{val_id}/versions/{version}/note", () => defineNote(suite))
})

type Change = Readonly<Record<string, unknown>>

/** A val whose versions are: a and b; a changed and b moved; b deleted and c added. */
async function openVal({ call, addUser, val }: ApiSuite) {
  const ada = await addUser()
  const { id } = await val(ada, { code: "1" })
  const save = async (changes: readonly Change[], note?: string, query = "") =>
    expectStatus(
      await call("POST", `/v1/vals/${id}/files${query}`, { as: ada, body: { changes, note } }),
      200,
    ).json
  await save([
    { path: "main.tsx", newPath: "a.ts", content: "a" },
    { path: "b.ts", content: "b", type: "http" },
  ])
  await save(
    [
      { path: "a.ts", content: "A" },
      { path: "b.ts", newPath: "lib/b.ts" },
    ],
    "tidy",
  )
  await save([
    { path: "lib/b.ts", delete: true },
    { path: "c.ts", content: "c" },
  ])
  const history = async (query = "") =>
    expectStatus(await call("GET", `/v1/vals/${id}/history?${query}`, { as: ada }), 200).json
  const list = async () => {
    const query = "path=&recursive=true&limit=100"
    const answer = await call("GET", `/v2/vals/${id}/files?${query}`, { as: ada })
    const files: { id: string; path: string; type: string }[] = expectStatus(answer, 200).json.data
    return files
  }
  const read = async () => {
    const texts: Record<string, string> = {}
    for (const { path, type } of await list()) {
      const at = `/v2/vals/${id}/files/content?path=${path}`
      if (type !== "directory") texts[path] = (await call("GET", at, { as: ada })).text
    }
    return texts
  }
  const post = (version: number, body: object = {}, headers: Record<string, string> = {}) =>
    call("POST", `/v1/vals/${id}/versions/${version}/restore`, { as: ada, body, headers })
  const restore = async (version: number, body: object = {}) =>
    expectStatus(await post(version, body), 200).json
  return { ada, id, save, history, list, read, post, restore }
}

function defineHistory(suite: ApiSuite): void {
  test("lists the versions with their notes and the paths that each has changed", async () => {
    const { history } = await openVal(suite)
    const { data } = await history()
    expect(data).toMatchObject([
      {
        version: 4,
        note: null,
        changes: [
          { path: "c.ts", kind: "added", oldPath: null },
          { path: "lib/b.ts", kind: "deleted", oldPath: null },
        ],
      },
      {
        version: 3,
        note: "tidy",
        changes: [
          { path: "a.ts", kind: "changed", oldPath: null },
          { path: "lib/b.ts", kind: "moved", oldPath: "b.ts" },
        ],
      },
      {
        version: 2,
        changes: [
          { path: "a.ts", kind: "moved", oldPath: "main.tsx" },
          { path: "b.ts", kind: "added", oldPath: null },
        ],
      },
      { version: 1, changes: [{ path: "main.tsx", kind: "added", oldPath: null }] },
    ])
    expect(Object.keys(data[0])).toEqual([
      "version",
      "createdAt",
      "note",
      "author",
      "changes",
      "hasMoreChanges",
    ])
  })

  test("has the versions of one path, in pages", async () => {
    const { history } = await openVal(suite)
    const first = await history("path=a.ts&limit=1")
    expect(first.data).toMatchObject([
      { version: 3, changes: [{ path: "a.ts", kind: "changed", oldPath: null }] },
    ])
    const answer = await suite.call("GET", first.links.next.replace(/^https?:\/\/[^/]+/, ""))
    const next = expectStatus(answer, 200).json
    expect(next.data).toMatchObject([{ version: 2 }])
    expect(next.links.next).toBeUndefined()
    expect((await history("path=none.ts")).data).toEqual([])
  })

  test("lists the versions of a branch, and the first of very many paths", async () => {
    const { ada, id, save, history } = await openVal(suite)
    const path = `/v2/vals/${id}/branches`
    const answer = await suite.call("POST", path, { as: ada, body: { name: "try" } })
    const branch = expectStatus(answer, 201).json.id
    const changes = Array.from({ length: 101 }, (_, at) => ({ path: `f/${at}`, content: "" }))
    await save(changes, "many", `?branch_id=${branch}`)
    const { data } = await history(`branch_id=${branch}&limit=1`)
    expect(data).toMatchObject([{ version: 1, note: "many", hasMoreChanges: true }])
    expect(data[0].changes).toHaveLength(100)
  })

  test("is not shown to those who cannot see the val", async () => {
    const { id, ada } = await openVal(suite)
    await suite.call("PUT", `/v1/vals/${id}`, { as: ada, body: { privacy: "private" } })
    const other = await suite.addUser()
    const answer = await suite.call("GET", `/v1/vals/${id}/history`, { as: other })
    expect(refusalOf(answer)).toEqual([404, "val_not_found"])
  })
}

function defineRestore(suite: ApiSuite): void {
  test("makes all files what they were, with their ids and types, in one version", async () => {
    const { id, list, read, restore, history } = await openVal(suite)
    const [before] = (await list()).filter(({ path }) => path === "a.ts")
    expect(await restore(2, { note: "back" })).toEqual({ version: 5, isNewVersion: true })
    expect(await read()).toEqual({ "a.ts": "a", "b.ts": "b" })
    const files = await list()
    expect(files.map(({ path, type }) => [path, type])).toEqual([
      ["a.ts", "script"],
      ["b.ts", "http"],
    ])
    expect([files[0]?.id, before?.id]).toEqual([id, id])
    expect((await history("limit=1")).data).toMatchObject([{ version: 5, note: "back" }])
    expect(await restore(2)).toEqual({ version: 5, isNewVersion: false })
    // The deleted file is itself again, also in the version that it was moved in.
    const own = files[1]?.id
    await restore(3)
    expect((await list()).map((file) => [file.path, file.id === own])).toEqual([
      ["a.ts", false],
      ["lib", false],
      ["lib/b.ts", true],
    ])
    const found = await suite.call("GET", `/v2/files/${own}`)
    expect(expectStatus(found, 200).json.path).toBe("lib/b.ts")
  })

  test("makes one file or directory what it was, and leaves the others", async () => {
    const { read, restore } = await openVal(suite)
    await restore(2, { path: "a.ts" })
    expect(await read()).toEqual({ "a.ts": "a", "c.ts": "c" })
    await restore(3, { path: "lib" })
    expect(await read()).toEqual({ "a.ts": "a", "c.ts": "c", "lib/b.ts": "b" })
    // The restored version moves the file back.
    await restore(2)
    await restore(4, { path: "c.ts" })
    expect(await read()).toEqual({ "a.ts": "a", "b.ts": "b", "c.ts": "c" })
  })

  test("has no file twice when it is elsewhere now", async () => {
    const { list, restore, read } = await openVal(suite)
    await restore(2)
    await restore(3, { path: "lib/b.ts" })
    expect(await read()).toEqual({ "a.ts": "a", "b.ts": "b", "lib/b.ts": "b" })
    const ids = (await list()).map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test("refuses what does not exist, what does not fit, and another version", async () => {
    const { save, read, post } = await openVal(suite)
    expect(refusalOf(await post(3, { path: "none.ts" }))).toEqual([404, "file_not_found"])
    await save([
      { path: "lib", delete: true },
      { path: "LIB", content: "x" },
    ])
    expect(refusalOf(await post(3, { path: "lib/b.ts" }))).toEqual([409, "file_exists"])
    const old = await post(3, {}, { "if-match": '"3"' })
    expect(refusalOf(old)).toEqual([412, "version_conflict"])
    expect(await read()).toEqual({ LIB: "x", "a.ts": "A", "c.ts": "c" })
  })
}

function defineNote(suite: ApiSuite): void {
  const { call, addUser } = suite
  test("changes what is said about a version of a branch, and nothing else", async () => {
    const { ada, id, history, read } = await openVal(suite)
    const made = await call("POST", `/v2/vals/${id}/branches`, { as: ada, body: { name: "try" } })
    const branchId: string = expectStatus(made, 201).json.id
    const before = await history()
    const texts = await read()
    const put = (version: number, note: unknown, query = "", as = ada) =>
      call("PUT", `/v1/vals/${id}/versions/${version}/note${query}`, { as, body: { note } })
    expectStatus(await put(2, "first"), 204)
    expectStatus(await put(3, null), 204)
    const notes = async (query = "") =>
      (await history(query)).data.map((one: { note: string | null }) => one.note)
    expect(await notes()).toEqual([null, null, "first", null])
    expectStatus(await put(0, "begun", `?branch_id=${branchId}`), 204)
    expect(await notes(`branch_id=${branchId}`)).toEqual(["begun"])
    expect(await read()).toEqual(texts)
    expectStatus(await put(2, null), 204)
    expectStatus(await put(3, "tidy"), 204)
    expect(await history()).toEqual(before)
    const bob = await addUser()
    const other = await openVal(suite)
    const answers = [
      await put(9, "x"),
      await put(2, "x", `?branch_id=${other.id}`),
      await put(2, "x", "", bob),
      await put(2, "x".repeat(201)),
      await put(2, 7),
    ]
    expect(answers.map(refusalOf)).toEqual([
      [404, "version_not_found"],
      [404, "branch_not_found"],
      [403, "not_owner"],
      [400, "invalid_request"],
      [400, "invalid_request"],
    ])
    expect(await history()).toEqual(before)
  })
}
