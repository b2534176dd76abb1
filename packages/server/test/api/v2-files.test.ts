import { describe, expect, test } from "bun:test"
import { limits } from "@hamlet/contract"
import { expectStatus, type TestResponse, type TestUser, testBaseUrl } from "../support/api.ts"
import { type ApiSuite, describeApi, nextMillisecond, refusalOf } from "./suite.ts"

const missing = "01890000-0000-7000-8000-000000000000"
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

interface FileView {
  readonly id: string
  readonly path: string
  readonly type: string
  readonly version: number
  readonly updatedAt: string
  readonly links: Readonly<Record<string, string>>
}

describeApi("api/v2-files", (suite) => {
  describe("GET /v2/vals/{val_id}/files", () => defineList(suite))
  describe("POST /v2/vals/{val_id}/files", () => defineCreate(suite))
  describe("PUT /v2/vals/{val_id}/files", () => defineUpdate(suite))
  describe("DELETE /v2/vals/{val_id}/files", () => defineDelete(suite))
  describe("GET /v2/vals/{val_id}/files/content", () => defineContent(suite))
  describe("GET /v2/files/{file_id}", () => defineGet(suite))
  describe("POST /v1/vals/{val_id}/files", () => defineMany(suite))
  describe("bad input", () => defineBadInput(suite))
  describe("/v1", () => defineFirst(suite))
})

/** A folder with methods that send the requests of a client. */
async function openFolder(suite: ApiSuite, privacy = "public") {
  const { call } = suite
  const ada = await suite.addUser()
  const name = `folder-${ada.username}`
  const { json } = expectStatus(
    await call("POST", "/v2/vals", { as: ada, body: { name, privacy } }),
    201,
  )
  const id: string = json.id
  const path = `/v2/vals/${id}/files`
  const toQuery = (query: Readonly<Record<string, string | number | boolean>>) =>
    new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)]))
  const send =
    (method: string) =>
    (
      query: Readonly<Record<string, string | number | boolean>>,
      body?: object,
      as: TestUser | undefined = ada,
    ) =>
      call(method, `${path}?${toQuery(query)}`, { as, ...(body && { body }) })
  const post = send("POST")
  const folder = {
    ada,
    id,
    name,
    path,
    post,
    put: send("PUT"),
    get: send("GET"),
    delete: send("DELETE"),
    write: async (filePath: string, content = "", type = "file"): Promise<FileView> =>
      expectStatus(await post({ path: filePath }, { type, content }), 201).json,
    async list(query: Readonly<Record<string, string | number | boolean>> = {}) {
      const answer = await folder.get({ path: "", recursive: true, limit: 100, ...query })
      return expectStatus(answer, 200).json.data as FileView[]
    },
    paths: async (query: Readonly<Record<string, string | number | boolean>> = {}) =>
      (await folder.list(query)).map((file) => file.path),
    content: (query: Readonly<Record<string, string | number>>, headers = {}) =>
      call("GET", `${path}/content?${toQuery(query)}`, { as: ada, headers }),
    version: async () =>
      expectStatus(await call("GET", `/v2/vals/${id}/branches/${id}`, { as: ada }), 200).json
        .version as number,
    change: (changes: readonly object[], headers = {}, query = "") =>
      call("POST", `/v1/vals/${id}/files${query}`, { as: ada, body: { changes }, headers }),
  }
  return folder
}

function defineList(suite: ApiSuite): void {
  test("shows a file with every key", async () => {
    const { ada, name, write, list } = await openFolder(suite)
    const made = await write("src/lib.ts", "export default 1", "script")
    const base = `${testBaseUrl}/x/${ada.username}/${name}`
    expect((await list())[1]).toEqual({
      id: made.id,
      name: "lib.ts",
      path: "src/lib.ts",
      type: "script",
      version: 1,
      updatedAt: time,
      links: {
        self: `${testBaseUrl}/v2/files/${made.id}`,
        html: `${base}/code/src/lib.ts`,
        module: `${testBaseUrl}/v/${ada.username}/${name}@1-main/src/lib.ts`,
      },
    } as unknown as FileView)
    expect(made).toEqual((await list())[1] as FileView)
  })

  test("has the files of a directory, or all below it, by path", async () => {
    const { write, paths, get } = await openFolder(suite)
    for (const path of ["b.txt", "a/z.txt", "a/b/c.txt", "a.txt"]) await write(path)
    expect(await paths()).toEqual(["a", "a.txt", "a/b", "a/b/c.txt", "a/z.txt", "b.txt"])
    expect(await paths({ recursive: false })).toEqual(["a", "a.txt", "b.txt"])
    expect(await paths({ path: "a" })).toEqual(["a/b", "a/b/c.txt", "a/z.txt"])
    expect(await paths({ path: "a", recursive: false })).toEqual(["a/b", "a/z.txt"])
    expect(await paths({ path: "a/b/c.txt" })).toEqual(["a/b/c.txt"])
    expect(refusalOf(await get({ path: "A" }))).toEqual([404, "file_not_found"])
  })

  test("is empty for the root of a new val", async () => {
    const { paths, version } = await openFolder(suite)
    expect(await paths()).toEqual([])
    expect(await version()).toBe(0)
  })

  test("is paged, with links that clients follow", async () => {
    const { id, write, get, path } = await openFolder(suite)
    for (const name of ["a", "b", "c"]) await write(name)
    const first = expectStatus(await get({ path: "", limit: 2 }), 200).json
    expect(first.links.next).toBe(
      `${testBaseUrl}${path}?path=&limit=2&branch_id=${id}&version=3&offset=2`,
    )
    // What is saved meanwhile moves nothing between the pages.
    await write("a0")
    const next = first.links.next.slice(testBaseUrl.length)
    const second = expectStatus(await suite.call("GET", next), 200).json
    expect(second.data.map((file: FileView) => file.path)).toEqual(["c"])
    expect(Object.keys(second.links).sort()).toEqual(["prev", "self"])
  })

  test("shows the files of a version, and the newest for a number above it", async () => {
    const { write, delete: remove, paths, list } = await openFolder(suite)
    await write("a.txt", "1")
    await write("b.txt", "1")
    expectStatus(await remove({ path: "a.txt" }), 204)
    expect(await paths({ version: 0 })).toEqual([])
    expect(await paths({ version: 1 })).toEqual(["a.txt"])
    expect(await paths({ version: 2 })).toEqual(["a.txt", "b.txt"])
    expect(await paths({ version: 3 })).toEqual(["b.txt"])
    expect(await list({ version: 99 })).toEqual(await list())
  })

  test("refuses a version that was deleted, and shows those around it", async () => {
    const { id, ada, write, put, get, paths } = await openFolder(suite)
    await write("a.txt", "1")
    await put({ path: "a.txt" }, { name: "b.txt" })
    await write("c.txt")
    await suite.call("DELETE", `/v1/vals/${id}/versions/2`, { as: ada })
    expect(refusalOf(await get({ path: "", version: 2 }))).toEqual([404, "version_not_found"])
    expect(await paths({ version: 1 })).toEqual(["a.txt"])
    expect(await paths({ version: 3 })).toEqual(["b.txt", "c.txt"])
  })

  test("needs the right to see the val, and the path", async () => {
    const { id, path } = await openFolder(suite, "private")
    const bob = await suite.addUser()
    for (const as of [bob, undefined])
      expect(refusalOf(await suite.call("GET", `${path}?path=`, { as }))).toEqual([
        404,
        "val_not_found",
      ])
    expect(refusalOf(await suite.call("GET", `${path}`))).toEqual([400, "invalid_request"])
    expect(id).not.toBe(missing)
  })
}

function defineCreate(suite: ApiSuite): void {
  test("makes the directories that a file is in, in the same version", async () => {
    const { write, list } = await openFolder(suite)
    await write("nested/deep/file.txt")
    expect((await list()).map(({ path, type, version }) => [path, type, version])).toEqual([
      ["nested", "directory", 1],
      ["nested/deep", "directory", 1],
      ["nested/deep/file.txt", "file", 1],
    ])
  })

  test("makes a directory, and refuses a path that exists", async () => {
    const { post, write, version } = await openFolder(suite)
    expectStatus(await post({ path: "a" }, { type: "directory" }), 201)
    expectStatus(await post({ path: "b" }, { type: "directory", content: null }), 201)
    await write("a/x.txt")
    for (const [path, type] of [
      ["a", "directory"],
      ["a", "file"],
      ["a/x.txt", "file"],
      ["a/x.txt", "directory"],
      ["a/X.TXT", "file"],
      ["A", "directory"],
      ["A/y.txt", "file"],
      ["a/x.txt/y", "file"],
    ] as const) {
      const body = type === "directory" ? { type } : { type, content: "" }
      const answer = await post({ path }, body)
      expect([path, ...refusalOf(answer)]).toEqual([path, 409, "file_exists"])
      expect(answer.headers.get("x-should-retry")).toBe("false")
    }
    expect(await version()).toBe(3)
  })

  test("gives a file that is created anew another id", async () => {
    const { write, delete: remove } = await openFolder(suite)
    const first = await write("a.txt")
    expectStatus(await remove({ path: "a.txt" }), 204)
    expect((await write("a.txt")).id).not.toBe(first.id)
  })

  test("gives http and email files addresses of their own", async () => {
    const { ada, name, write, list } = await openFolder(suite)
    const other = await write("other.ts", "1", "http")
    const main = await write("main.tsx", "1", "http")
    const user = ada.username.toLowerCase()
    const byPath = new Map((await list()).map((file) => [file.path, file.links]))
    for (const { id, path, links } of [main, other]) {
      expect(links.endpoint).toContain(`//${user}--${id.replaceAll("-", "")}.`)
      expect(byPath.get(path)?.endpoint).toBe(links.endpoint as string)
    }
    expect(byPath.get("other.ts")?.alias).toContain(`//${user}-${name.toLowerCase()}.`)
    expect(byPath.get("main.tsx")?.alias).toBeUndefined()
  })

  test("five writers at once make five versions without gaps", async () => {
    const { post, list, version } = await openFolder(suite)
    const names = Array.from({ length: 15 }, (_, index) => `dir/file${index}.txt`)
    const writer = async (from: number) => {
      const answers: TestResponse[] = []
      for (let index = from; index < names.length; index += 5)
        answers.push(await post({ path: names[index] ?? "" }, { type: "file", content: "x" }))
      return answers
    }
    const answers = (await Promise.all([0, 1, 2, 3, 4].map(writer))).flat()
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 201))
    expect(answers.map(({ json }) => json.version).sort((a, b) => a - b)).toEqual(
      names.map((_, index) => index + 1),
    )
    expect(await version()).toBe(15)
    expect(await list()).toHaveLength(16)
  })

  test("refuses to write for all but the owner", async () => {
    const { post } = await openFolder(suite)
    const bob = await suite.addUser()
    const answer = await post({ path: "a" }, { type: "file", content: "" }, bob)
    expect(refusalOf(answer)).toEqual([403, "not_owner"])
  })
}

function defineUpdate(suite: ApiSuite): void {
  test("keeps the id through edits, renames and moves", async () => {
    const { write, put, content, paths } = await openFolder(suite)
    const made = await write("old.http.ts", "1", "http")
    const edited = expectStatus(
      await put({ path: "old.http.ts" }, { content: "2", name: "old.http.ts", type: "http" }),
      200,
    ).json
    expect([edited.id, edited.version]).toEqual([made.id, 2])
    const body = { name: "new.tsx", parent_path: "src/web", content: "3" }
    const moved = expectStatus(await put({ path: "old.http.ts" }, body), 200).json
    expect(moved).toMatchObject({ id: made.id, path: "src/web/new.tsx", type: "http", version: 3 })
    expect((await content({ path: "src/web/new.tsx" })).text).toBe("3")
    expect(await paths()).toEqual(["src", "src/web", "src/web/new.tsx"])
    expectStatus(await put({ path: "src/web/new.tsx" }, { parent_path: null }), 200)
    expect(await paths()).toEqual(["new.tsx", "src", "src/web"])
  })

  test("makes no version when nothing changes, and one when only the type does", async () => {
    const { write, put, version } = await openFolder(suite)
    const made = await write("a.ts", "1", "script")
    for (const body of [{}, { content: "1" }, { type: "script", name: "a.ts", content: "1" }])
      expect(expectStatus(await put({ path: "a.ts" }, body), 200).json).toEqual(made)
    expect(await version()).toBe(1)
    expect(expectStatus(await put({ path: "a.ts" }, { type: "http" }), 200).json).toMatchObject({
      id: made.id,
      type: "http",
      version: 2,
    })
  })

  test("moves a directory with all that it contains", async () => {
    const { write, put, content, list, paths } = await openFolder(suite)
    const made = await write("a/b/c.txt", "text")
    await write("x/y.txt")
    expectStatus(await put({ path: "a" }, { name: "z", parent_path: "x" }), 200)
    expect(await paths()).toEqual(["x", "x/y.txt", "x/z", "x/z/b", "x/z/b/c.txt"])
    expect((await list()).find((file) => file.path === "x/z/b/c.txt")?.id).toBe(made.id)
    expect((await content({ path: "x/z/b/c.txt" })).text).toBe("text")
    expect((await content({ path: "a/b/c.txt", version: 2 })).text).toBe("text")
  })

  test("refuses what cannot be, and changes nothing", async () => {
    const { write, put, paths, version } = await openFolder(suite)
    await write("a/x.txt")
    await write("b.txt")
    const before = [await paths(), await version()]
    for (const [path, body, status, code] of [
      ["a", { parent_path: "a" }, 409, "moved_into_itself"],
      ["a", { parent_path: "a/b/c" }, 409, "moved_into_itself"],
      ["a", { content: "1" }, 400, "is_directory"],
      ["a", { type: "file" }, 400, "is_directory"],
      ["b.txt", { name: "a" }, 409, "file_exists"],
      ["b.txt", { name: "A" }, 409, "file_exists"],
      ["b.txt", { name: "x.txt", parent_path: "a" }, 409, "file_exists"],
      ["a", { name: "b.txt" }, 409, "file_exists"],
      ["a/x.txt", { parent_path: "b.txt" }, 409, "file_exists"],
      ["nothing", {}, 404, "file_not_found"],
    ] as const)
      expect([path, body, ...refusalOf(await put({ path }, body))]).toEqual([
        path,
        body,
        status,
        code,
      ])
    expect([await paths(), await version()]).toEqual(before)
    expectStatus(await put({ path: "b.txt" }, { name: "B.txt" }), 200)
    expect(await paths()).toEqual(["B.txt", "a", "a/x.txt"])
  })

  test("tells who may write before what exists: the probe of the command line", async () => {
    const { put } = await openFolder(suite)
    const bob = await suite.addUser()
    const path = crypto.randomUUID()
    const answer = await put({ path }, {})
    expect(refusalOf(answer)).toEqual([404, "file_not_found"])
    expect(answer.text).not.toContain("Not authorized")
    expect(refusalOf(await put({ path }, {}, bob))).toEqual([403, "not_owner"])
  })

  test("changes updatedAt with the content of that file only", async () => {
    const { write, put, list } = await openFolder(suite)
    const [first, second] = [await write("a.txt", "1"), await write("b.txt", "1")]
    await nextMillisecond()
    expectStatus(await put({ path: "a.txt" }, { content: "2" }), 200)
    const [a, b] = await list()
    expect(Date.parse(a?.updatedAt ?? "")).toBeGreaterThan(Date.parse(first.updatedAt))
    expect(b).toEqual({ ...second, links: b?.links ?? {} })
  })
}

function defineDelete(suite: ApiSuite): void {
  test("keeps the directory of the last file", async () => {
    const { write, delete: remove, paths } = await openFolder(suite)
    await write("a/x.txt")
    expectStatus(await remove({ path: "a/x.txt" }), 204)
    expect(await paths()).toEqual(["a"])
  })

  test("deletes a directory only with recursive, and the root too", async () => {
    const { write, delete: remove, paths } = await openFolder(suite)
    await write("a/x.txt")
    await write("b.txt")
    const answer = await remove({ path: "a" })
    expect(refusalOf(answer)).toEqual([409, "directory_not_empty"])
    expect(answer.headers.get("x-should-retry")).toBe("false")
    expectStatus(await remove({ path: "a", recursive: true }), 204)
    expect(await paths()).toEqual(["b.txt"])
    expect(refusalOf(await remove({ path: "" }))).toEqual([409, "directory_not_empty"])
    expectStatus(await remove({ path: "", recursive: true }), 204)
    expect(await paths()).toEqual([])
  })

  test("is 204 without a version for what was deleted before, and 404 for what never was", async () => {
    const { write, delete: remove, version } = await openFolder(suite)
    await write("a/x.txt")
    expectStatus(await remove({ path: "a", recursive: true }), 204)
    for (const path of ["a", "a/x.txt"]) expectStatus(await remove({ path, recursive: true }), 204)
    expect(await version()).toBe(2)
    for (const path of ["b", "a/y.txt", "x.txt"])
      expect(refusalOf(await remove({ path }))).toEqual([404, "file_not_found"])
  })
}

function defineContent(suite: ApiSuite): void {
  test("is the text of a version, as bytes", async () => {
    const { write, put, content } = await openFolder(suite)
    await write("a.txt", "é😀\r\n")
    expectStatus(await put({ path: "a.txt" }, { content: "" }), 200)
    const answer = expectStatus(await content({ path: "a.txt", version: 1 }), 200)
    expect(answer.text).toBe("é😀\r\n")
    expect(answer.headers.get("content-type")).toBe("application/octet-stream")
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff")
    expect(expectStatus(await content({ path: "a.txt" }), 200).text).toBe("")
    expect(expectStatus(await content({ path: "a.txt", version: 50 }), 200).text).toBe("")
  })

  test("supports conditional requests", async () => {
    const { write, put, content } = await openFolder(suite)
    await write("a.txt", "1")
    const first = expectStatus(await content({ path: "a.txt" }), 200)
    const etag = first.headers.get("etag") ?? ""
    const modified = first.headers.get("last-modified") ?? ""
    const earlier = new Date(Date.parse(modified) - 1000).toUTCString()
    const send = async (headers: Record<string, string>) =>
      (await content({ path: "a.txt" }, headers)).status
    expect(etag).toMatch(/^"[\w-]{43}"$/)
    expect(await send({ "if-none-match": etag })).toBe(304)
    expect(await send({ "if-none-match": `"x", W/${etag}` })).toBe(304)
    expect(await send({ "if-none-match": '"x"', "if-modified-since": modified })).toBe(200)
    expect(await send({ "if-modified-since": modified })).toBe(304)
    expect(await send({ "if-modified-since": earlier })).toBe(200)
    expect(await send({ "if-modified-since": "yesterday" })).toBe(200)
    expect(await send({ "if-match": etag })).toBe(200)
    expect(await send({ "if-match": "*" })).toBe(200)
    expect(await send({ "if-match": '"x"' })).toBe(412)
    expect(await send({ "if-unmodified-since": modified })).toBe(200)
    expect(await send({ "if-unmodified-since": earlier })).toBe(412)
    expectStatus(await put({ path: "a.txt" }, { content: "2" }), 200)
    expect(await send({ "if-none-match": etag })).toBe(200)
    expect(await send({ "if-match": etag })).toBe(412)
  })

  test("refuses a directory and a path with nothing", async () => {
    const { write, content } = await openFolder(suite)
    await write("a/x.txt")
    for (const path of ["a", ""])
      expect(refusalOf(await content({ path }))).toEqual([404, "file_not_found"])
    expect(refusalOf(await content({ path: "b" }))).toEqual([404, "file_not_found"])
    expect(refusalOf(await content({ path: "a/x.txt", version: 0 }))).toEqual([
      404,
      "file_not_found",
    ])
  })
}

function defineGet(suite: ApiSuite): void {
  test("finds a file where it was moved, and no deleted one", async () => {
    const { ada, write, put, delete: remove, list } = await openFolder(suite)
    const { id } = await write("a.txt")
    await put({ path: "a.txt" }, { parent_path: "src" })
    const found = expectStatus(await suite.call("GET", `/v2/files/${id}`), 200)
    expect(found.json).toEqual((await list())[1])
    await remove({ path: "src/a.txt" })
    expect(refusalOf(await suite.call("GET", `/v2/files/${id}`, { as: ada }))).toEqual([
      404,
      "file_not_found",
    ])
  })

  test("finds a deleted file while there is a run of it, as clients that show runs expect", async () => {
    const { id: valId, ada, write, delete: remove } = await openFolder(suite)
    const [gone, other] = [
      await write("gone.ts", "1", "script"),
      await write("other.ts", "1", "script"),
    ]
    const home = expectStatus(await suite.call("GET", `/v1/vals/${valId}`, { as: ada }), 200).json
    const file = { since: 1, branchId: valId, branchName: "main", isEntry: false }
    await suite.run(home, { file: { ...file, id: gone.id, path: gone.path } })
    for (const { path } of [gone, other]) await remove({ path })
    // Another file is at its path now.
    await write("gone.ts", "2", "http")
    const found = expectStatus(await suite.call("GET", `/v2/files/${gone.id}`, { as: ada }), 200)
    expect(found.json).toMatchObject({ id: gone.id, path: "gone.ts", type: "script", version: 1 })
    const none = await suite.call("GET", `/v2/files/${other.id}`, { as: ada })
    expect(refusalOf(none)).toEqual([404, "file_not_found"])
  })

  test("finds the deleted first file of a val that has run", async () => {
    const ada = await suite.addUser()
    const home = await suite.val(ada)
    await suite.run(home)
    await suite.call("DELETE", `/v2/vals/${home.id}/files?path=main.tsx`, { as: ada })
    const found = expectStatus(await suite.call("GET", `/v2/files/${home.id}`, { as: ada }), 200)
    expect(found.json).toMatchObject({ id: home.id, path: "main.tsx" })
  })

  test("is where it was before when the version that moved it is deleted", async () => {
    const { id: valId, ada, write, put } = await openFolder(suite)
    const { id } = await write("a.txt")
    await put({ path: "a.txt" }, { name: "b.txt" })
    expectStatus(await suite.call("DELETE", `/v1/vals/${valId}/versions/2`, { as: ada }), 204)
    const found = expectStatus(await suite.call("GET", `/v2/files/${id}`), 200).json
    expect([found.path, found.version]).toEqual(["a.txt", 1])
  })

  test("is the same 404 for a file of a private val and for none", async () => {
    const { write } = await openFolder(suite, "private")
    const { id } = await write("a.txt")
    const bob = await suite.addUser()
    for (const one of [id, missing])
      expect(refusalOf(await suite.call("GET", `/v2/files/${one}`, { as: bob }))).toEqual([
        404,
        "file_not_found",
      ])
  })
}

function defineMany(suite: ApiSuite): void {
  test("applies changes in order, in one version", async () => {
    const { write, change, paths, content, version } = await openFolder(suite)
    await write("a.txt", "1")
    await write("old/x.txt", "1")
    const saved = expectStatus(
      await change([
        { path: "new.ts", content: "n" },
        { path: "a.txt", newPath: "b/a.txt", content: "2" },
        { path: "new.ts", newPath: "b/new.ts", type: "http" },
        { path: "old", delete: true },
        { path: "empty", type: "directory" },
        { path: "b/a.txt", content: "3" },
      ]),
      200,
    ).json
    expect([saved.version, saved.isNewVersion]).toEqual([3, true])
    expect(await paths()).toEqual(["b", "b/a.txt", "b/new.ts", "empty"])
    expect((await content({ path: "b/a.txt" })).text).toBe("3")
    expect((await content({ path: "b/new.ts" })).text).toBe("n")
    expect(await version()).toBe(3)
  })

  test("changes nothing if one change is impossible", async () => {
    const { change, paths, version } = await openFolder(suite)
    const answer = await change([
      { path: "a.txt", content: "1" },
      { path: "b.txt", newPath: "c.txt" },
    ])
    expect(refusalOf(answer)).toEqual([404, "file_not_found"])
    expect([await paths(), await version()]).toEqual([[], 0])
  })

  test("makes no version of the same texts", async () => {
    const { change } = await openFolder(suite)
    const changes = [{ path: "a.ts", content: "1" }]
    expect((await change(changes)).json).toMatchObject({ version: 1, isNewVersion: true })
    const same = { version: 1, isNewVersion: false, files: [], schedules: [], warnings: [] }
    expect((await change(changes)).json).toEqual(same)
  })

  test("compares the version of the branch with If-Match", async () => {
    const { change, version } = await openFolder(suite)
    const changes = [{ path: "a.ts", content: "1" }]
    expectStatus(await change(changes, { "if-match": '"0"' }), 200)
    const answer = await change([{ path: "a.ts", content: "2" }], { "if-match": '"0"' })
    expect(refusalOf(answer)).toEqual([412, "version_conflict"])
    expect(answer.headers.get("etag")).toBe('"1"')
    expect(answer.json.message).toContain("version 1")
    expect(await version()).toBe(1)
  })

  test("replays one save for one idempotency key", async () => {
    const { change, version } = await openFolder(suite)
    const headers = { "idempotency-key": crypto.randomUUID() }
    const changes = [{ path: "a.ts", content: "1" }]
    const [first, second] = [await change(changes, headers), await change(changes, headers)]
    expect(second.json).toEqual(first.json)
    expect(await version()).toBe(1)
  })
}

function defineBadInput(suite: ApiSuite): void {
  test("names the path that it refuses, among many", async () => {
    const { change } = await openFolder(suite)
    const paths = ["a.ts", "@types/x+y.d.ts", `${"n".repeat(81)}.ts`, "lib/über.ts"]
    const { json } = await change(paths.map((path) => ({ path, content: "" })))
    expect(json.message).toBe(
      'Cannot accept the request: "changes.3.path" must contain only letters, digits, $ [ ] ( ) - _ . @ + ~ , = ! and slashes between them, but is "lib/über.ts"',
    )
    expectStatus(await change(paths.slice(0, 3).map((path) => ({ path, content: "" }))), 200)
  })

  test("refuses paths that are none", async () => {
    const { post, put, get, delete: remove, content, change, version } = await openFolder(suite)
    const deep = Array.from({ length: limits.filePathLevelsMax + 1 }, () => "d").join("/")
    for (const path of [
      "..",
      "a/../b",
      "./a",
      "a/.",
      "/a",
      "a/",
      "a//b",
      "a\\b",
      "a\0b",
      "a\nb",
      "é",
      "a b",
      "a?b",
      "a%2Fb",
      "x".repeat(limits.fileNameCharsMax + 1),
      deep,
      `${"a/".repeat(10)}${"y".repeat(80)}/`.repeat(6),
    ]) {
      const file = { type: "file", content: "" }
      for (const answer of [
        await post({ path }, file),
        await put({ path }, {}),
        await get({ path }),
        await remove({ path }),
        await content({ path }),
        await change([{ path, content: "" }]),
        await change([{ path: "a", newPath: path }]),
      ])
        expect([path, ...refusalOf(answer)]).toEqual([path, 400, "invalid_request"])
    }
    expect(refusalOf(await post({ path: "" }, { type: "file", content: "" }))).toEqual([
      400,
      "invalid_request",
    ])
    expect(await version()).toBe(0)
  })

  test("accepts every character of a name, and an ordinary depth", async () => {
    const { write, paths } = await openFolder(suite)
    const path = ["a", "[id]", "(group)", "$x.test-1_2.ts", ".env"].join("/")
    await write(path)
    expect((await paths()).at(-1)).toBe(path)
  })

  test("refuses content that is not text, or too long", async () => {
    const { post, put, write, change, version } = await openFolder(suite)
    await write("a.txt", "1")
    for (const content of ["a\0b", "\ud800"]) {
      const answers = [
        await post({ path: "b.txt" }, { type: "file", content }),
        await put({ path: "a.txt" }, { content }),
        await change([{ path: "b.ts", content }]),
      ]
      for (const answer of answers) expect(refusalOf(answer)).toEqual([400, "content_not_text"])
    }
    const long = { type: "file", content: "x".repeat(limits.codeCharsMax + 1) }
    expect(refusalOf(await post({ path: "b.txt" }, long))).toEqual([400, "invalid_request"])
    expect(await version()).toBe(1)
  })

  test("refuses the import of a val after the last one of a version, and lets files be replaced", async () => {
    const { change, version } = await openFolder(suite)
    const half = limits.importsPerVersionMax / 2
    const toFiles = (folder: string, importsPerFile: number) =>
      Array.from({ length: half / 100 }, (_, file) => ({
        path: `${folder}/${file}.ts`,
        content: Array.from(
          { length: importsPerFile },
          (_, index) => `import "/v/ada/other${index}"`,
        ).join("\n"),
      }))
    for (const folder of ["a", "b"]) expectStatus(await change(toFiles(folder, 100)), 200)
    const one = [{ path: "c.ts", content: 'import "/v/ada/other"' }]
    expect(refusalOf(await change(one))).toEqual([409, "val_full"])
    expectStatus(await change([{ path: "c.ts", content: "1" }, ...toFiles("b", 99)]), 200)
    expectStatus(await change(one), 200)
    expect(await version()).toBe(4)
  })

  test("refuses the file after the last one, and lets files be replaced", async () => {
    const { post, change, put, version } = await openFolder(suite)
    const files = Array.from({ length: limits.filesPerVersionMax }, (_, index) => ({
      path: `f${index}.txt`,
      content: "x",
    }))
    expectStatus(await change(files), 200)
    const answer = await post({ path: "more.txt" }, { type: "file", content: "" })
    expect(refusalOf(answer)).toEqual([409, "val_full"])
    expect(answer.headers.get("x-should-retry")).toBe("false")
    expectStatus(await put({ path: "f0.txt" }, { content: "y" }), 200)
    expectStatus(await post({ path: "directory" }, { type: "directory" }), 201)
    expect(await version()).toBe(3)
  })

  test("refuses a branch of another val", async () => {
    const [one, two] = [await openFolder(suite), await openFolder(suite)]
    const query = { path: "", branch_id: two.id }
    expect(refusalOf(await one.get(query))).toEqual([404, "branch_not_found"])
    expect(
      refusalOf(await one.post({ ...query, path: "a" }, { type: "file", content: "" })),
    ).toEqual([404, "branch_not_found"])
  })
}

function defineFirst(suite: ApiSuite): void {
  const { call } = suite

  test("shows a val without files", async () => {
    const { ada, id } = await openFolder(suite)
    expect(expectStatus(await call("GET", `/v1/vals/${id}`), 200).json).toMatchObject({
      version: 0,
      code: "",
      readme: null,
      type: "script",
    })
    const lists = ["/v1/me/vals", `/v1/users/${ada.id}/vals`, "/v1/vals"]
    for (const path of lists)
      expect(expectStatus(await call("GET", path, { as: ada }), 200).json.data[0]).toMatchObject({
        id,
        code: "",
      })
    expect((await call("GET", `/v1/vals/${id}/versions`)).json.data).toMatchObject([
      { version: 0, code: "" },
    ])
    expectStatus(await call("GET", `/v1/vals/${id}/versions/0`), 200)
    expectStatus(await call("GET", "/v1/me/val-states", { as: ada }), 200)
    const fork = expectStatus(await call("POST", `/v1/vals/${id}/fork`, { as: ada, body: {} }), 201)
    expect(fork.json.forkedFrom.version).toBe(0)
  })

  test("finds the entry file by the rule", async () => {
    const { id, write, put, delete: remove } = await openFolder(suite)
    const code = async () => (await call("GET", `/v1/vals/${id}`)).json.code
    await write("a.txt", "no code")
    expect(await code()).toBe("")
    await write("z.ts", "script z", "script")
    expect(await code()).toBe("script z")
    await write("y.ts", "interval y", "interval")
    expect(await code()).toBe("interval y")
    await write("x/http.ts", "http x", "http")
    expect(await code()).toBe("http x")
    await write("index.js", "index", "file")
    expect(await code()).toBe("index")
    await write("main.ts", "main", "script")
    expect(await code()).toBe("main")
    await put({ path: "main.ts" }, { name: "other.ts" })
    expect(await code()).toBe("index")
    await remove({ path: "", recursive: true })
    expect(await code()).toBe("")
  })

  test("follows the file of a val that was created with code", async () => {
    const ada = await suite.addUser()
    const { id } = await suite.val(ada, { code: "1", type: "http", readme: "# Hello" })
    const path = `/v2/vals/${id}/files`
    const files = expectStatus(await call("GET", `${path}?path=`), 200).json.data
    expect(files.map((file: FileView) => [file.path, file.type])).toEqual([
      ["README.md", "file"],
      ["main.tsx", "http"],
    ])
    expect(files[1].id).toBe(id)
    await call("PUT", `${path}?path=main.tsx`, { as: ada, body: { name: "app.ts" } })
    await call("POST", `${path}?path=main.tsx`, {
      as: ada,
      body: { type: "script", content: "2" },
    })
    expect((await call("GET", `/v1/vals/${id}`)).json).toMatchObject({
      version: 3,
      code: "1",
      type: "http",
      readme: "# Hello",
    })
    expectStatus(
      await call("POST", `/v1/vals/${id}/versions`, { as: ada, body: { code: "3" } }),
      201,
    )
    const content = await call("GET", `${path}/content?path=app.ts`)
    expect(content.text).toBe("3")
    await call("PUT", `${path}?path=README.md`, { as: ada, body: { content: "# Bye" } })
    expect((await call("GET", `/v1/vals/${id}`)).json).toMatchObject({
      version: 5,
      readme: "# Bye",
    })
  })

  test("saves code and readme of a val without them, beside its other files", async () => {
    const { id, ada, write, paths } = await openFolder(suite)
    await write("a.txt")
    expectStatus(
      await call("POST", `/v1/vals/${id}/versions`, {
        as: ada,
        body: { code: "1", readme: "# Hi" },
      }),
      201,
    )
    expect(await paths()).toEqual(["README.md", "a.txt", "main.tsx"])
  })

  test("forks all files, with new ids and the imports of each", async () => {
    const [bob, eve] = [await suite.addUser(), await suite.addUser()]
    const library = await suite.val(bob)
    const { id, ada, write, change } = await openFolder(suite)
    const at = `${testBaseUrl}/v/${bob.username}/${library.name}`
    await write("app.ts", "main code", "http")
    await change([
      { path: "lib/a.ts", content: `import "${at}"` },
      { path: "README.md", content: "# Hi" },
      { path: "empty", type: "directory" },
    ])
    const fork = expectStatus(
      await call("POST", `/v1/vals/${id}/fork`, { as: eve, body: { privacy: "public" } }),
      201,
    ).json
    expect(fork).toMatchObject({ version: 1, code: "main code", readme: "# Hi", type: "http" })
    const list = async (valId: string): Promise<readonly FileView[]> =>
      (await call("GET", `/v2/vals/${valId}/files?path=&recursive=true`)).json.data
    const [files, copies] = [await list(id), await list(fork.id)]
    expect(copies.map(({ path, type }) => [path, type])).toEqual(
      files.map(({ path, type }) => [path, type]),
    )
    for (const [index, file] of copies.entries()) expect(file.id).not.toBe(files[index]?.id ?? "")
    const found = await call("GET", `/v1/vals/${library.id}/references`)
    expect(
      found.json.data.map((it: { reference: { id: string } }) => it.reference.id).sort(),
    ).toEqual([id, fork.id].sort())
    expect(ada.id).not.toBe(eve.id)
  })

  test("refuses to save the readme where a file is in the way", async () => {
    const { id, ada, write, version } = await openFolder(suite)
    await write("readme.md", "other")
    const body = { readme: "# Hi" }
    expect(refusalOf(await call("PUT", `/v1/vals/${id}`, { as: ada, body }))).toEqual([
      409,
      "file_exists",
    ])
    expect(await version()).toBe(1)
  })

  test("changes the description", async () => {
    const { id, ada } = await openFolder(suite)
    const put = (description: unknown) =>
      call("PUT", `/v1/vals/${id}`, { as: ada, body: { description } })
    expectStatus(await put("counts things"), 204)
    for (const version of ["v1", "v2"])
      expect((await call("GET", `/${version}/vals/${id}`)).json.description).toBe("counts things")
    expectStatus(await put(""), 204)
    expect((await call("GET", `/v1/vals/${id}`)).json).toMatchObject({
      description: null,
      version: 0,
    })
    expect(refusalOf(await put("x".repeat(65)))).toEqual([400, "invalid_request"])
  })
}
