import { describe, expect, test } from "bun:test"
import { limits } from "@hamlet/contract"
import { expectStatus, testBaseUrl } from "../support/api.ts"
import { type ApiSuite, describeApi, idsOf, refusalOf } from "./suite.ts"

const missing = "01890000-0000-7000-8000-000000000000"

describeApi("api/users", (suite) => {
  describe("GET /v1/users", () => defineList(suite))
  describe("POST /v1/users", () => defineCreate(suite))
  describe("GET /v1/users/{user_id}", () => defineById(suite))
  describe("GET /v1/alias/{username}", () => defineByName(suite))
  describe("GET /v1/alias/{username}/{val_name}", () => defineValByName(suite))
})

function defineList(suite: ApiSuite): void {
  const { call, addUser: person } = suite

  test("has the full profile of all users, and whether they are suspended, newest first, paged", async () => {
    const ada = await person()
    const bob = expectStatus(
      await call("POST", "/v1/users", {
        as: suite.api.admin.token,
        body: { username: "listed", email: "l@hamlet.test" },
      }),
      200,
    ).json
    const list = (query = "") => call("GET", `/v1/users${query}`, { as: suite.api.admin.token })

    const { data, links } = expectStatus(await list("?limit=2"), 200).json

    expect(data.map((user: { id: string }) => user.id)).toEqual([bob.id, ada.id])
    const { scopes: _, ...seen } = (await call("GET", "/v1/me", { as: bob.token })).json
    expect(data[0]).toEqual({ ...seen, suspendedAt: null, deletedAt: null })
    expect(links.next).toStartWith(`${testBaseUrl}/v1/users?limit=2&offset=2&cursor=`)
    expect(idsOf(await list("?offset=1&limit=1"))).toEqual([ada.id])
    expect(idsOf(await list("?limit=100"))).toContain(suite.api.admin.id)
  })

  test("requires the scope admin", async () => {
    expect(refusalOf(await call("GET", "/v1/users", { as: await person() }))).toEqual([
      403,
      "missing_scope",
    ])
    expect(refusalOf(await call("GET", "/v1/users"))).toEqual([401, "unauthenticated"])
  })
}

function defineCreate(suite: ApiSuite): void {
  const { call, addUser: person } = suite
  const create = (body: unknown, as = suite.api.admin.token) =>
    call("POST", "/v1/users", { as, body })

  test("is 200 with the user and a first token with all scopes except admin", async () => {
    const { json } = expectStatus(await create({ username: "newcomer" }), 200)
    expect(json).toEqual({
      id: expect.any(String),
      username: "newcomer",
      bio: null,
      profileImageUrl: null,
      url: `${testBaseUrl}/u/newcomer`,
      links: { self: `${testBaseUrl}/v1/users/${json.id}` },
      type: "user",
      createdAt: expect.any(String),
      token: expect.stringMatching(/^hamlet_[0-9A-Za-z]{36}$/),
    })
    const { token, ...user } = json
    expect((await call("GET", `/v1/users/${json.id}`)).json).toEqual(user)
    const [listed] = expectStatus(await call("GET", "/v1/me/tokens", { as: token }), 200).json.data
    const scopes = ["val", "user", "run", "blob", "sqlite"].flatMap((noun) => [
      `${noun}:read`,
      `${noun}:write`,
    ])
    scopes.push("email:write", "openai:write")
    expect([...listed.scopes].sort()).toEqual(scopes.sort())
  })

  test("requires the scope admin, and names the missing scope", async () => {
    const response = await create({ username: "sneaky" }, (await person()).token)
    expect(refusalOf(response)).toEqual([403, "missing_scope"])
    expect(response.json.message).toMatch(/required permissions.*admin/)
    expect(refusalOf(await call("POST", "/v1/users", { body: { username: "sneaky" } }))).toEqual([
      401,
      "unauthenticated",
    ])
    expectStatus(await call("GET", "/v1/alias/sneaky"), 404)
  })

  for (const body of [
    { username: "a" },
    { username: "Z".repeat(limits.usernameCharsMax) },
    { username: "a_1", email: null },
    { username: "withMail2", email: "a.b+c@hamlet.test" },
  ]) {
    test(`accepts ${JSON.stringify(body)}`, async () => {
      expect(expectStatus(await create(body), 200).json.username).toBe(body.username)
    })
  }

  for (const body of [
    {},
    ...[
      "",
      "1a",
      "_a",
      "a-b",
      "a b",
      "@ada",
      "é",
      "a".repeat(limits.usernameCharsMax + 1),
      5,
      null,
    ].map((username) => ({ username })),
    ...["", "nobody", "a@", 5, `${"a".repeat(limits.emailCharsMax)}@hamlet.test`].map((email) => ({
      username: "mailer",
      email,
    })),
  ]) {
    test(`refuses ${JSON.stringify(body).slice(0, 60)}`, async () => {
      expect(refusalOf(await create(body))).toEqual([400, "invalid_request"])
    })
  }

  test("refuses a taken name, ignoring case, with x-should-retry: false", async () => {
    const { username } = await person()
    const response = await create({ username: username.toUpperCase() })
    expect(refusalOf(response)).toEqual([409, "username_taken"])
    expect(response.headers.get("x-should-retry")).toBe("false")
  })
}

function defineById({ call, addUser: person, val }: ApiSuite): void {
  test("is the public view of the user", async () => {
    const ada = await person()
    const { json } = await call("GET", "/v1/me", { as: ada })
    const { email: _email, emailVerified: _verified, tier: _tier, scopes: _, ...user } = json
    expect(expectStatus(await call("GET", `/v1/users/${ada.id}`), 200).json).toEqual(user)
    expect(
      expectStatus(await call("GET", `/v1/users/${ada.id.toUpperCase()}`, { as: ada }), 200).json,
    ).toEqual(user)
  })

  test("and its list of vals are 404 for an unknown user, and 400 for an invalid id", async () => {
    for (const path of ["", "/vals"]) {
      expect(refusalOf(await call("GET", `/v1/users/${missing}${path}`))).toEqual([
        404,
        "user_not_found",
      ])
      expect(refusalOf(await call("GET", `/v1/users/me${path}`))).toEqual([400, "invalid_request"])
    }
  })

  test("/vals has the vals that the caller can find, newest first", async () => {
    const ada = await person()
    const [shown, unlisted, hidden] = [
      await val(ada),
      await val(ada, { privacy: "unlisted" }),
      await val(ada, { privacy: "private" }),
    ]
    await val(await person())
    const path = `/v1/users/${ada.id}/vals`
    expect(idsOf(await call("GET", path, { as: ada }))).toEqual([hidden.id, unlisted.id, shown.id])
    expect(expectStatus(await call("GET", path), 200).json.data).toEqual([shown])
    expect(idsOf(await call("GET", path, { as: await person() }))).toEqual([shown.id])
    expect(idsOf(await call("GET", `${path}?limit=1&offset=1`, { as: ada }))).toEqual([unlisted.id])
  })
}

function defineByName({ call, addUser: person }: ApiSuite): void {
  test("ignores case, and accepts an @ before the name", async () => {
    const ada = await person()
    const user = (await call("GET", `/v1/users/${ada.id}`)).json
    for (const name of [
      ada.username,
      `@${ada.username}`,
      ada.username.toUpperCase(),
      `%40${ada.username}`,
      `${ada.username}/`,
    ]) {
      expect(expectStatus(await call("GET", `/v1/alias/${name}`), 200).json).toEqual(user)
    }
  })

  test("is 404 for an unknown name, and for an invalid one", async () => {
    for (const name of ["nobody", "a-b", "@", "%C3%A9", "a%2Fb", "%25", "person", "' or 1=1"]) {
      expect(
        refusalOf(await call("GET", `/v1/alias/${encodeURI(name).replaceAll("%25", "%")}`)),
      ).toEqual([404, "user_not_found"])
    }
  })

  test("removes one @, not two", async () => {
    const ada = await person()
    expect(refusalOf(await call("GET", `/v1/alias/@@${ada.username}`))).toEqual([
      404,
      "user_not_found",
    ])
  })
}

function defineValByName({ call, addUser: person, val }: ApiSuite): void {
  test("ignores the case of both names, and accepts an @", async () => {
    const ada = await person()
    const made = await val(ada, { name: "MyVal" })
    for (const path of [
      `${ada.username}/MyVal`,
      `@${ada.username}/myval`,
      `${ada.username.toUpperCase()}/MYVAL/`,
    ]) {
      expect(expectStatus(await call("GET", `/v1/alias/${path}`), 200).json).toEqual(made)
    }
  })

  test("shows an unlisted val to all, and a private one to its owner", async () => {
    const ada = await person()
    const [unlisted, hidden] = [
      await val(ada, { privacy: "unlisted" }),
      await val(ada, { privacy: "private" }),
    ]
    expect((await call("GET", `/v1/alias/${ada.username}/${unlisted.name}`)).json).toEqual(unlisted)
    expect(
      (await call("GET", `/v1/alias/${ada.username}/${hidden.name}`, { as: ada })).json,
    ).toEqual(hidden)
    expect(refusalOf(await call("GET", `/v1/alias/${ada.username}/${hidden.name}`))).toEqual([
      404,
      "val_not_found",
    ])
  })

  test("is 404 for an unknown user or val", async () => {
    const ada = await person()
    for (const path of [
      `${ada.username}/nothing`,
      "nobody/nothing",
      `${ada.username}/a-b`,
      `${ada.username}/x@1`,
    ]) {
      expect(refusalOf(await call("GET", `/v1/alias/${path}`))).toEqual([404, "val_not_found"])
    }
  })
}
