import { describe, expect, test } from "bun:test"
import { limits } from "@hamlet/contract"
import fc from "fast-check"
import { expectStatus, type TestUser } from "../support/api.ts"
import { type ApiSuite, describeApi, refusalOf } from "./suite.ts"

describeApi("api/merges", (suite, isWhole) => {
  describe("POST /v1/vals/{val_id}/branches/{branch_id}/merge", () => {
    defineChanges(suite)
    defineRepeated(suite)
    defineDecisions(suite)
    // What a conflict is, is no matter of the database: only what is read and saved is.
    if (!isWhole) return
    defineConflicts(suite)
    defineLimits(suite)
    definePaths(suite)
    defineRefusals(suite)
    defineProperties(suite)
  })
})

type Change = Readonly<Record<string, unknown>>
type Files = Readonly<Record<string, string>>

/** A val with these files on `main`, and a branch of it. */
async function openBranch(suite: ApiSuite, files: Files, as?: TestUser) {
  const { call, addUser, val } = suite
  const ada = as ?? (await addUser())
  const made = await val(ada, { code: "1", type: "http" })
  const save = async (branchId: string, changes: readonly Change[]) =>
    expectStatus(
      await call("POST", `/v1/vals/${made.id}/files?branch_id=${branchId}`, {
        as: ada,
        body: { changes },
      }),
      200,
    ).json
  const puts = Object.entries(files).map(([path, content]) => ({ path, content }))
  await save(made.id, [{ path: "main.tsx", delete: true }, ...puts])
  const branch = expectStatus(
    await call("POST", `/v2/vals/${made.id}/branches`, { as: ada, body: { name: "try" } }),
    201,
  ).json
  const list = async (branchId: string) => {
    const query = `path=&recursive=true&limit=100&branch_id=${branchId}`
    const answer = await call("GET", `/v2/vals/${made.id}/files?${query}`, { as: ada })
    return expectStatus(answer, 200).json.data as {
      readonly id: string
      readonly path: string
      readonly type: string
    }[]
  }
  const read = async (branchId: string): Promise<Files> => {
    const texts: Record<string, string> = {}
    for (const { path, type } of await list(branchId)) {
      if (type === "directory") continue
      const query = `path=${path}&branch_id=${branchId}`
      const answer = await call("GET", `/v2/vals/${made.id}/files/content?${query}`, { as: ada })
      texts[path] = expectStatus(answer, 200).text
    }
    return texts
  }
  const main: string = made.id
  const tryId: string = branch.id
  const post = (body: object = {}, headers: Record<string, string> = {}) =>
    call("POST", `/v1/vals/${main}/branches/${tryId}/merge`, { as: ada, body, headers })
  const merge = async (body: object = {}) => expectStatus(await post(body), 200).json
  const difference = async () =>
    expectStatus(await call("GET", `/v1/vals/${main}/branches/${tryId}/diff`, { as: ada }), 200)
      .json.data
  return { ada, main, branch: tryId, save, list, read, post, merge, difference }
}

const lines = (...some: readonly string[]) => some.map((line) => `${line}\n`).join("")
const ten = Array.from({ length: 10 }, (_, at) => `line ${at}`)
const change = (at: number, text: string) => lines(...ten.with(at, text))

function defineChanges(suite: ApiSuite): void {
  test("a dry run responds as the merge would, and changes nothing", async () => {
    const { main, branch, save, read, post, merge } = await openBranch(suite, { "a.txt": "1\n" })
    const dry = async () => expectStatus(await post({ dryRun: true }), 200).json
    const before = await dry()
    expect(before.isNewVersion).toBe(false)
    await save(branch, [{ path: "a.txt", content: "2\n" }])
    expect(await dry()).toEqual({ version: before.version, isNewVersion: true })
    expect(await read(main)).toEqual({ "a.txt": "1\n" })
    await save(main, [{ path: "a.txt", content: "3\n" }])
    const refused = await post({ dryRun: true })
    expect(refusalOf(refused)).toEqual([409, "merge_conflict"])
    expect(await read(main)).toEqual({ "a.txt": "3\n" })
    const merged = await merge({ resolved: [{ path: "a.txt", content: "4\n" }] })
    expect(merged).toEqual({ version: before.version + 2, isNewVersion: true })
  })

  test("takes what changed on the branch into its parent, in one version with a note", async () => {
    const { ada, main, branch, save, read, merge } = await openBranch(suite, {
      "a.ts": lines(...ten),
      "b.ts": "b",
      "c.ts": "c",
    })
    await save(branch, [
      { path: "a.ts", content: change(2, "theirs") },
      { path: "b.ts", delete: true },
    ])
    await save(branch, [{ path: "docs/new.txt", content: "new" }])
    await save(main, [{ path: "a.ts", content: change(7, "ours") }])
    await save(main, [{ path: "d.ts", content: "d" }])

    expect(await merge({ note: "as tried" })).toEqual({ version: 5, isNewVersion: true })

    expect(await read(main)).toEqual({
      "a.ts": lines(...ten.with(2, "theirs").with(7, "ours")),
      "c.ts": "c",
      "d.ts": "d",
      "docs/new.txt": "new",
    })
    expect(Object.keys(await read(branch))).toEqual(["a.ts", "c.ts", "docs/new.txt"])
    const versions = await suite.call("GET", `/v1/vals/${main}/versions?limit=1`, { as: ada })
    expect(versions.json.data).toMatchObject([{ version: 5, note: "as tried" }])
  })

  test("is noted with the branch whose changes it took, unless a note is given", async () => {
    const { ada, main, branch, save, merge } = await openBranch(suite, { "a.ts": "a" })
    const noteOf = async (branchId: string) => {
      const path = `/v1/vals/${main}/history?limit=1&branch_id=${branchId}`
      return (await suite.call("GET", path, { as: ada })).json.data[0].note
    }
    await save(branch, [{ path: "b.ts", content: "b" }])
    await merge()
    expect(await noteOf(main)).toBe("Merged try")
    await save(main, [{ path: "c.ts", content: "c" }])
    await merge({ into: "branch" })
    expect(await noteOf(branch)).toBe("Merged main")
  })

  test("puts a move of one side and an edit of the other together, and keeps the id", async () => {
    const { main, branch, save, list, read, merge } = await openBranch(suite, {
      "a.ts": "a",
      "b.ts": "b",
    })
    const before = new Map((await list(main)).map((file) => [file.path, file.id]))
    await save(branch, [
      { path: "a.ts", newPath: "lib/moved.ts" },
      { path: "b.ts", content: "B" },
    ])
    await save(main, [
      { path: "a.ts", content: "A" },
      { path: "b.ts", newPath: "lib/b.ts" },
    ])

    await merge()

    expect(await read(main)).toEqual({ "lib/b.ts": "B", "lib/moved.ts": "A" })
    const after = new Map((await list(main)).map((file) => [file.path, file.id]))
    expect(after.get("lib/moved.ts")).toBe(before.get("a.ts") ?? "")
    expect(after.get("lib/b.ts")).toBe(before.get("b.ts") ?? "")
  })

  test("takes over types, directories, and files that changed places", async () => {
    const files = { "a.ts": "a", "b.ts": "b", "old/c.ts": "c" }
    const { main, branch, save, list, read, merge } = await openBranch(suite, files)
    await save(branch, [
      { path: "a.ts", newPath: "x.ts" },
      { path: "b.ts", newPath: "a.ts", type: "http" },
      { path: "x.ts", newPath: "b.ts" },
      { path: "old", delete: true },
      { path: "old", content: "a file now" },
      { path: "empty", type: "directory" },
    ])

    await merge()

    expect(await read(main)).toEqual({ "a.ts": "b", "b.ts": "a", old: "a file now" })
    const types = (await list(main)).map(({ path, type }) => `${path} ${type}`)
    expect(types).toEqual(["a.ts http", "b.ts script", "empty directory", "old file"])
  })

  test("treats a file that was deleted and made again as the same file", async () => {
    const { main, branch, save, list, read, merge } = await openBranch(suite, {
      "a.ts": lines(...ten),
    })
    const [before] = await list(main)
    await save(branch, [{ path: "a.ts", delete: true }])
    await save(branch, [{ path: "a.ts", content: change(1, "theirs") }])
    await save(main, [{ path: "a.ts", content: change(8, "ours") }])

    await merge()

    expect(await read(main)).toEqual({ "a.ts": lines(...ten.with(1, "theirs").with(8, "ours")) })
    expect((await list(main))[0]?.id).toBe(before?.id ?? "")
  })

  test("takes what changed on the parent into the branch, if it is told to", async () => {
    const { main, branch, save, read, merge, difference } = await openBranch(suite, {
      "a.ts": lines(...ten),
    })
    await save(main, [
      { path: "a.ts", content: change(1, "ours") },
      { path: "new.ts", content: "new" },
    ])
    await save(branch, [{ path: "a.ts", content: change(8, "theirs") }])

    expect(await merge({ into: "branch" })).toEqual({ version: 2, isNewVersion: true })

    const both = lines(...ten.with(1, "ours").with(8, "theirs"))
    expect(await read(branch)).toEqual({ "a.ts": both, "new.ts": "new" })
    expect(await difference()).toEqual([
      { path: "a.ts", newPath: null, kind: "changed", before: change(1, "ours"), after: both },
    ])
    await save(branch, [{ path: "new.ts", newPath: "newer.ts" }])
    await merge()
    expect(await read(main)).toEqual({ "a.ts": both, "newer.ts": "new" })
    expect(await difference()).toEqual([])
  })
}

function defineRepeated(suite: ApiSuite): void {
  test("changes nothing the second time, and then takes only what is new", async () => {
    const { main, branch, save, read, merge, difference } = await openBranch(suite, {
      "a.ts": "a",
    })
    await save(branch, [
      { path: "a.ts", content: "A" },
      { path: "new.ts", content: lines(...ten) },
    ])
    expect(await merge()).toEqual({ version: 3, isNewVersion: true })
    expect(await merge()).toEqual({ version: 3, isNewVersion: false })
    expect(await difference()).toEqual([])

    await save(main, [
      { path: "a.ts", content: "again" },
      { path: "new.ts", newPath: "lib/new.ts", content: change(0, "ours") },
    ])
    expect(await merge()).toEqual({ version: 4, isNewVersion: false })
    await save(branch, [{ path: "new.ts", content: change(9, "theirs") }])
    expect(await merge()).toEqual({ version: 5, isNewVersion: true })

    expect(await read(main)).toEqual({
      "a.ts": "again",
      "lib/new.ts": lines(...ten.with(0, "ours").with(9, "theirs")),
    })
  })

  test("works for a branch of a branch", async () => {
    const { ada, main, branch, save, read, merge } = await openBranch(suite, { "a.ts": "a" })
    const body = { name: "deep", branchId: branch }
    const path = `/v2/vals/${main}/branches`
    const deep = expectStatus(await suite.call("POST", path, { as: ada, body }), 201).json.id
    await save(deep, [{ path: "a.ts", newPath: "b.ts", content: "deep" }])
    const answer = await suite.call("POST", `/v1/vals/${main}/branches/${deep}/merge`, { as: ada })
    expect(expectStatus(answer, 200).json).toEqual({ version: 1, isNewVersion: true })
    expect([await read(branch), await read(main)]).toEqual([{ "b.ts": "deep" }, { "a.ts": "a" }])
    await merge()
    expect(await read(main)).toEqual({ "b.ts": "deep" })
  })

  test("uses an earlier version if that of the last merge was deleted", async () => {
    const { ada, main, branch, save, read, merge } = await openBranch(suite, {
      "a.ts": lines(...ten),
    })
    await save(main, [{ path: "a.ts", content: change(0, "ours") }])
    await merge({ into: "branch" })
    await save(main, [{ path: "a.ts", content: change(0, "ours again") }])
    const deleted = await suite.call("DELETE", `/v1/vals/${main}/versions/3`, { as: ada })
    expectStatus(deleted, 204)
    await save(branch, [{ path: "a.ts", content: lines(...ten.with(0, "ours").with(9, "x")) }])

    const answer = await merge({ resolved: [{ path: "a.ts", content: "decided" }] })

    expect(answer.isNewVersion).toBe(true)
    expect(await read(main)).toEqual({ "a.ts": "decided" })
  })

  test("loses nothing while both branches are saved", async () => {
    const { main, branch, save, read, merge } = await openBranch(suite, { "a.ts": lines(...ten) })
    const write = async (branchId: string, name: string) => {
      for (let count = 0; count < 5; count++)
        await save(branchId, [{ path: `${name}/${count}.txt`, content: `${name} ${count}` }])
    }
    const mergeOften = async () => {
      for (let count = 0; count < 5; count++) await merge()
    }
    await Promise.all([write(main, "ours"), write(branch, "theirs"), mergeOften(), mergeOften()])
    await merge()
    const found = Object.keys(await read(main)).filter((path) => path.endsWith(".txt"))
    expect(found).toHaveLength(10)
    expect(await merge()).toMatchObject({ isNewVersion: false })
  })
}

function defineConflicts(suite: ApiSuite): void {
  const cases: readonly {
    readonly name: string
    readonly base: Files
    readonly ours: readonly Change[]
    readonly theirs: readonly Change[]
    readonly conflicts: readonly object[]
  }[] = [
    {
      name: "both changed the same lines",
      base: { "a.ts": "a", "b.ts": "b" },
      ours: [{ path: "a.ts", content: "ours" }],
      theirs: [
        { path: "a.ts", content: "theirs" },
        { path: "b.ts", content: "B" },
      ],
      conflicts: [{ path: "a.ts", base: "a", ours: "ours", theirs: "theirs" }],
    },
    {
      name: "one changed what the other deleted",
      base: { "a.ts": "a", "b.ts": "b", "c.ts": "c" },
      ours: [
        { path: "a.ts", delete: true },
        { path: "b.ts", content: "ours" },
        { path: "c.ts", newPath: "d.ts" },
      ],
      theirs: [
        { path: "a.ts", content: "theirs" },
        { path: "b.ts", delete: true },
        { path: "c.ts", delete: true },
      ],
      conflicts: [
        { path: "a.ts", base: "a", ours: null, theirs: "theirs" },
        { path: "b.ts", base: "b", ours: "ours", theirs: null },
        { path: "d.ts", base: "c", ours: "c", theirs: null },
      ],
    },
    {
      name: "both added different files",
      base: { "a.ts": "a" },
      ours: [{ path: "new.ts", content: "ours" }],
      theirs: [{ path: "new.ts", content: "theirs" }],
      conflicts: [{ path: "new.ts", base: null, ours: "ours", theirs: "theirs" }],
    },
    {
      name: "both moved a file, to different paths",
      base: { "a.ts": "a" },
      ours: [{ path: "a.ts", newPath: "ours.ts" }],
      theirs: [{ path: "a.ts", newPath: "theirs.ts" }],
      conflicts: [{ path: "ours.ts", base: "a", ours: "a", theirs: "a" }],
    },
    {
      name: "different files were moved to one path",
      base: { "a.ts": "a", "b.ts": "b" },
      ours: [{ path: "a.ts", newPath: "x.ts" }],
      theirs: [{ path: "b.ts", newPath: "x.ts" }],
      conflicts: [{ path: "x.ts", base: "b", ours: "a", theirs: "b" }],
    },
    {
      name: "both changed the type",
      base: { "a.ts": "a" },
      ours: [{ path: "a.ts", type: "http", content: "a" }],
      theirs: [{ path: "a.ts", type: "email", content: "a" }],
      conflicts: [{ path: "a.ts", base: "a", ours: "a", theirs: "a" }],
    },
    {
      name: "there is a file where the other has a folder",
      base: { "a.ts": "a" },
      ours: [{ path: "lib", content: "ours" }],
      theirs: [{ path: "lib/x.ts", content: "theirs" }],
      conflicts: [{ path: "lib/x.ts", base: null, ours: null, theirs: "theirs" }],
    },
    {
      name: "there is a folder where the other has a file",
      base: { "a.ts": "a" },
      ours: [{ path: "lib/x.ts", content: "ours" }],
      theirs: [{ path: "lib", content: "theirs" }],
      conflicts: [{ path: "lib", base: null, ours: null, theirs: "theirs" }],
    },
    {
      name: "paths differ only in case",
      base: { "a.ts": "a" },
      ours: [{ path: "Lib/x.ts", content: "ours" }],
      theirs: [
        { path: "lib/y.ts", content: "theirs" },
        { path: "A.TS", content: "upper" },
        { path: "a.ts", delete: true },
      ].toReversed(),
      conflicts: [{ path: "lib/y.ts", base: null, ours: null, theirs: "theirs" }],
    },
    {
      name: "a file was changed, and another one is where it was moved to",
      base: { "a.ts": "a" },
      ours: [
        { path: "a.ts", content: "ours" },
        { path: "x.ts", content: "other" },
      ],
      theirs: [{ path: "a.ts", newPath: "x.ts", content: "theirs" }],
      conflicts: [
        { path: "a.ts", base: "a", ours: "ours", theirs: "theirs" },
        { path: "x.ts", base: "a", ours: "other", theirs: "theirs" },
      ],
    },
    {
      name: "a file was moved to where the other has a new one, after it was changed",
      base: { "a.ts": "a" },
      ours: [{ path: "a.ts", newPath: "x.ts" }],
      theirs: [
        { path: "a.ts", content: "theirs" },
        { path: "x.ts", content: "new" },
      ],
      conflicts: [{ path: "x.ts", base: null, ours: "theirs", theirs: "new" }],
    },
    {
      name: "a file was deleted, and another one is where it was moved to",
      base: { "a.ts": "a" },
      ours: [
        { path: "a.ts", delete: true },
        { path: "x.ts", content: "other" },
      ],
      theirs: [{ path: "a.ts", newPath: "x.ts" }],
      conflicts: [{ path: "x.ts", base: "a", ours: "other", theirs: "a" }],
    },
  ]

  test.each(cases)("changes nothing when $name", async ({ base, ours, theirs, conflicts }) => {
    const { main, branch, save, read, post } = await openBranch(suite, base)
    await save(main, ours)
    await save(branch, theirs)
    const before = await read(main)

    const answer = await post()

    expect(refusalOf(answer)).toEqual([409, "merge_conflict"])
    expect(answer.headers.get("x-should-retry")).toBe("false")
    expect(answer.json).toMatchObject({ conflicts, conflictCount: conflicts.length, version: 3 })
    expect(answer.json.sourceVersion).toBe(1)
    expect(await read(main)).toEqual(before)
    expect((await post()).json.conflicts).toEqual(conflicts)
  })
}

function defineDecisions(suite: ApiSuite): void {
  test("contains what was decided, with the type that a file had, and is merged then", async () => {
    const { main, branch, save, list, read, post, merge } = await openBranch(suite, {
      "a.ts": "a",
      "b.ts": "b",
      "c.ts": "c",
      "d.ts": "d",
    })
    await save(main, [
      { path: "a.ts", content: "ours" },
      { path: "b.ts", delete: true },
      { path: "c.ts", content: "ours" },
      { path: "lib", content: "ours" },
    ])
    await save(branch, [
      { path: "a.ts", content: "theirs" },
      { path: "b.ts", content: "theirs", type: "http" },
      { path: "c.ts", delete: true },
      { path: "d.ts", content: "D" },
      { path: "lib/x.ts", content: "theirs" },
    ])
    const resolved = [
      { path: "a.ts", content: "both" },
      { path: "b.ts", content: "theirs after all" },
      { path: "c.ts", delete: true },
    ]
    const left = await post({ resolved })
    expect(left.json.conflicts.map((one: { path: string }) => one.path)).toEqual(["lib/x.ts"])

    const rest = [
      { path: "lib", delete: true },
      { path: "lib/x.ts", content: "theirs" },
    ]
    expect(await merge({ resolved: [...resolved, ...rest] })).toEqual({
      version: 4,
      isNewVersion: true,
    })

    expect(await read(main)).toEqual({
      "a.ts": "both",
      "b.ts": "theirs after all",
      "d.ts": "D",
      "lib/x.ts": "theirs",
    })
    expect((await list(main)).find(({ path }) => path === "b.ts")?.type).toBe("http")
    expect(await merge()).toEqual({ version: 4, isNewVersion: false })
  })

  test("puts a file where a folder is only if that is empty then", async () => {
    const { main, branch, save, read, post, merge } = await openBranch(suite, { "a.ts": "a" })
    await save(main, [{ path: "lib/x.ts", content: "ours" }])
    await save(branch, [{ path: "lib", content: "theirs" }])
    const decided = { path: "lib", content: "decided" }
    expect(refusalOf(await post({ resolved: [decided] }))).toEqual([409, "directory_not_empty"])
    await merge({ resolved: [{ path: "lib/x.ts", delete: true }, decided] })
    expect(await read(main)).toEqual({ "a.ts": "a", lib: "decided" })
  })

  test("keeps a folder where there is to be no file", async () => {
    const { main, branch, save, read, merge } = await openBranch(suite, { "a.ts": "a" })
    await save(main, [{ path: "lib/x.ts", content: "ours" }])
    await save(branch, [{ path: "lib", content: "theirs" }])
    await merge({ resolved: [{ path: "lib", delete: true }] })
    expect(await read(main)).toEqual({ "a.ts": "a", "lib/x.ts": "ours" })
  })
}

function defineLimits(suite: ApiSuite): void {
  test("lists as many conflicts as fit, and the others when these are decided", async () => {
    const paths = ["a.txt", "b.txt", "c.txt"]
    const all = (letter: string) =>
      paths.map((path) => ({ path, content: letter.repeat(limits.codeCharsMax) }))
    const { main, branch, save, post } = await openBranch(suite, {})
    await save(main, all("o"))
    await save(branch, all("t"))
    const first = (await post()).json
    expect([first.conflicts.length, first.conflictCount]).toEqual([1, 3])
    const next = (await post({ resolved: [{ path: "a.txt", content: "" }] })).json
    expect([next.conflicts[0].path, next.conflictCount]).toEqual(["b.txt", 2])
  })

  test("lets a person decide when the merged text is too long", async () => {
    const half = "x".repeat(limits.codeCharsMax / 2)
    const { main, branch, save, post } = await openBranch(suite, { "a.txt": "a\nb\nc\n" })
    await save(main, [{ path: "a.txt", content: `${half}\na\nb\nc\n` }])
    await save(branch, [{ path: "a.txt", content: `a\nb\nc\n${half}` }])
    expect(refusalOf(await post())).toEqual([409, "merge_conflict"])
  })
}

function definePaths(suite: ApiSuite): void {
  test("refuses all moves when they are in each other's way without end", async () => {
    const names = Array.from({ length: 60 }, (_, at) => `f${at}.ts`)
    const files = Object.fromEntries(names.map((name) => [name, name]))
    const { main, branch, save, read, post, merge } = await openBranch(suite, files)
    // Each file takes the place of the next one, and the last one goes where there is another.
    const moves = names
      .map((path, at) => ({ path, newPath: names[at + 1] ?? "end.ts" }))
      .toReversed()
    await save(branch, moves)
    await save(main, [{ path: "end.ts", content: "ours" }])

    const { conflicts } = (await post()).json
    expect(conflicts).toHaveLength(60)
    const resolved = conflicts.map((one: { path: string }) => ({ ...one, content: "decided" }))
    await merge({ resolved })

    expect(Object.keys(await read(main))).toHaveLength(61)
    expect(await merge()).toMatchObject({ isNewVersion: false })
  })
}

function defineRefusals(suite: ApiSuite): void {
  test("is only for branches that were made from another", async () => {
    const { ada, main, branch, post } = await openBranch(suite, { "a.ts": "a" })
    const { call } = suite
    const toMain = await call("POST", `/v1/vals/${main}/branches/${main}/merge`, { as: ada })
    expect(refusalOf(toMain)).toEqual([409, "branch_has_no_parent"])
    const body = { name: "deep", branchId: branch }
    const path = `/v2/vals/${main}/branches`
    const deep = expectStatus(await call("POST", path, { as: ada, body }), 201).json.id
    expectStatus(await call("DELETE", `${path}/${branch}`, { as: ada }), 204)
    const orphan = await call("POST", `/v1/vals/${main}/branches/${deep}/merge`, { as: ada })
    expect(refusalOf(orphan)).toEqual([409, "branch_has_no_parent"])
    expect(refusalOf(await post())).toEqual([404, "branch_not_found"])
  })

  test("refuses other versions than the caller has seen", async () => {
    const { branch, save, post } = await openBranch(suite, { "a.ts": "a" })
    await save(branch, [{ path: "a.ts", content: "A" }])
    expect(refusalOf(await post({}, { "if-match": '"1"' }))).toEqual([412, "version_conflict"])
    expect(refusalOf(await post({ sourceVersion: 0 }))).toEqual([412, "version_conflict"])
    expectStatus(await post({ sourceVersion: 1 }, { "if-match": '"2"' }), 200)
  })

  test.each([
    [{ path: "../a.ts", content: "a" }, 400, "invalid_request"],
    [{ path: "a.ts" }, 400, "invalid_request"],
    [{ path: "a.ts", content: "\0" }, 400, "content_not_text"],
    [{ path: "none.ts", delete: true }, 404, "file_not_found"],
    [{ path: "a.ts/x.ts", content: "a" }, 409, "file_exists"],
    [{ path: "A.ts", content: "a" }, 409, "file_exists"],
  ])("refuses the decision %j", async (resolution, status, code) => {
    const { main, branch, save, read, post } = await openBranch(suite, { "a.ts": "a" })
    await save(branch, [{ path: "b.ts", content: "b" }])
    expect(refusalOf(await post({ resolved: [resolution] }))).toEqual([status, code])
    expect(await read(main)).toEqual({ "a.ts": "a" })
  })
}

/** What a side does with one of the files. */
const edit = fc.record({
  file: fc.integer({ min: 0, max: 3 }),
  kind: fc.constantFrom("change", "delete", "move", "add"),
  line: fc.integer({ min: 0, max: 5 }),
  name: fc.constantFrom("x.ts", "y.ts", "X.ts", "lib", "lib/z.ts", "f0.ts"),
})
type Edit = typeof edit extends fc.Arbitrary<infer Value> ? Value : never

/** The files after the edits, and the changes that lead there. Each line is unique. */
function applyEdits(base: Files, edits: readonly Edit[], side: string) {
  const files = new Map(Object.entries(base))
  const changes: Change[] = []
  // A folder stays when it is empty.
  let hasFolder = false
  const fits = (path: string) =>
    !(hasFolder && path === "lib") &&
    [...files.keys()].every((other) => {
      const [one, two] = [path.toLowerCase(), other.toLowerCase()]
      return one !== two && !one.startsWith(`${two}/`) && !two.startsWith(`${one}/`)
    })
  for (const [index, { file, kind, line, name }] of edits.entries()) {
    hasFolder ||= files.has("lib/z.ts")
    const path = [...files.keys()].sort()[file]
    const text = path === undefined ? undefined : files.get(path)
    const content = `${side} ${index}\n`
    if (kind === "add" && fits(name)) {
      files.set(name, content)
      changes.push({ path: name, content })
    }
    if (path === undefined || text === undefined || kind === "add") continue
    if (kind === "change") {
      const all = text.split("\n").slice(0, -1)
      const changed = lines(...all.toSpliced(line % (all.length + 1), 1, `${side} ${index}`))
      files.set(path, changed)
      changes.push({ path, content: changed })
    }
    if (kind === "delete") changes.push({ path, delete: true })
    const isMove = kind === "move" && fits(name)
    if (isMove) {
      changes.push({ path, newPath: name })
      files.set(name, text)
    }
    if (isMove || kind === "delete") files.delete(path)
  }
  return { files: Object.fromEntries(files), changes }
}

const linesOf = (files: Files) =>
  new Set(Object.values(files).flatMap((text) => text.split("\n").filter((line) => line !== "")))

function defineProperties(suite: ApiSuite): void {
  test("has all changes of both sides, whatever they did, and only once", async () => {
    const base: Files = Object.fromEntries(
      [0, 1, 2].map((at) => [
        `f${at}.ts`,
        lines(...Array.from({ length: 6 }, (_, line) => `base ${at} ${line}`)),
      ]),
    )
    const ada = await suite.addUser()
    const side = fc.array(edit, { maxLength: 5 })
    let merged = 0
    await fc.assert(
      fc.asyncProperty(side, side, async (ourEdits, theirEdits) => {
        const { main, branch, save, read, post, merge } = await openBranch(suite, base, ada)
        const ours = applyEdits(base, ourEdits, "ours")
        const theirs = applyEdits(base, theirEdits, "theirs")
        if (ours.changes.length > 0) await save(main, ours.changes)
        if (theirs.changes.length > 0) await save(branch, theirs.changes)
        const answer = await post()
        const decided = new Map<string, string>()
        if (answer.status === 409) {
          expect(await read(main)).toEqual(ours.files)
          for (const one of answer.json.conflicts) {
            const text = [one.ours, one.theirs].filter((text) => text !== null).join("")
            decided.set(one.path, `${decided.get(one.path) ?? ""}${text}`)
          }
          // A decision about a folder's path needs a path that is free.
          const resolved = [...decided].map(([path, content], index) => {
            const isFree = !Object.keys(ours.files).some(
              (other) =>
                other !== path &&
                (other.toLowerCase() === path.toLowerCase() ||
                  other.toLowerCase().startsWith(`${path.toLowerCase()}/`) ||
                  path.toLowerCase().startsWith(`${other.toLowerCase()}/`)),
            )
            return { path, content, place: isFree ? path : `decided/${index}.ts` }
          })
          const body = resolved.flatMap(({ path, content, place }) =>
            place === path
              ? [{ path, content }]
              : [
                  { path, delete: true },
                  { path: place, content },
                ],
          )
          decided.clear()
          for (const { place, content } of resolved) decided.set(place, content)
          await merge({ resolved: body })
        } else {
          expectStatus(answer, 200)
          merged++
        }
        const found = await read(main)
        for (const [path, content] of decided) expect(found[path]).toBe(content)
        const [before, left, right] = [linesOf(base), linesOf(ours.files), linesOf(theirs.files)]
        const after = linesOf(found)
        for (const line of left)
          if (right.has(line) || !before.has(line)) expect([...after]).toContain(line)
        for (const line of right) if (!before.has(line)) expect([...after]).toContain(line)
        if (decided.size === 0)
          for (const line of after) expect(left.has(line) || right.has(line)).toBe(true)
        expect(await merge()).toMatchObject({ isNewVersion: false })
        expect(await read(main)).toEqual(found)
      }),
      { seed: 25, numRuns: 30 },
    )
    expect(merged).toBeGreaterThan(0)
  }, 120_000)
}
