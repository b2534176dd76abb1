import { describe, expect, test } from "bun:test"
import { limits } from "@hamlet/contract"
import { expectStatus, type TestUser } from "../support/api.ts"
import { type ApiSuite, describeApi, refusalOf, type ValView } from "./suite.ts"

const path = "/v1/vals/import"
const past = (day: number) => `2024-02-${String(day).padStart(2, "0")}T10:00:00.000Z`

describeApi("api/import", (suite) => {
  describe("POST /v1/vals/import", () => {
    describe("of a new val", () => defineCreate(suite))
    describe("of a val that exists", () => defineExisting(suite))
    describe("with links", () => defineLinks(suite))
    describe("with comments", () => defineComments(suite))
    describe("of a batch with invalid vals", () => defineHostile(suite))
    describe("as a dry run", () => defineDryRun(suite))
  })
})

interface Result {
  readonly name: string
  readonly status: string
  readonly id?: string
  readonly version?: number
  readonly message?: string
}

/** Imports vals as a user and returns the results. */
async function importAs(
  { call }: ApiSuite,
  as: TestUser,
  vals: readonly unknown[],
  options: object = {},
): Promise<readonly Result[]> {
  return expectStatus(await call("POST", path, { as, body: { vals, ...options } }), 200).json
    .results
}

/** One val, and what became of it. */
async function importOne(
  suite: ApiSuite,
  as: TestUser,
  val: unknown,
  options: object = {},
): Promise<Result> {
  const [result] = await importAs(suite, as, [val], options)
  if (!result) throw new Error("there is no result")
  return result
}

async function getVal({ call }: ApiSuite, owner: TestUser, name: string): Promise<ValView> {
  return expectStatus(await call("GET", `/v1/alias/${owner.username}/${name}`, { as: owner }), 200)
    .json
}

/** The versions of a val, oldest first, as one would import them. */
async function listVersions({ call }: ApiSuite, owner: TestUser, id: string) {
  const { json } = expectStatus(
    await call("GET", `/v1/vals/${id}/versions?limit=100`, { as: owner }),
    200,
  )
  const versions: readonly { version: number; code: string; createdAt: string }[] = json.data
  return versions.map(({ version, code, createdAt }) => ({ version, code, createdAt })).reverse()
}

async function countVals({ call }: ApiSuite, owner: TestUser): Promise<number> {
  return expectStatus(
    await call("GET", `/v1/vals?userId=${owner.id}&limit=100`, { as: owner }),
    200,
  ).json.data.length
}

function defineCreate(suite: ApiSuite): void {
  test("keeps version numbers, times and all other fields", async () => {
    const ada = await suite.addUser()
    const versions = [
      { version: 2, code: "two", createdAt: past(2) },
      { version: 5, code: "five", createdAt: past(5) },
      { version: 9, code: "nine", createdAt: past(9) },
    ]
    const fields = {
      name: "Hello",
      type: "http",
      privacy: "public",
      readme: "read me",
      createdAt: past(1),
      updatedAt: past(20),
    }
    const result = await importOne(suite, ada, { ...fields, versions, likeCount: 7, colour: "red" })
    expect(result).toEqual({ name: "Hello", status: "created", id: expect.any(String), version: 9 })
    const val = await getVal(suite, ada, "hello")
    expect(val).toMatchObject({
      ...fields,
      id: result.id,
      version: 9,
      code: "nine",
      versionCreatedAt: past(9),
      likeCount: 0,
    })
    expect(await listVersions(suite, ada, val.id)).toEqual(versions)
    const five = expectStatus(
      await suite.call("GET", `/v1/vals/${val.id}/versions/5`, { as: ada }),
      200,
    ).json
    expect([five.code, five.version]).toEqual(["five", 5])
    expect((await suite.call("GET", `/v1/vals/${val.id}/versions/1`, { as: ada })).status).toBe(404)
  })

  test("gets the next version number when it is saved", async () => {
    const ada = await suite.addUser()
    await importOne(suite, ada, {
      name: "hello",
      versions: [{ version: limits.importVersionMax, code: "1" }],
    })
    const saved = await suite.call("PUT", "/v1/vals", {
      as: ada,
      body: { name: "hello", code: "2" },
    })
    expect(expectStatus(saved, 200).json.version).toBe(limits.importVersionMax + 1)
  })

  test("is a private script by default, and accepts the old names of types", async () => {
    const ada = await suite.addUser()
    const vals = [
      { name: "plain", versions: [{ code: "1" }] },
      { name: "express", type: "express", versions: [{ code: "1" }] },
    ]
    await importAs(suite, ada, vals)
    expect(await getVal(suite, ada, "plain")).toMatchObject({
      privacy: "private",
      type: "script",
      readme: null,
      version: 1,
    })
    expect((await getVal(suite, ada, "express")).type).toBe("http")
    expect((await suite.call("GET", `/v1/alias/${ada.username}/plain`)).status).toBe(404)
  })

  test("numbers versions from 1 where numbers are missing or invalid, and reports invalid ones", async () => {
    const ada = await suite.addUser()
    const code = (version?: number) => ({
      code: `${version} ${Math.random()}`,
      ...(version !== undefined && { version }),
    })
    const table: readonly (readonly [
      name: string,
      numbers: readonly (number | undefined)[],
      isTold: boolean,
    ])[] = [
      ["none", [undefined, undefined], false],
      ["some", [undefined, 7], true],
      ["equal", [3, 3], true],
      ["descending", [3, 2], true],
    ]
    for (const [name, numbers, isTold] of table) {
      const {
        version,
        message,
        id = "",
      } = await importOne(suite, ada, { name, versions: numbers.map(code) })
      expect([name, version, message]).toEqual([
        name,
        2,
        isTold ? "its versions were numbered anew" : undefined,
      ])
      expect((await listVersions(suite, ada, id)).map((one) => one.version)).toEqual([1, 2])
    }
  })

  test("changes times that are in the future or later than the next version's", async () => {
    const ada = await suite.addUser()
    const before = Date.now()
    const versions = [
      { code: "1", createdAt: past(9) },
      { code: "2", createdAt: past(3) },
      { code: "3" },
      { code: "4", createdAt: "2999-01-01T00:00:00Z" },
    ]
    const { id = "" } = await importOne(suite, ada, {
      name: "hello",
      createdAt: "2998-01-01T00:00:00Z",
      updatedAt: "2999-01-01T00:00:00Z",
      versions,
    })
    const [first, second, third, fourth] = (await listVersions(suite, ada, id)).map(
      ({ createdAt }) => createdAt,
    )
    expect([first, second, third]).toEqual([past(3), past(3), fourth ?? ""])
    const { createdAt, updatedAt } = await getVal(suite, ada, "hello")
    expect([createdAt, updatedAt]).toEqual([past(3), fourth ?? ""])
    const now = Date.parse(fourth ?? "")
    expect([now >= before, now <= Date.now()]).toEqual([true, true])
  })

  test("is found by search in its current code, and not in older code", async () => {
    const ada = await suite.addUser()
    const word = `w${crypto.randomUUID().replaceAll("-", "")}`
    const versions = [{ code: `old${word}` }, { code: `new${word}` }]
    await importAs(suite, ada, [{ name: "found", privacy: "public", versions }])
    const namesFor = async (query: string) =>
      (await suite.call("GET", `/v1/search/vals?query=${query}`)).json.data.map(
        ({ name }: { name: string }) => name,
      )
    expect([await namesFor(`new${word}`), await namesFor(`old${word}`)]).toEqual([["found"], []])
  })

  test("creates a lockfile for every version that imports packages", async () => {
    const ada = await suite.addUser()
    const versions = [{ code: `import "npm:a"` }, { code: "1" }, { code: `import "npm:b"` }]
    const { id } = await importOne(suite, ada, { name: "packages", versions })
    const lockOf = async (version: number) =>
      (await suite.call("GET", `/v1/vals/${id}/versions/${version}/lock`, { as: ada })).status
    expect([await lockOf(1), await lockOf(2), await lockOf(3)]).toEqual([200, await lockOf(2), 200])
    expect(await suite.api.hamlet.stores.lockfiles.find(id ?? "", 2)).toBeNull()
  })
}

function defineExisting(suite: ApiSuite): void {
  const versions = [
    { version: 1, code: "1", createdAt: past(1) },
    { version: 2, code: "2", createdAt: past(2) },
  ]
  const third = { version: 3, code: "3", createdAt: past(3) }
  const base = { name: "hello", privacy: "public", readme: "r", versions }

  test("is unchanged when it is imported again, for every conflict mode", async () => {
    const ada = await suite.addUser()
    const { id = "" } = await importOne(suite, ada, base)
    const before = await getVal(suite, ada, "hello")
    for (const ifExists of ["skip", "version", "fail"])
      expect(await importOne(suite, ada, { ...base, name: "HELLO" }, { ifExists })).toEqual({
        name: "HELLO",
        status: "unchanged",
        id,
        version: 2,
      })
    expect(await getVal(suite, ada, "hello")).toEqual(before)
    expect(await listVersions(suite, ada, id)).toEqual(versions)
  })

  test("is unchanged when it has newer versions, and keeps its current settings", async () => {
    const ada = await suite.addUser()
    const { id = "" } = await importOne(suite, ada, base)
    await suite.call("POST", `/v1/vals/${id}/versions`, {
      as: ada,
      body: { code: "own", privacy: "private" },
    })
    expect((await importOne(suite, ada, base, { ifExists: "version" })).status).toBe("unchanged")
    expect(await getVal(suite, ada, "hello")).toMatchObject({
      code: "own",
      version: 3,
      privacy: "private",
    })
  })

  test("is skipped or fails when it differs, and does not change", async () => {
    const ada = await suite.addUser()
    const { id = "" } = await importOne(suite, ada, base)
    const before = await getVal(suite, ada, "hello")
    const message = `Cannot import val "hello": you already have one with that name, which differs`
    const others = [
      { ...base, versions: [...versions, third] },
      { ...base, readme: "other" },
      { ...base, versions: [{ code: "other" }] },
    ]
    for (const other of others) {
      expect(await importOne(suite, ada, other)).toEqual({
        name: "hello",
        status: "skipped",
        id,
        version: 2,
        message,
      })
      expect(await importOne(suite, ada, other, { ifExists: "fail" })).toEqual({
        name: "hello",
        status: "failed",
        id,
        version: 2,
        message,
      })
    }
    expect(await getVal(suite, ada, "hello")).toEqual(before)
  })

  test("gets the missing versions, with numbers and times", async () => {
    const ada = await suite.addUser()
    const { id = "" } = await importOne(suite, ada, {
      ...base,
      createdAt: past(1),
      updatedAt: past(2),
    })
    const more = [...versions, third, { version: 7, code: "2", createdAt: past(7) }]
    const result = await importOne(
      suite,
      ada,
      { ...base, versions: more, privacy: "unlisted" },
      { ifExists: "version" },
    )
    expect(result).toEqual({ name: "hello", status: "updated", id, version: 7 })
    expect(await listVersions(suite, ada, id)).toEqual(more)
    expect(await getVal(suite, ada, "hello")).toMatchObject({
      version: 7,
      code: "2",
      privacy: "unlisted",
      readme: "r",
      updatedAt: past(7),
    })
    expect(
      (
        await importOne(
          suite,
          ada,
          { ...base, privacy: "unlisted", versions: more },
          { ifExists: "version" },
        )
      ).status,
    ).toBe("unchanged")
  })

  test("without files gets all versions, in one new file", async () => {
    const ada = await suite.addUser()
    const body = { name: "hello", privacy: "public" }
    const { json } = expectStatus(await suite.call("POST", "/v2/vals", { as: ada, body }), 201)
    const imported = { name: "hello", versions: [...versions, third] }
    expect(await importOne(suite, ada, imported, { ifExists: "version" })).toMatchObject({
      status: "updated",
      version: 3,
    })
    const stored = await listVersions(suite, ada, json.id)
    expect(stored.map(({ version, code }) => [version, code])).toEqual([
      [0, ""],
      [1, "1"],
      [2, "2"],
      [3, "3"],
    ])
    const files = await suite.call("GET", `/v2/vals/${json.id}/files?path=&recursive=true`)
    expect(expectStatus(files, 200).json.data).toMatchObject([{ path: "main.tsx", version: 3 }])
    const { db } = suite.database
    const branches = await db.read`select file_count, bytes from branches where id = ${json.id}`
    expect(branches).toEqual([{ fileCount: 1, bytes: 3 }])
  })

  test("with a directory at the path of its code gets no version", async () => {
    const ada = await suite.addUser()
    const body = { name: "hello", privacy: "public" }
    const { json } = expectStatus(await suite.call("POST", "/v2/vals", { as: ada, body }), 201)
    const files = `/v2/vals/${json.id}/files?path=main.tsx`
    const directory = { type: "directory", content: null }
    expectStatus(await suite.call("POST", files, { as: ada, body: directory }), 201)
    const [fifth, sixth] = [
      { version: 5, code: "5" },
      { version: 6, code: "6" },
    ]
    for (const sent of [[fifth], [fifth, sixth]]) {
      const vals = [{ name: "hello", versions: sent }]
      const answer = await suite.call("POST", path, {
        as: ada,
        body: { vals, ifExists: "version" },
      })
      expect(refusalOf(answer)).toEqual([409, "file_exists"])
    }
    expect((await listVersions(suite, ada, json.id)).map(({ version }) => version)).toEqual([0, 1])
  })

  test("with a different history gets the last code as its next version", async () => {
    const ada = await suite.addUser()
    const { id = "" } = await importOne(suite, ada, base)
    const other = {
      ...base,
      versions: [
        { version: 1, code: "other 1" },
        { version: 8, code: "other 8" },
      ],
    }
    expect(await importOne(suite, ada, other, { ifExists: "version" })).toMatchObject({
      status: "updated",
      version: 3,
    })
    expect(
      (await listVersions(suite, ada, id)).map(({ version, code }) => [version, code]),
    ).toEqual([
      [1, "1"],
      [2, "2"],
      [3, "other 8"],
    ])
    expect((await importOne(suite, ada, other, { ifExists: "version" })).status).toBe("unchanged")
  })

  test("with code only gets it as a new version unless it is the current code", async () => {
    const ada = await suite.addUser()
    await importOne(suite, ada, base)
    const save = (code: string, version?: number) =>
      importOne(
        suite,
        ada,
        { name: "hello", versions: [{ code, ...(version && { version }) }] },
        { ifExists: "version" },
      )
    expect(await save("2")).toMatchObject({ status: "unchanged", version: 2 })
    expect(await save("2", 17)).toMatchObject({ status: "unchanged", version: 2 })
    expect(await save("1")).toMatchObject({ status: "updated", version: 3 })
    expect(await save("new", 17)).toMatchObject({ status: "updated", version: 17 })
    expect(await getVal(suite, ada, "hello")).toMatchObject({
      version: 17,
      privacy: "public",
      readme: "r",
    })
  })

  test("gets no version older than its last change", async () => {
    const ada = await suite.addUser()
    const { updatedAt } = await suite.val(ada, { name: "hello", code: "now" })
    const versions = [{ version: 5, code: "then", createdAt: past(1) }]
    expect(
      await importOne(suite, ada, { name: "hello", versions }, { ifExists: "version" }),
    ).toMatchObject({
      status: "updated",
      version: 5,
    })
    // Another text never has the same time.
    const later = new Date(Date.parse(updatedAt) + 1).toISOString()
    expect(await getVal(suite, ada, "hello")).toMatchObject({
      version: 5,
      versionCreatedAt: later,
      updatedAt: later,
    })
  })

  test("changes only the fields that are sent", async () => {
    const ada = await suite.addUser()
    await importOne(suite, ada, base)
    const settings = { name: "hello", type: "email", readme: null, versions }
    expect(await importOne(suite, ada, settings, { ifExists: "version" })).toMatchObject({
      status: "updated",
      version: 3,
    })
    expect(await getVal(suite, ada, "hello")).toMatchObject({
      type: "email",
      readme: null,
      privacy: "public",
      version: 3,
    })
  })

  test("never uses the number of a deleted version again", async () => {
    const ada = await suite.addUser()
    const { id = "" } = await importOne(suite, ada, { ...base, versions: [...versions, third] })
    expectStatus(await suite.call("DELETE", `/v1/vals/${id}/versions/3`, { as: ada }), 204)
    const other = { ...base, versions: [...versions, { ...third, code: "another 3" }] }
    expect(await importOne(suite, ada, other, { ifExists: "version" })).toMatchObject({
      status: "updated",
      version: 4,
    })
  })

  test("affects only the caller's vals: another user's val is neither seen nor changed", async () => {
    const [ada, bob] = [await suite.addUser(), await suite.addUser()]
    await importOne(suite, ada, base)
    const before = await getVal(suite, ada, "hello")
    expect(
      await importOne(
        suite,
        bob,
        { ...base, versions: [{ code: "bob's" }] },
        { ifExists: "version" },
      ),
    ).toMatchObject({
      status: "created",
      version: 1,
    })
    expect(await getVal(suite, ada, "hello")).toEqual(before)
  })
}

function defineLinks(suite: ApiSuite): void {
  test("links vals of one batch to each other, in any order", async () => {
    const ada = await suite.addUser()
    const to = (name: string) => `import "/v/${ada.username}/${name}"`
    const vals = [
      {
        name: "a",
        privacy: "public",
        versions: [{ code: `${to("old")}` }, { code: `${to("b")};${to("c")}` }],
      },
      { name: "b", privacy: "public", versions: [{ code: to("a") }] },
      { name: "c", privacy: "private", versions: [{ code: to("b") }] },
      { name: "old", versions: [{ code: "1" }] },
    ]
    await importAs(suite, ada, vals)
    const dependenciesOf = async (name: string) => {
      const { id } = await getVal(suite, ada, name)
      const { json } = await suite.call("GET", `/v1/vals/${id}/dependencies`, { as: ada })
      return json.data
        .map(({ dependsOn }: { dependsOn: { name: string } }) => dependsOn.name)
        .sort()
    }
    expect(await Promise.all(["a", "b", "c", "old"].map(dependenciesOf))).toEqual([
      ["b", "c"],
      ["a"],
      ["b"],
      [],
    ])
    const counts = await Promise.all(
      ["a", "b", "c", "old"].map(async (name) => (await getVal(suite, ada, name)).referenceCount),
    )
    expect(counts).toEqual([1, 1, 1, 0])
  })

  test("links an existing val to what its new version imports", async () => {
    const ada = await suite.addUser()
    const to = (name: string) => `import "/v/${ada.username}/${name}"`
    await importAs(suite, ada, [
      { name: "a", privacy: "public", versions: [{ code: to("b") }] },
      { name: "b", versions: [{ code: "1" }] },
      { name: "c", versions: [{ code: "1" }] },
    ])
    const history = [{ code: to("b") }, { code: "between" }, { code: to("c") }].map(
      (one, index) => ({ ...one, version: index + 1 }),
    )
    await importAs(suite, ada, [{ name: "a", privacy: "public", versions: history }], {
      ifExists: "version",
    })
    expect([
      (await getVal(suite, ada, "b")).referenceCount,
      (await getVal(suite, ada, "c")).referenceCount,
    ]).toEqual([0, 1])
  })

  test("gives the same result as single saves, and accepts the API's own output", async () => {
    const [ada, bob] = [await suite.addUser(), await suite.addUser()]
    const code = (name: string, importer: TestUser) => `import "/v/${importer.username}/${name}"`
    for (const [name, fields] of [
      ["lib", { code: "export const a = 1", privacy: "public", readme: "# Lib\n" }],
      ["app", { code: code("lib", ada), privacy: "unlisted", type: "http" }],
      ["app", { code: `${code("lib", ada)}\n// more` }],
      ["late", { code: code("none", ada) }],
    ] as const)
      expectStatus(await suite.call("PUT", "/v1/vals", { as: ada, body: { name, ...fields } }), 200)
    const exported = await Promise.all(
      ["lib", "app", "late"].map(async (name) => {
        const { id, type, privacy, readme, createdAt, updatedAt } = await getVal(suite, ada, name)
        const versions = await listVersions(suite, ada, id)
        return { name, type, privacy, readme, createdAt, updatedAt, versions }
      }),
    )
    const moved = exported.map((val) => ({
      ...val,
      versions: val.versions.map((one) => ({
        ...one,
        code: one.code.replaceAll(ada.username, bob.username),
      })),
    }))
    await importAs(suite, bob, moved)
    const strip = ({ id, url, links, author, code, ...rest }: ValView) => ({
      ...rest,
      code: code.replaceAll(bob.username, ada.username),
    })
    for (const name of ["lib", "app", "late"]) {
      const [of, copy] = [await getVal(suite, ada, name), await getVal(suite, bob, name)]
      expect(strip(copy)).toEqual(strip(of))
    }
    expect(
      (await importAs(suite, ada, exported, { ifExists: "version" })).map(({ status }) => status),
    ).toEqual(["unchanged", "unchanged", "unchanged"])
  })
}

function defineComments(suite: ApiSuite): void {
  const commentsOf = async (as: TestUser, id = "") =>
    expectStatus(await suite.call("GET", `/v1/vals/${id}/comments`, { as }), 200).json.data.map(
      (one: { comment: string; createdAt: string; author: { username: string } }) => [
        one.author.username,
        one.comment,
        one.createdAt,
      ],
    )

  test("imports comments of the caller, and none of other users", async () => {
    const [ada, bob] = [await suite.addUser(), await suite.addUser()]
    const comments = [
      { author: ada.username.toUpperCase(), comment: "mine", createdAt: past(1) },
      { author: bob.username, comment: "forged", createdAt: past(2) },
      { author: "nobody at all", comment: "lost" },
      { author: "", comment: "lost too" },
    ]
    const val = { name: "hello", versions: [{ code: "1" }], comments }
    const { id, status, message } = await importOne(suite, ada, val)
    expect([status, message]).toEqual(["created", "comments of others were left out: 3"])
    expect(await commentsOf(ada, id)).toEqual([[ada.username, "mine", past(1)]])
    expect((await suite.call("GET", "/v1/me/comments", { as: bob })).json.data).toEqual([])
    expect((await importOne(suite, ada, val)).status).toBe("unchanged")
    expect(await commentsOf(ada, id)).toHaveLength(1)
  })

  test("imports comments of existing users for an administrator", async () => {
    const bob = await suite.addUser()
    const name = `admins_${crypto.randomUUID().slice(0, 8)}`
    const comments = [
      { author: bob.username, comment: "as it was", createdAt: past(2) },
      { author: "nobody_at_all", comment: "lost" },
      { author: bob.username, comment: "later", createdAt: "2999-01-01T00:00:00Z" },
    ]
    const { id, message } = await importOne(suite, suite.api.admin, {
      name,
      versions: [{ code: "1" }],
      comments,
    })
    expect(message).toBe("comments of others were left out: 1")
    const [later, first] = await commentsOf(suite.api.admin, id)
    expect(first).toEqual([bob.username, "as it was", past(2)])
    expect(Date.parse(later[2])).toBeLessThanOrEqual(Date.now())
  })
}

function defineHostile(suite: ApiSuite): void {
  const good = (name: string) => ({ name, versions: [{ code: "1" }] })

  test("imports the valid vals, and reports the errors of the others in order", async () => {
    const ada = await suite.addUser()
    const bad: readonly unknown[] = [
      null,
      7,
      "text",
      [],
      {},
      { name: "no_versions" },
      { name: "empty", versions: [] },
      { name: "no name", versions: [{ code: "1" }] },
      { name: "", versions: [{ code: "1" }] },
      { name: "n".repeat(49), versions: [{ code: "1" }] },
      { name: "\ud800", versions: [{ code: "1" }] },
      { name: "code", versions: [{ code: "" }] },
      { name: "long", versions: [{ code: "x".repeat(limits.codeCharsMax + 1) }] },
      { name: "nul", versions: [{ code: "a\0b" }] },
      { name: "half", versions: [{ code: "\ud800" }] },
      { name: "number", versions: [{ code: "1", version: 0 }] },
      { name: "fraction", versions: [{ code: "1", version: 1.5 }] },
      { name: "huge", versions: [{ code: "1", version: limits.importVersionMax + 1 }] },
      { name: "time", versions: [{ code: "1", createdAt: "yesterday" }] },
      { name: "time2", createdAt: 17, versions: [{ code: "1" }] },
      { name: "privacy", privacy: "secret", versions: [{ code: "1" }] },
      { name: "type", type: "cron", versions: [{ code: "1" }] },
      { name: "readme", readme: "x".repeat(limits.readmeCharsMax + 1), versions: [{ code: "1" }] },
      { name: "comment", versions: [{ code: "1" }], comments: [{ author: "a", comment: "" }] },
      { name: "__proto__", versions: [{ code: "1" }] },
      JSON.parse('{"name": "proto", "__proto__": {"versions": [{"code": "1"}]}}'),
    ]
    const results = await importAs(suite, ada, [good("first"), ...bad, good("last")])
    expect(results.map(({ status }) => status)).toEqual([
      "created",
      ...bad.map(() => "failed"),
      "created",
    ])
    for (const { message } of results.slice(1, -1))
      expect(message).toMatch(/^Cannot import val "[^"]*": .+/)
    expect(results[6]).toMatchObject({
      name: "no_versions",
      message: expect.stringContaining("versions"),
    })
    expect(await countVals(suite, ada)).toBe(2)
  })

  test("imports the first of several with one name, ignoring case", async () => {
    const ada = await suite.addUser()
    const results = await importAs(
      suite,
      ada,
      [good("same"), { name: "SAME", versions: [{ code: "2" }] }],
      { ifExists: "version" },
    )
    expect(results.map(({ status }) => status)).toEqual(["created", "failed"])
    expect(await getVal(suite, ada, "same")).toMatchObject({ name: "same", code: "1", version: 1 })
  })

  test("refuses an invalid batch", async () => {
    const ada = await suite.sharedUser()
    const many = (count: number) => Array.from({ length: count }, (_, index) => good(`v${index}`))
    for (const body of [
      {},
      { vals: [] },
      { vals: {} },
      { vals: many(limits.importValsMax + 1) },
      { vals: many(1), ifExists: "replace" },
      { vals: many(1), dryRun: "yes" },
    ])
      expect(refusalOf(await suite.call("POST", path, { as: ada, body }))).toEqual([
        400,
        "invalid_request",
      ])
    const body = { vals: [{ name: "large", versions: [{ code: "x".repeat(2_100_000) }] }] }
    expect(refusalOf(await suite.call("POST", path, { as: ada, body }))).toEqual([
      413,
      "body_too_large",
    ])
    expect(refusalOf(await suite.call("POST", path, { body: { vals: many(1) } }))).toEqual([
      401,
      "unauthenticated",
    ])
    expect(refusalOf(await suite.call("GET", path, { as: ada }))).toEqual([
      405,
      "method_not_allowed",
    ])
  })

  test("refuses a body that is nested too deeply, of any size", async () => {
    const ada = await suite.sharedUser()
    const toBody = (levels: number) => `{"vals":[${"[".repeat(levels)}${"]".repeat(levels)}]}`
    for (const levels of [limits.importLevelsMax, 10_000, 100_000]) {
      const response = await suite.call("POST", path, { as: ada, body: toBody(levels) })
      expect(refusalOf(response)).toEqual([400, "invalid_request"])
      expect(response.json.message).toBe(
        `Cannot accept the request: "vals" must not be nested more than ${limits.importLevelsMax} levels deep`,
      )
    }
    const { json } = expectStatus(
      await suite.call("POST", path, { as: ada, body: toBody(limits.importLevelsMax - 1) }),
      200,
    )
    expect(json.results).toMatchObject([{ status: "failed" }])
  })

  test("requires the scope val:write", async () => {
    const ada = await suite.addUser()
    const made = await suite.call("POST", "/v1/me/tokens", {
      as: ada,
      body: { name: "reader", scopes: ["val:read"] },
    })
    expect(
      refusalOf(
        await suite.call("POST", path, { as: made.json.token, body: { vals: [good("a")] } }),
      ),
    ).toEqual([403, "missing_scope"])
    expect(await countVals(suite, ada)).toBe(0)
  })

  test("accepts the largest batch, from several clients at once, and imports each val once", async () => {
    const ada = await suite.addUser()
    const vals = Array.from({ length: limits.importValsMax }, (_, index) => ({
      name: `v${index}`,
      versions: [
        { code: `import "/v/${ada.username}/v${(index * 7) % limits.importValsMax}"` },
        { code: String(index) },
      ],
    }))
    const [one, two, three] = await Promise.all(
      [vals, [...vals].reverse(), vals].map((some) => importAs(suite, ada, some)),
    )
    const created = [one, two?.toReversed(), three].map((results) =>
      results?.map(({ status }) => status === "created"),
    )
    for (let index = 0; index < vals.length; index += 1)
      expect(created.filter((of) => of?.[index])).toHaveLength(1)
    const all = [...(one ?? []), ...(two ?? []), ...(three ?? [])]
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set(["created", "unchanged"]))
    expect(new Set(all.map(({ id }) => id)).size).toBe(vals.length)
  })
}

function defineDryRun(suite: ApiSuite): void {
  test("reports the result for each val, and changes nothing", async () => {
    const ada = await suite.addUser()
    const versions = [{ version: 1, code: "1", createdAt: past(1) }]
    await importAs(suite, ada, [
      { name: "same", versions },
      { name: "differs", versions },
    ])
    const before = [await getVal(suite, ada, "same"), await getVal(suite, ada, "differs")]
    const vals = [
      {
        name: "fresh",
        versions: [...versions, { version: 4, code: "4" }],
        comments: [{ author: "x", comment: "y" }],
      },
      { name: "same", versions },
      { name: "differs", versions: [...versions, { version: 2, code: "2" }] },
      { name: "bad name", versions },
    ]
    const rehearse = (options: object) => importAs(suite, ada, vals, { dryRun: true, ...options })
    const [fresh, same, differs, bad] = await rehearse({})
    expect(fresh).toEqual({
      name: "fresh",
      status: "created",
      version: 4,
      message: "comments of others were left out: 1",
    })
    expect(same).toEqual({ name: "same", status: "unchanged", version: 1, id: before[0]?.id ?? "" })
    expect([differs?.status, bad?.status]).toEqual(["skipped", "failed"])
    expect((await rehearse({ ifExists: "version" }))[2]).toMatchObject({
      status: "updated",
      version: 2,
    })
    expect((await rehearse({ ifExists: "fail" }))[2]).toMatchObject({
      status: "failed",
      version: 1,
    })
    expect(await countVals(suite, ada)).toBe(2)
    expect([await getVal(suite, ada, "same"), await getVal(suite, ada, "differs")]).toEqual(before)
    expect(
      (await importAs(suite, ada, vals, { ifExists: "version" })).map(({ status }) => status),
    ).toEqual(["created", "unchanged", "updated", "failed"])
  })
}
