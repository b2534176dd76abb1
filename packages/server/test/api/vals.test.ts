import { describe, expect, test } from "bun:test"
import { limits } from "@hamlet/contract"
import { expectStatus, type TestUser, testBaseUrl } from "../support/api.ts"
import { type ApiSuite, describeApi, idsOf, namesOf, once, refusalOf } from "./suite.ts"

const missing = "01890000-0000-7000-8000-000000000000"
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

/** Names that no val may have. */
const wrongNames = [
  "",
  "1st",
  "_x",
  "a+b",
  "a b",
  "a.b",
  "é",
  "a\n",
  "a/b",
  "x".repeat(limits.nameCharsMax + 1),
  7,
  null,
  ["a"],
] as const

describeApi("api/vals", (suite) => {
  describe("POST /v1/vals", () => definePost(suite))
  describe("PUT /v1/vals", () => definePut(suite))
  describe("GET /v1/vals/{val_id}", () => defineGet(suite))
  describe("PUT /v1/vals/{val_id}", () => defineUpdate(suite))
  describe("DELETE /v1/vals/{val_id}", () => defineDelete(suite))
  describe("GET /v1/vals", () => defineList(suite))
})

function definePost(suite: ApiSuite): void {
  const { call, addUser: person, sharedUser: anybody, val } = suite
  test("is 200 with the val, with every key", async () => {
    const ada = await person()
    const body = {
      name: "hello",
      code: "export default 1",
      readme: "# Hello",
      privacy: "unlisted",
      type: "interval",
    }
    const { json } = expectStatus(await call("POST", "/v1/vals", { as: ada, body }), 200)
    const self = `${testBaseUrl}/v1/vals/${json.id}`
    expect(json).toEqual({
      ...body,
      id: expect.stringMatching(
        /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      ),
      description: null,
      version: 1,
      summary: "Hello",
      public: false,
      url: `${testBaseUrl}/u/${ada.username}/hello`,
      links: {
        self,
        versions: `${self}/versions`,
        module: `${testBaseUrl}/v/${ada.username}/hello`,
      },
      author: { id: ada.id, username: ada.username },
      likeCount: 0,
      referenceCount: 0,
      forkCount: 0,
      files: 2,
      branchCount: 1,
      forkedFrom: null,
      createdAt: time,
      updatedAt: json.createdAt,
      versionCreatedAt: json.createdAt,
      runStartAt: null,
      runEndAt: null,
    })
    expect((await call("GET", `/v1/vals/${json.id}`)).json).toEqual(json)
  })

  test("with code only creates a private script without a readme, with a generated name", async () => {
    const { json } = expectStatus(
      await call("POST", "/v1/vals", { as: await person(), body: { code: "1" } }),
      200,
    )
    expect(json).toMatchObject({
      privacy: "private",
      public: false,
      type: "script",
      readme: null,
      code: "1",
      version: 1,
    })
    expect(json.name).toMatch(/^[a-zA-Z][a-zA-Z0-9_]{0,47}$/)
  })

  for (const [sent, kept] of [
    ["http", "http"],
    ["script", "script"],
    ["interval", "interval"],
    ["email", "email"],
    ["httpnext", "http"],
    ["express", "http"],
  ] as const) {
    test(`creates a val of type ${kept} when the type is ${sent}`, async () => {
      const ada = await person()
      const made = await val(ada, { name: "Typed", type: sent })
      expect(made.type).toBe(kept)
      expect(made.links.endpoint).toBe(
        kept === "http" ? `http://${ada.username}-typed.hamlet.test` : undefined,
      )
    })
  }

  test("gives an http val with a name too long for a host name an address by its id", async () => {
    const long = expectStatus(
      await call("POST", "/v1/users", { as: suite.api.admin, body: { username: "u".repeat(30) } }),
      200,
    )
    const { json } = await call("POST", "/v1/vals", {
      as: long.json.token,
      body: { code: "1", type: "http", name: "v".repeat(48) },
    })
    expect(json.links.endpoint).toBe(`http://${json.id.replaceAll("-", "")}.hamlet.test`)
  })

  for (const privacy of ["public", "unlisted", "private"]) {
    test(`has the field public of a ${privacy} val`, async () => {
      expect(await val(await person(), { privacy })).toMatchObject({
        privacy,
        public: privacy === "public",
      })
    })
  }

  test("ignores unknown keys", async () => {
    const ada = await person()
    const made = await val(ada, {
      id: missing,
      version: 9,
      likeCount: 5,
      author: { id: missing },
      createdAt: "1999",
      nonsense: {},
    })
    expect(made).toMatchObject({ version: 1, likeCount: 0, author: { id: ada.id } })
    expect(made.id).not.toBe(missing)
  })

  test("accepts the longest and the shortest name, code and readme", async () => {
    const ada = await person()
    const longest = {
      name: "n".repeat(limits.nameCharsMax),
      code: "c".repeat(limits.codeCharsMax),
      readme: "r".repeat(limits.readmeCharsMax),
    }
    expect(await val(ada, longest)).toMatchObject(longest)
    const shortest = { name: "n", code: "\n", readme: "" }
    expect(await val(ada, shortest)).toMatchObject(shortest)
  })

  test("keeps every character of code and readme", async () => {
    const text = "\ufeff\r\n\t'\"\\`${x}%_ é İ ß 中文 😀👩‍👩‍👧 \u2028\uffff\u007f"
    const made = await val(await person(), { code: text, readme: text })
    expect((await call("GET", `/v1/vals/${made.id}`)).json).toMatchObject({
      code: text,
      readme: text,
    })
  })

  for (const [field, wrong] of [
    ...wrongNames.map((name) => ["name", name] as const),
    ...["", "c".repeat(limits.codeCharsMax + 1), "a\0b", "\ud800", 1, null, undefined].map(
      (code) => ["code", code] as const,
    ),
    ...["r".repeat(limits.readmeCharsMax + 1), "a\0b", "\udfff", 1].map(
      (readme) => ["readme", readme] as const,
    ),
    ...["secret", "Public", "", 1, null].map((privacy) => ["privacy", privacy] as const),
    ...["cron", "HTTP", "", null].map((type) => ["type", type] as const),
  ]) {
    test(`refuses ${field} ${JSON.stringify(wrong)?.slice(0, 30)} and names the field`, async () => {
      const ada = await anybody()
      const response = await call("POST", "/v1/vals", {
        as: ada,
        body: { code: "1", [field]: wrong },
      })
      expect(refusalOf(response)).toEqual([400, "invalid_request"])
      expect(response.json.issues[0].path).toBe(field)
      expect(response.json.message).toContain(field)
      expect(namesOf(await call("GET", `/v1/users/${ada.id}/vals`, { as: ada }))).toEqual([])
    })
  }

  test("refuses a name that the owner has, ignoring case, with x-should-retry: false", async () => {
    const [ada, bob] = [await person(), await person()]
    await val(ada, { name: "Hello" })
    const response = await call("POST", "/v1/vals", { as: ada, body: { name: "hELLO", code: "1" } })
    expect(refusalOf(response)).toEqual([409, "name_taken"])
    expect(response.headers.get("x-should-retry")).toBe("false")
    expect(await val(bob, { name: "hello" })).toMatchObject({ name: "hello" })
  })

  test("has working links to the val, its versions and its module", async () => {
    const made = await val(await person(), { code: "export const x: number = 1" })
    const path = (url: string) => url.replace(testBaseUrl, "")
    expect((await call("GET", path(made.links.self))).json).toEqual(made)
    expect((await call("GET", path(made.links.versions))).json.data).toHaveLength(1)
    expect((await call("GET", path(made.links.module))).text).toStartWith("export const x = 1")
  })
}

function definePut({ call, addUser: person, sharedUser: anybody, val }: ApiSuite): void {
  test("creates the val when the name is free, and is 200 with it", async () => {
    const ada = await person()
    const { json } = expectStatus(
      await call("PUT", "/v1/vals", { as: ada, body: { name: "fresh", code: "1" } }),
      200,
    )
    expect(json).toMatchObject({
      name: "fresh",
      code: "1",
      version: 1,
      privacy: "private",
      type: "script",
      readme: null,
    })
    expect((await call("GET", `/v1/vals/${json.id}`, { as: ada })).json).toEqual(json)
  })

  test("saves the code as the next version of the val with that name, and changes nothing else", async () => {
    const ada = await person()
    const made = await val(ada, { name: "kept", readme: "r", type: "email", privacy: "unlisted" })
    const { json } = expectStatus(
      await call("PUT", "/v1/vals", { as: ada, body: { name: "kept", code: "2" } }),
      200,
    )
    expect(json).toEqual({
      ...made,
      code: "2",
      version: 2,
      updatedAt: time,
      versionCreatedAt: json.updatedAt,
    })
  })

  test("accepts readme, privacy and type too", async () => {
    const ada = await person()
    const { id } = await val(ada, { name: "all" })
    const body = { name: "all", code: "2", readme: "new", privacy: "unlisted", type: "express" }
    const { json } = expectStatus(await call("PUT", "/v1/vals", { as: ada, body }), 200)
    expect(json).toMatchObject({ id, version: 2, readme: "new", privacy: "unlisted", type: "http" })
    const cleared = expectStatus(
      await call("PUT", "/v1/vals", { as: ada, body: { name: "all", code: "2", readme: null } }),
      200,
    )
    expect(cleared.json).toMatchObject({
      id,
      version: 3,
      readme: null,
      privacy: "unlisted",
      type: "http",
    })
  })

  test("with the current code creates no version, and changes nothing", async () => {
    const ada = await person()
    const made = await val(ada, { name: "same" })
    expect(
      (await call("PUT", "/v1/vals", { as: ada, body: { name: "same", code: "1" } })).json,
    ).toEqual(made)
    expect((await call("GET", `/v1/vals/${made.id}`)).json).toEqual(made)
  })

  test("overwrites no val whose name differs in case, and sends x-should-retry: false", async () => {
    const ada = await person()
    const made = await val(ada, { name: "CamelCase" })
    const response = await call("PUT", "/v1/vals", {
      as: ada,
      body: { name: "camelcase", code: "2" },
    })
    expect(refusalOf(response)).toEqual([409, "name_taken"])
    expect(response.json.message).toBe(
      'Cannot save val "camelcase": you already have "CamelCase", and names that differ only in case, or in - and _, are the same',
    )
    expect(response.headers.get("x-should-retry")).toBe("false")
    expect((await call("GET", `/v1/vals/${made.id}`, { as: ada })).json).toEqual(made)
  })

  test("does not change another user's val of the same name", async () => {
    const [ada, bob] = [await person(), await person()]
    const hers = await val(ada, { name: "shared" })
    const { json } = expectStatus(
      await call("PUT", "/v1/vals", { as: bob, body: { name: "shared", code: "his" } }),
      200,
    )
    expect(json.id).not.toBe(hers.id)
    expect((await call("GET", `/v1/vals/${hers.id}`)).json).toEqual(hers)
  })

  for (const body of [
    { code: "1" },
    { name: "a" },
    { name: "a", code: "" },
    { name: "a b", code: "1" },
    {},
    [],
    "text",
    1,
    null,
  ]) {
    test(`refuses ${JSON.stringify(body)}`, async () => {
      const response = await call("PUT", "/v1/vals", {
        as: await anybody(),
        body: JSON.stringify(body),
      })
      expect(refusalOf(response)).toEqual([400, "invalid_request"])
    })
  }
}

function defineGet({ call, addUser: person, val }: ApiSuite): void {
  for (const privacy of ["public", "unlisted"]) {
    test(`shows a ${privacy} val to all, with or without a token`, async () => {
      const made = await val(await person(), { privacy })
      expect(expectStatus(await call("GET", `/v1/vals/${made.id}`), 200).json).toEqual(made)
      expect(
        expectStatus(await call("GET", `/v1/vals/${made.id}`, { as: await person() }), 200).json,
      ).toEqual(made)
    })
  }

  test("shows a private val to its owner, and is 404 for all others", async () => {
    const ada = await person()
    const made = await val(ada, { privacy: "private" })
    expect(expectStatus(await call("GET", `/v1/vals/${made.id}`, { as: ada }), 200).json).toEqual(
      made,
    )
    for (const as of [undefined, await person()]) {
      expect(refusalOf(await call("GET", `/v1/vals/${made.id}`, { as }))).toEqual([
        404,
        "val_not_found",
      ])
    }
  })

  test("accepts an id in capitals", async () => {
    const made = await val(await person())
    expect(expectStatus(await call("GET", `/v1/vals/${made.id.toUpperCase()}`), 200).json).toEqual(
      made,
    )
  })

  test("is 404 for an unknown id, and 400 for an invalid one", async () => {
    expect(refusalOf(await call("GET", `/v1/vals/${missing}`))).toEqual([404, "val_not_found"])
    for (const id of [
      "1",
      "nonsense",
      `${missing}0`,
      missing.replaceAll("-", ""),
      `{${missing}}`,
      "null",
      "%00",
    ]) {
      const response = await call("GET", `/v1/vals/${id}`)
      expect(refusalOf(response)).toEqual([400, "invalid_request"])
      expect(response.json.issues[0].path).toBe("val_id")
    }
  })
}

function defineUpdate({ call, addUser: person, val }: ApiSuite): void {
  for (const change of [
    { name: "renamed" },
    { privacy: "unlisted" },
    { readme: "new" },
    { readme: null },
    { readme: "" },
    { type: "http" },
    { type: "httpnext" },
  ]) {
    test(`changes ${JSON.stringify(change)} and nothing else`, async () => {
      const ada = await person()
      const made = await val(ada, { name: "before", readme: "old" })
      expect(
        expectStatus(await call("PUT", `/v1/vals/${made.id}`, { as: ada, body: change }), 204).text,
      ).toBe("")
      const { json } = await call("GET", `/v1/vals/${made.id}`)
      const expected = { ...change, ...("type" in change ? { type: "http" } : {}) }
      const { url: _url, links: _links, updatedAt: _updatedAt, public: _public, ...other } = made
      const { versionCreatedAt: _versionCreatedAt, files: _files, ...rest } = other
      const isOfFiles = "readme" in change || "type" in change
      const summary = "readme" in change ? change.readme || made.code : made.summary
      const version = isOfFiles ? 2 : 1
      expect(json).toMatchObject({ ...rest, version, summary, ...expected })
      expect(Date.parse(json.updatedAt)).toBeGreaterThanOrEqual(Date.parse(made.updatedAt))
    })
  }

  test("changes the addresses of a renamed val, and frees the old name", async () => {
    const ada = await person()
    const made = await val(ada, { name: "old" })
    expectStatus(await call("PUT", `/v1/vals/${made.id}`, { as: ada, body: { name: "new" } }), 204)
    const { json } = expectStatus(await call("GET", `/v1/alias/${ada.username}/new`), 200)
    expect(json).toMatchObject({
      id: made.id,
      url: `${testBaseUrl}/u/${ada.username}/new`,
      links: { module: `${testBaseUrl}/v/${ada.username}/new` },
    })
    expectStatus(await call("GET", `/v1/alias/${ada.username}/old`), 404)
    expect((await val(ada, { name: "old" })).id).not.toBe(made.id)
  })

  test("changes nothing when all values are equal", async () => {
    const ada = await person()
    const made = await val(ada, { name: "still", readme: "r" })
    const body = { name: "still", readme: "r", privacy: "public", type: "script" }
    expectStatus(await call("PUT", `/v1/vals/${made.id}`, { as: ada, body }), 204)
    expect((await call("GET", `/v1/vals/${made.id}`)).json).toEqual(made)
  })

  test("ignores code, which only a version can change", async () => {
    const ada = await person()
    const made = await val(ada)
    expectStatus(
      await call("PUT", `/v1/vals/${made.id}`, {
        as: ada,
        body: { readme: "x", code: "2", version: 7 },
      }),
      204,
    )
    expect((await call("GET", `/v1/vals/${made.id}`)).json).toMatchObject({
      code: "1",
      version: 2,
      readme: "x",
    })
  })

  test("can change the case of a val's name", async () => {
    const ada = await person()
    const { id } = await val(ada, { name: "quiet" })
    expectStatus(await call("PUT", `/v1/vals/${id}`, { as: ada, body: { name: "QUIET" } }), 204)
    expect((await call("GET", `/v1/vals/${id}`)).json.name).toBe("QUIET")
  })

  test("refuses a name that another val of the owner has, ignoring case", async () => {
    const ada = await person()
    await val(ada, { name: "taken" })
    const made = await val(ada, { name: "mine" })
    const response = await call("PUT", `/v1/vals/${made.id}`, {
      as: ada,
      body: { name: "Taken", readme: "x" },
    })
    expect(refusalOf(response)).toEqual([409, "name_taken"])
    expect(response.headers.get("x-should-retry")).toBe("false")
    expect((await call("GET", `/v1/vals/${made.id}`)).json).toEqual(made)
  })

  const unchanged = once(async () => {
    const ada = await person()
    return { ada, made: await val(ada) }
  })
  for (const body of [
    {},
    { nonsense: 1 },
    { code: "2" },
    { name: "" },
    { privacy: "x" },
    { readme: 1 },
    [],
    null,
    "x",
    ...wrongNames.map((name) => ({ name })),
  ]) {
    test(`refuses ${JSON.stringify(body).slice(0, 40)}`, async () => {
      const { ada, made } = await unchanged()
      const response = await call("PUT", `/v1/vals/${made.id}`, {
        as: ada,
        body: JSON.stringify(body),
      })
      expect(refusalOf(response)).toEqual([400, "invalid_request"])
      expect((await call("GET", `/v1/vals/${made.id}`)).json).toEqual(made)
    })
  }

  test("is 403 on another user's val, and 404 where the caller cannot see it", async () => {
    const [ada, bob] = [await person(), await person()]
    for (const [privacy, refusal] of [
      ["public", [403, "not_owner"]],
      ["unlisted", [403, "not_owner"]],
      ["private", [404, "val_not_found"]],
    ] as const) {
      const { id } = await val(ada, { privacy })
      expect(
        refusalOf(await call("PUT", `/v1/vals/${id}`, { as: bob, body: { readme: "x" } })),
      ).toEqual(refusal)
    }
    expect(
      refusalOf(await call("PUT", `/v1/vals/${missing}`, { as: bob, body: { readme: "x" } })),
    ).toEqual([404, "val_not_found"])
  })
}

function defineDelete({ call, addUser: person, val }: ApiSuite): void {
  test("is 204, and removes the val from every list", async () => {
    const ada = await person()
    const { id, name } = await val(ada, { name: "doomed" })
    expectStatus(await call("PUT", `/v1/vals/${id}/like`, { as: ada }), 204)
    expect(expectStatus(await call("DELETE", `/v1/vals/${id}`, { as: ada }), 204).text).toBe("")
    for (const path of [
      "",
      "/versions",
      "/versions/1",
      "/comments",
      "/references",
      "/dependencies",
      "/runs",
    ]) {
      expect(refusalOf(await call("GET", `/v1/vals/${id}${path}`, { as: ada }))).toEqual([
        404,
        "val_not_found",
      ])
    }
    expectStatus(await call("GET", `/v1/alias/${ada.username}/${name}`), 404)
    expectStatus(await call("GET", `/v/${ada.username}/${name}`), 404)
    for (const path of [
      "/v1/vals",
      `/v1/users/${ada.id}/vals`,
      "/v1/me/likes",
      "/v1/search/vals?query=doomed",
    ]) {
      expect(idsOf(await call("GET", path, { as: ada }))).not.toContain(id)
    }
    expect(refusalOf(await call("DELETE", `/v1/vals/${id}`, { as: ada }))).toEqual([
      404,
      "val_not_found",
    ])
  })

  test("frees the name, and a new val with it begins at version 1", async () => {
    const ada = await person()
    const { id } = await val(ada, { name: "again" })
    expectStatus(
      await call("POST", `/v1/vals/${id}/versions`, { as: ada, body: { code: "2" } }),
      201,
    )
    expectStatus(await call("DELETE", `/v1/vals/${id}`, { as: ada }), 204)
    expect(await val(ada, { name: "AGAIN" })).toMatchObject({
      version: 1,
      likeCount: 0,
      referenceCount: 0,
    })
  })

  test("is 403 on another user's val, 404 where the caller cannot see it, and deletes nothing", async () => {
    const [ada, bob] = [await person(), await person()]
    const [shown, hidden] = [await val(ada), await val(ada, { privacy: "private" })]
    expect(refusalOf(await call("DELETE", `/v1/vals/${shown.id}`, { as: bob }))).toEqual([
      403,
      "not_owner",
    ])
    expect(refusalOf(await call("DELETE", `/v1/vals/${hidden.id}`, { as: bob }))).toEqual([
      404,
      "val_not_found",
    ])
    expect(refusalOf(await call("DELETE", `/v1/vals/${shown.id}`))).toEqual([
      401,
      "unauthenticated",
    ])
    expect(refusalOf(await call("DELETE", "/v1/vals/nonsense", { as: bob }))).toEqual([
      400,
      "invalid_request",
    ])
    for (const { id } of [shown, hidden])
      expectStatus(await call("GET", `/v1/vals/${id}`, { as: ada }), 200)
  })
}

function defineList({ call, addUser: person, val }: ApiSuite): void {
  /** Ada's vals of each privacy, oldest first. */
  async function three(ada: TestUser) {
    return [
      await val(ada),
      await val(ada, { privacy: "unlisted" }),
      await val(ada, { privacy: "private" }),
    ] as const
  }

  test("has all public vals and the caller's own, newest first", async () => {
    const [ada, bob] = [await person(), await person()]
    const [shown, unlisted, hidden] = await three(ada)
    const his = await val(bob)
    expect(idsOf(await call("GET", "/v1/vals?limit=2"))).toEqual([his.id, shown.id])
    expect(idsOf(await call("GET", "/v1/vals?limit=2", { as: bob }))).toEqual([his.id, shown.id])
    const own = await call("GET", "/v1/vals?limit=4", { as: ada })
    expect(idsOf(own)).toEqual([his.id, hidden.id, unlisted.id, shown.id])
    expect(own.json.data[3]).toEqual(shown)
  })

  test("is filtered by userId and privacy, and never shows more than the caller may find", async () => {
    const ada = await person()
    const [shown, unlisted, hidden] = await three(ada)
    const ask = async (query: string, as?: TestUser) =>
      idsOf(await call("GET", `/v1/vals?userId=${ada.id}${query}`, { as }))
    expect(await ask("", ada)).toEqual([hidden.id, unlisted.id, shown.id])
    expect(await ask("&privacy=public", ada)).toEqual([shown.id])
    expect(await ask("&privacy=unlisted", ada)).toEqual([unlisted.id])
    expect(await ask("&privacy=private", ada)).toEqual([hidden.id])
    for (const other of [undefined, await person()]) {
      expect(await ask("", other)).toEqual([shown.id])
      expect(await ask("&privacy=public", other)).toEqual([shown.id])
      expect(await ask("&privacy=unlisted", other)).toEqual([])
      expect(await ask("&privacy=private", other)).toEqual([])
    }
    expect(idsOf(await call("GET", "/v1/vals?privacy=private", { as: ada }))).toEqual([hidden.id])
    expect(idsOf(await call("GET", `/v1/vals?userId=${ada.id.toUpperCase()}`))).toEqual([shown.id])
    expect(idsOf(await call("GET", `/v1/vals?userId=${missing}`))).toEqual([])
  })

  test("refuses an invalid privacy or user id", async () => {
    for (const query of [
      "privacy=secret",
      "privacy=",
      "userId=me",
      "userId=",
      "privacy=public&privacy=private",
    ]) {
      expect(refusalOf(await call("GET", `/v1/vals?${query}`))).toEqual([400, "invalid_request"])
    }
  })
}
