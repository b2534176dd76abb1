import { describe, expect, test } from "bun:test"
import { expectStatus } from "../support/api.ts"
import { type ApiSuite, describeSqliteApi, once, refusalOf } from "./suite.ts"

const missing = "01890000-0000-7000-8000-000000000000"
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

describeSqliteApi("api/versions", (suite) => {
  describe("GET /v1/vals/{val_id}/versions", () => defineList(suite))
  describe("POST /v1/vals/{val_id}/versions", () => defineCreate(suite))
  describe("GET /v1/vals/{val_id}/versions/{version}", () => defineGet(suite))
  describe("DELETE /v1/vals/{val_id}/versions/{version}", () => defineDelete(suite))
})

/** Saves more code and gives the val and its owner. */
async function withVersions(
  { call, addUser: person, val }: ApiSuite,
  count: number,
  fields: Readonly<Record<string, unknown>> = {},
) {
  const ada = await person()
  const made = await val(ada, { code: "1", ...fields })
  for (let code = 2; code <= count; code += 1) {
    expectStatus(
      await call("POST", `/v1/vals/${made.id}/versions`, { as: ada, body: { code: String(code) } }),
      201,
    )
  }
  return { ada, id: made.id, path: `/v1/vals/${made.id}/versions`, name: made.name }
}

function defineList(suite: ApiSuite): void {
  const { call } = suite

  test("has every version, newest first, with every key", async () => {
    const { id, path } = await withVersions(suite, 3)
    const { json } = expectStatus(await call("GET", path), 200)
    const item = (version: number) => ({
      val_id: id,
      version,
      code: String(version),
      createdAt: time,
      note: null,
      author: { id: expect.any(String), username: expect.any(String) },
      runStartAt: null,
      runEndAt: null,
    })
    expect(json.data).toEqual([item(3), item(2), item(1)])
  })

  test("is paged", async () => {
    const { path } = await withVersions(suite, 3)
    const { json } = expectStatus(await call("GET", `${path}?limit=1&offset=1`), 200)
    expect(json.data.map(({ version }: { version: number }) => version)).toEqual([2])
    const links = Object.entries(json.links).map(([name, url]) => [
      name,
      new URL(String(url)).searchParams.get("offset"),
    ])
    expect(Object.fromEntries(links)).toEqual({ self: "1", next: "2", prev: "0" })
  })

  test("is 404 for callers that cannot see the val", async () => {
    const { path } = await withVersions(suite, 1, { privacy: "private" })
    for (const as of [undefined, await suite.addUser()])
      expect(refusalOf(await call("GET", path, { as }))).toEqual([404, "val_not_found"])
    expect(refusalOf(await call("GET", `/v1/vals/${missing}/versions`))).toEqual([
      404,
      "val_not_found",
    ])
    expect(refusalOf(await call("GET", "/v1/vals/1/versions"))).toEqual([400, "invalid_request"])
  })
}

function defineCreate(suite: ApiSuite): void {
  const { call, addUser: person, val } = suite

  test("is 201 with the whole val, and versions count up from 1", async () => {
    const ada = await person()
    const made = await val(ada, { readme: "r", type: "http" })
    for (const version of [2, 3]) {
      const code = `version ${version}`
      const { json } = expectStatus(
        await call("POST", `/v1/vals/${made.id}/versions`, { as: ada, body: { code } }),
        201,
      )
      expect(json).toEqual({
        ...made,
        code,
        version,
        updatedAt: time,
        versionCreatedAt: json.updatedAt,
      })
      expect((await call("GET", `/v1/vals/${made.id}`)).json).toEqual(json)
    }
  })

  test("is 200 and creates no version for the current code", async () => {
    const { ada, id, path } = await withVersions(suite, 2)
    const before = (await call("GET", `/v1/vals/${id}`)).json
    expect(
      expectStatus(await call("POST", path, { as: ada, body: { code: "2" } }), 200).json,
    ).toEqual(before)
    expect((await call("GET", path)).json.data).toHaveLength(2)
  })

  test("creates a version for code that only an older version has", async () => {
    const { ada, path } = await withVersions(suite, 2)
    expect(
      expectStatus(await call("POST", path, { as: ada, body: { code: "1" } }), 201).json.version,
    ).toBe(3)
  })

  test("compares code including trailing spaces", async () => {
    const { ada, path } = await withVersions(suite, 1)
    expectStatus(await call("POST", path, { as: ada, body: { code: "1 " } }), 201)
    expectStatus(await call("POST", path, { as: ada, body: { code: "1\n" } }), 201)
  })

  test("accepts name, readme, privacy and type too, also with the current code", async () => {
    const { ada, id, path } = await withVersions(suite, 1)
    const body = { name: "renamed", readme: "new", privacy: "unlisted", type: "httpnext" }
    const { json } = expectStatus(
      await call("POST", path, { as: ada, body: { code: "2", ...body } }),
      201,
    )
    expect(json).toMatchObject({ id, version: 2, ...body, type: "http" })
    const again = expectStatus(
      await call("POST", path, { as: ada, body: { code: "2", readme: "newer" } }),
      200,
    )
    expect(again.json).toMatchObject({ version: 3, code: "2", readme: "newer", name: "renamed" })
  })

  test("refuses a name that is taken, and saves nothing", async () => {
    const { ada, id, path } = await withVersions(suite, 1)
    await val(ada, { name: "taken" })
    const before = (await call("GET", `/v1/vals/${id}`)).json
    expect(
      refusalOf(await call("POST", path, { as: ada, body: { code: "2", name: "TAKEN" } })),
    ).toEqual([409, "name_taken"])
    expect((await call("GET", `/v1/vals/${id}`)).json).toEqual(before)
  })

  test("accepts a val as it was read, with other code", async () => {
    const { ada, id, path } = await withVersions(suite, 2)
    const read = (await call("GET", `/v1/vals/${id}`)).json
    const { json } = expectStatus(
      await call("POST", path, { as: ada, body: { ...read, code: "changed" } }),
      201,
    )
    expect(json).toMatchObject({
      id,
      name: read.name,
      version: 3,
      code: "changed",
      createdAt: read.createdAt,
    })
  })

  for (const body of [
    {},
    { code: "" },
    { code: null },
    { code: 1 },
    { code: "1", name: "a b" },
    [],
    "1",
  ]) {
    test(`refuses ${JSON.stringify(body)}`, async () => {
      const { ada, path } = await withVersions(suite, 1)
      expect(refusalOf(await call("POST", path, { as: ada, body: JSON.stringify(body) }))).toEqual([
        400,
        "invalid_request",
      ])
      expect((await call("GET", path)).json.data).toHaveLength(1)
    })
  }

  test("is 403 on another user's val, and 404 where the caller cannot see it", async () => {
    const bob = await person()
    const shown = await withVersions(suite, 1)
    const hidden = await withVersions(suite, 1, { privacy: "private" })
    expect(refusalOf(await call("POST", shown.path, { as: bob, body: { code: "x" } }))).toEqual([
      403,
      "not_owner",
    ])
    expect(refusalOf(await call("POST", hidden.path, { as: bob, body: { code: "x" } }))).toEqual([
      404,
      "val_not_found",
    ])
    expect(
      refusalOf(
        await call("POST", `/v1/vals/${missing}/versions`, { as: bob, body: { code: "x" } }),
      ),
    ).toEqual([404, "val_not_found"])
    expect(refusalOf(await call("POST", shown.path, { body: { code: "x" } }))).toEqual([
      401,
      "unauthenticated",
    ])
  })
}

function defineGet(suite: ApiSuite): void {
  const { call, addUser: person } = suite
  const shared = once(() => withVersions(suite, 2))

  test("is the whole val with the code, number and time of that version", async () => {
    const { ada, id, path } = await withVersions(suite, 2)
    expectStatus(await call("PUT", `/v1/vals/${id}/like`, { as: ada }), 204)
    expectStatus(await call("PUT", `/v1/vals/${id}`, { as: ada, body: { readme: "later" } }), 204)
    const current = (await call("GET", `/v1/vals/${id}`)).json
    const listed = (await call("GET", path)).json.data
    const older = { ...current, readme: null, summary: "1", code: "1" }
    expect(expectStatus(await call("GET", `${path}/1`), 200).json).toEqual({
      ...older,
      version: 1,
      versionCreatedAt: listed[2].createdAt,
    })
    expect(expectStatus(await call("GET", `${path}/3`), 200).json).toEqual(current)
  })

  for (const version of [
    "0",
    "3",
    "007",
    "2147483648",
    "999999999999999",
    "99999999999999999999999",
  ]) {
    test(`is 404 for version ${version}, which does not exist`, async () => {
      const { path } = await shared()
      expect(refusalOf(await call("GET", `${path}/${version}`))).toEqual([404, "version_not_found"])
    })
  }

  for (const version of ["-1", "1.5", "latest", "1e0", "0x1", "%201", "+1", "null"]) {
    test(`is 400 for version ${version}, which is not a number`, async () => {
      const { path } = await shared()
      const response = await call("GET", `${path}/${version}`)
      expect(refusalOf(response)).toEqual([400, "invalid_request"])
      expect(response.json.issues[0].path).toBe("version")
    })
  }

  test("is 404 for a private val of another user, whatever the version", async () => {
    const { ada, path } = await withVersions(suite, 1, { privacy: "private" })
    expectStatus(await call("GET", `${path}/1`, { as: ada }), 200)
    for (const version of [1, 2]) {
      expect(refusalOf(await call("GET", `${path}/${version}`, { as: await person() }))).toEqual([
        404,
        "val_not_found",
      ])
    }
  })
}

function defineDelete(suite: ApiSuite): void {
  const { call, addUser: person } = suite
  const numbersOf = async (path: string) =>
    (await call("GET", path)).json.data.map(({ version }: { version: number }) => version)

  test("is 204 and leaves a gap", async () => {
    const { ada, id, path, name } = await withVersions(suite, 3)
    expect(expectStatus(await call("DELETE", `${path}/2`, { as: ada }), 204).text).toBe("")
    expect(await numbersOf(path)).toEqual([3, 1])
    expect(refusalOf(await call("GET", `${path}/2`))).toEqual([404, "version_not_found"])
    expect(refusalOf(await call("GET", `/v/${ada.username}/${name}@2`))).toEqual([
      404,
      "version_not_found",
    ])
    expect((await call("GET", `/v1/vals/${id}`)).json).toMatchObject({ version: 3, code: "3" })
  })

  test("of the current version makes the highest remaining one current", async () => {
    const { ada, id, path, name } = await withVersions(suite, 4)
    expectStatus(await call("DELETE", `${path}/3`, { as: ada }), 204)
    expectStatus(await call("DELETE", `${path}/4`, { as: ada }), 204)
    const { json } = await call("GET", `/v1/vals/${id}`)
    expect(json).toMatchObject({ version: 2, code: "2" })
    expect(json.versionCreatedAt).toBe((await call("GET", path)).json.data[0].createdAt)
    const headers = { "user-agent": "Deno/2.9.5" }
    expect((await call("GET", `/v/${ada.username}/${name}`, { headers })).text).toBe("2")
  })

  test("never reuses a number", async () => {
    const { ada, path } = await withVersions(suite, 3)
    for (const version of [3, 2])
      expectStatus(await call("DELETE", `${path}/${version}`, { as: ada }), 204)
    expect(
      expectStatus(await call("POST", path, { as: ada, body: { code: "new" } }), 201).json.version,
    ).toBe(4)
    expect(await numbersOf(path)).toEqual([4, 1])
  })

  test("compares the next save with the new current version", async () => {
    const { ada, path } = await withVersions(suite, 2)
    expectStatus(await call("DELETE", `${path}/2`, { as: ada }), 204)
    expect(
      expectStatus(await call("POST", path, { as: ada, body: { code: "1" } }), 200).json.version,
    ).toBe(1)
    expect(
      expectStatus(await call("POST", path, { as: ada, body: { code: "2" } }), 201).json.version,
    ).toBe(3)
  })

  test("refuses to delete the only version, with x-should-retry: false", async () => {
    const { ada, id, path } = await withVersions(suite, 2)
    expectStatus(await call("DELETE", `${path}/1`, { as: ada }), 204)
    const response = await call("DELETE", `${path}/2`, { as: ada })
    expect(refusalOf(response)).toEqual([409, "last_version"])
    expect(response.headers.get("x-should-retry")).toBe("false")
    expect((await call("GET", `/v1/vals/${id}`)).json.version).toBe(2)
  })

  test("is 404 for a missing version, and for a second deletion", async () => {
    const { ada, path } = await withVersions(suite, 2)
    expectStatus(await call("DELETE", `${path}/1`, { as: ada }), 204)
    for (const version of ["1", "0", "9", "2147483647", "2147483648", "99999999999999999999999"]) {
      expect(refusalOf(await call("DELETE", `${path}/${version}`, { as: ada }))).toEqual([
        404,
        "version_not_found",
      ])
    }
    expect(refusalOf(await call("DELETE", `${path}/x`, { as: ada }))).toEqual([
      400,
      "invalid_request",
    ])
    expect(await numbersOf(path)).toEqual([2])
  })

  test("is 403 on another user's val, and 404 where the caller cannot see it", async () => {
    const bob = await person()
    const shown = await withVersions(suite, 2)
    const hidden = await withVersions(suite, 2, { privacy: "private" })
    expect(refusalOf(await call("DELETE", `${shown.path}/1`, { as: bob }))).toEqual([
      403,
      "not_owner",
    ])
    expect(refusalOf(await call("DELETE", `${hidden.path}/1`, { as: bob }))).toEqual([
      404,
      "val_not_found",
    ])
    expect(refusalOf(await call("DELETE", `/v1/vals/${missing}/versions/1`, { as: bob }))).toEqual([
      404,
      "val_not_found",
    ])
    expect(await numbersOf(shown.path)).toEqual([2, 1])
  })
}
