import { describe, expect, test } from "bun:test"
import { limits } from "@hamlet/contract"
import { expectStatus, type TestUser, testBaseUrl } from "../support/api.ts"
import { type ApiSuite, describeApi, refusalOf } from "./suite.ts"

const missing = "01890000-0000-7000-8000-000000000000"
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

interface FileView {
  readonly id: string
  readonly path: string
  readonly version: number
  readonly updatedAt: string
  readonly links: Readonly<Record<string, string>>
}

describeApi("api/v2-branches", (suite) => {
  describe("POST /v2/vals/{val_id}/branches", () => defineCreate(suite))
  describe("GET /v2/vals/{val_id}/branches", () => defineList(suite))
  describe("DELETE /v2/vals/{val_id}/branches/{branch_id}", () => defineDelete(suite))
  describe("files of a branch", () => defineFiles(suite))
  describe("GET /v1/vals/{val_id}/branches/{branch_id}/diff", () => defineDifference(suite))
})

/** A val with a file and a branch. */
async function openBranch({ call, addUser, val }: ApiSuite, name = "try") {
  const ada = await addUser()
  const made = await val(ada, { code: "1", type: "http", readme: "# Hello" })
  const path = `/v2/vals/${made.id}/branches`
  const branch = expectStatus(await call("POST", path, { as: ada, body: { name } }), 201).json
  const files = `/v2/vals/${made.id}/files`
  const list = async (query: string): Promise<FileView[]> =>
    expectStatus(await call("GET", `${files}?path=&recursive=true&${query}`, { as: ada }), 200).json
      .data
  const write = async (branchId: string, filePath: string, content: string) => {
    const at = `${files}?path=${filePath}&branch_id=${branchId}`
    const changed = await call("PUT", at, { as: ada, body: { content } })
    if (changed.status === 200) return changed.json
    return expectStatus(await call("POST", at, { as: ada, body: { type: "script", content } }), 201)
      .json
  }
  const read = async (branchId: string, filePath: string) =>
    (await call("GET", `${files}/content?path=${filePath}&branch_id=${branchId}`, { as: ada })).text
  return { ada, made, path, files, branch, list, write, read }
}

function add({ call }: ApiSuite, as: TestUser, path: string, body: object) {
  return call("POST", path, { as, body })
}

function defineCreate(suite: ApiSuite): void {
  test("is a copy of the newest files of main, at version 0, with every key", async () => {
    const { ada, made, path, branch, list } = await openBranch(suite)
    expect(branch).toEqual({
      id: branch.id,
      name: "try",
      version: 0,
      forkedBranchId: made.id,
      createdAt: time,
      updatedAt: time,
      links: {
        self: `${testBaseUrl}${path}/${branch.id}`,
        html: `${testBaseUrl}/x/${ada.username}/${made.name}/branch/try`,
      },
    })
    const [main, copy] = [await list(""), await list(`branch_id=${branch.id}`)]
    expect(copy.map((file) => file.path)).toEqual(["README.md", "main.tsx"])
    expect(copy.map((file) => [file.version, file.updatedAt])).toEqual(
      main.map((file) => [0, file.updatedAt]),
    )
    for (const [index, file] of copy.entries()) expect(file.id).not.toBe(main[index]?.id ?? "")
    const { links } = copy[1] as FileView
    expect(links.html).toBe(`${branch.links.html}/code/main.tsx`)
    expect(links.module).toBe(`${testBaseUrl}/v/${ada.username}/${made.name}@0-try/main.tsx`)
    expect(links.endpoint).toContain(`--${copy[1]?.id.replaceAll("-", "")}.`)
    expect(main[1]?.links.endpoint).toContain(`//${ada.username}-${made.name}.`.toLowerCase())
  })

  test("begins with another branch if it is told to", async () => {
    const { ada, path, branch, write, read } = await openBranch(suite)
    await write(branch.id, "main.tsx", "2")
    const answer = await add(suite, ada, path, { name: "more", branchId: branch.id })
    const more = expectStatus(answer, 201).json
    expect(more.forkedBranchId).toBe(branch.id)
    expect(await read(more.id, "main.tsx")).toBe("2")
  })

  test("refuses a name that exists, and names that are none", async () => {
    const { ada, path } = await openBranch(suite)
    for (const name of ["try", "TRY", "main", "Main"]) {
      const answer = await add(suite, ada, path, { name })
      expect(refusalOf(answer)).toEqual([409, "branch_exists"])
      expect(answer.headers.get("x-should-retry")).toBe("false")
    }
    for (const name of ["", "a b", "a/b", "..", "é", "x".repeat(49), 1])
      expect(refusalOf(await add(suite, ada, path, { name }))).toEqual([400, "invalid_request"])
    expectStatus(await add(suite, ada, path, { name: "$[a](b)-c_d.e" }), 201)
  })

  test("refuses a source that is no branch of the val, and other users", async () => {
    const [one, two] = [await openBranch(suite), await openBranch(suite)]
    for (const branchId of [two.branch.id, two.made.id, missing])
      expect(refusalOf(await add(suite, one.ada, one.path, { name: "x", branchId }))).toEqual([
        404,
        "branch_not_found",
      ])
    expect(refusalOf(await add(suite, two.ada, one.path, { name: "x" }))).toEqual([
      403,
      "not_owner",
    ])
  })

  test("refuses the branch after the last one", async () => {
    const { ada, path } = await openBranch(suite)
    const names = Array.from({ length: limits.branchesPerValMax - 2 }, (_, index) => `b${index}`)
    const made = await Promise.all(names.map((name) => add(suite, ada, path, { name })))
    expect(made.every(({ status }) => status === 201)).toBe(true)
    expect(refusalOf(await add(suite, ada, path, { name: "one-more" }))).toEqual([409, "val_full"])
  })
}

function defineList(suite: ApiSuite): void {
  test("has main first, and follows the versions of each", async () => {
    const { made, path, branch, write } = await openBranch(suite)
    await write(branch.id, "a.ts", "1")
    await write(branch.id, "a.ts", "2")
    await write(made.id, "main.tsx", "2")
    const { data, links } = expectStatus(await suite.call("GET", path), 200).json
    expect(data.map((it: { name: string; version: number }) => [it.name, it.version])).toEqual([
      ["main", 2],
      ["try", 2],
    ])
    expect(links).toEqual({ self: `${testBaseUrl}${path}?offset=0&limit=20` })
    const first = expectStatus(await suite.call("GET", `${path}?limit=1`), 200).json
    expect(first.links.next).toBe(`${testBaseUrl}${path}?limit=1&offset=1`)
    expect(data[0]).toMatchObject({ id: made.id, forkedBranchId: null })
  })
}

function defineDelete(suite: ApiSuite): void {
  const { call } = suite

  test("takes its files along, and its children stay", async () => {
    const { ada, path, files, branch, read } = await openBranch(suite)
    const child = (await add(suite, ada, path, { name: "child", branchId: branch.id })).json
    const [file] = (await call("GET", `${files}?path=&branch_id=${branch.id}`)).json.data
    expectStatus(await call("DELETE", `${path}/${branch.id}`, { as: ada }), 204)
    for (const answer of [
      await call("GET", `${path}/${branch.id}`, { as: ada }),
      await call("DELETE", `${path}/${branch.id}`, { as: ada }),
      await call("GET", `${files}?path=&branch_id=${branch.id}`, { as: ada }),
    ])
      expect(refusalOf(answer)).toEqual([404, "branch_not_found"])
    expect(refusalOf(await call("GET", `/v2/files/${file.id}`))).toEqual([404, "file_not_found"])
    const left = expectStatus(await call("GET", `${path}/${child.id}`), 200).json
    expect(left.forkedBranchId).toBeNull()
    expect(await read(child.id, "main.tsx")).toBe("1")
    expectStatus(await add(suite, ada, path, { name: "try" }), 201)
  })

  test("refuses main, and other users", async () => {
    const { ada, made, path, branch } = await openBranch(suite)
    const answer = await call("DELETE", `${path}/${made.id}`, { as: ada })
    expect(refusalOf(answer)).toEqual([409, "branch_is_default"])
    const bob = await suite.addUser()
    expect(refusalOf(await call("DELETE", `${path}/${branch.id}`, { as: bob }))).toEqual([
      403,
      "not_owner",
    ])
  })

  test("goes with its val", async () => {
    const { ada, made, path } = await openBranch(suite)
    expectStatus(await call("DELETE", `/v2/vals/${made.id}`, { as: ada }), 204)
    expect(refusalOf(await call("GET", path, { as: ada }))).toEqual([404, "val_not_found"])
    const [left] = await suite.database.db.read({
      text: `select count(*) as count from branches where val_id = '${made.id}'`,
      values: [],
    })
    expect(Number((left as { count: number }).count)).toBe(0)
  })
}

function defineFiles(suite: ApiSuite): void {
  const { call } = suite

  test("change without main, and main without them", async () => {
    const { made, branch, write, read, list } = await openBranch(suite)
    await write(branch.id, "main.tsx", "branch")
    await write(branch.id, "lib.ts", "only here")
    await write(made.id, "main.tsx", "main")
    expect(await read(branch.id, "main.tsx")).toBe("branch")
    expect(await read(made.id, "main.tsx")).toBe("main")
    expect((await list("")).map((file) => file.path)).toEqual(["README.md", "main.tsx"])
    expect((await list(`branch_id=${branch.id}&version=0`)).map((file) => file.path)).toEqual([
      "README.md",
      "main.tsx",
    ])
    expect((await call("GET", `/v1/vals/${made.id}`)).json).toMatchObject({
      code: "main",
      version: 2,
    })
  })

  test("are those of the newest version for the number of another branch", async () => {
    const { made, branch, write, list } = await openBranch(suite)
    await write(made.id, "main.tsx", "2")
    const main = expectStatus(await call("GET", `/v2/vals/${made.id}/branches/${made.id}`), 200)
    expect(await list(`branch_id=${branch.id}&version=${main.json.version}`)).toEqual(
      await list(`branch_id=${branch.id}`),
    )
  })

  test("five writers on two branches at once make versions without gaps", async () => {
    const { ada, made, files, branch } = await openBranch(suite)
    const write = (index: number) =>
      call("POST", `${files}?path=f${index}.txt&branch_id=${index % 2 ? branch.id : made.id}`, {
        as: ada,
        body: { type: "file", content: "" },
      })
    const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => write(index)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
    const numbers = (first: number) =>
      answers.flatMap(({ json }, index) => (index % 2 === first ? [json.version] : [])).sort()
    expect([numbers(0), numbers(1)]).toEqual([
      [2, 3, 4, 5, 6],
      [1, 2, 3, 4, 5],
    ])
  })
}

function defineDifference(suite: ApiSuite): void {
  const { call } = suite

  test("is what has changed since the branch was made, or since a version", async () => {
    const { ada, made, branch, write } = await openBranch(suite)
    await write(branch.id, "main.tsx", "2")
    await write(branch.id, "lib.ts", "new")
    const changes = [
      { path: "README.md", delete: true },
      { path: "lib.ts", newPath: "src/lib.ts" },
      { path: "empty", type: "directory" },
    ]
    const at = `/v1/vals/${made.id}/files?branch_id=${branch.id}`
    expectStatus(await call("POST", at, { as: ada, body: { changes } }), 200)
    const path = `/v1/vals/${made.id}/branches/${branch.id}/diff`
    expect(expectStatus(await call("GET", path), 200).json.data).toEqual([
      { path: "README.md", newPath: null, kind: "deleted", before: "# Hello", after: null },
      { path: "main.tsx", newPath: null, kind: "changed", before: "1", after: "2" },
      { path: "src/lib.ts", newPath: null, kind: "added", before: null, after: "new" },
    ])
    expect(expectStatus(await call("GET", `${path}?version=2`), 200).json.data).toEqual([
      { path: "README.md", newPath: null, kind: "deleted", before: "# Hello", after: null },
      { path: "lib.ts", newPath: "src/lib.ts", kind: "moved", before: "new", after: "new" },
    ])
    expect((await call("GET", `${path}?version=3`)).json.data).toEqual([])
    expect(refusalOf(await call("GET", `/v1/vals/${made.id}/branches/${missing}/diff`))).toEqual([
      404,
      "branch_not_found",
    ])
  })

  test("is what another branch has otherwise, whichever was made from which", async () => {
    const { ada, made, path, branch, write } = await openBranch(suite)
    const sibling = (await add(suite, ada, path, { name: "other" })).json
    await write(branch.id, "new.ts", "of the branch")
    await write(sibling.id, "new.ts", "of the other")
    const changes = [{ path: "main.tsx", newPath: "src/main.tsx" }]
    const at = `/v1/vals/${made.id}/files?branch_id=${branch.id}`
    expectStatus(await call("POST", at, { as: ada, body: { changes } }), 200)
    const compare = async (branchId: string, otherId: string) => {
      const route = `/v1/vals/${made.id}/branches/${branchId}/diff?other_branch_id=${otherId}`
      return expectStatus(await call("GET", route), 200).json.data
    }
    const text = "of the branch"
    expect(await compare(branch.id, made.id)).toEqual([
      { path: "main.tsx", newPath: "src/main.tsx", kind: "moved", before: "1", after: "1" },
      { path: "new.ts", newPath: null, kind: "added", before: null, after: text },
    ])
    expect(await compare(made.id, branch.id)).toEqual([
      { path: "new.ts", newPath: null, kind: "deleted", before: text, after: null },
      { path: "src/main.tsx", newPath: "main.tsx", kind: "moved", before: "1", after: "1" },
    ])
    expect(await compare(branch.id, sibling.id)).toEqual([
      { path: "main.tsx", newPath: "src/main.tsx", kind: "moved", before: "1", after: "1" },
      { path: "new.ts", newPath: null, kind: "changed", before: "of the other", after: text },
    ])
    expect(await compare(branch.id, branch.id)).toEqual([])
    expect(await compare(made.id, `${branch.id}&version=0`)).toEqual([])
    const others = await openBranch(suite)
    const foreign = `${path.replace("v2", "v1")}/${branch.id}/diff?other_branch_id=${others.branch.id}`
    expect(refusalOf(await call("GET", foreign))).toEqual([404, "branch_not_found"])
  })
}
