import { afterEach, describe, expect, setSystemTime, test } from "bun:test"
import { limits } from "@hamlet/contract"
import { expectStatus, type TestUser } from "../support/api.ts"
import { dumpDatabase } from "./dump.ts"
import { type ApiSuite, describeApi, idsOf, refusalOf } from "./suite.ts"

const missing = "01890000-0000-7000-8000-000000000000"

describeApi("api/tokens", (suite) => {
  afterEach(() => void setSystemTime())
  describe("POST /v1/me/tokens", () => defineCreate(suite))
  describe("GET /v1/me/tokens", () => defineList(suite))
  describe("DELETE /v1/me/tokens/{token_id}", () => defineRevoke(suite))
  describe("a token", () => defineUse(suite))
  describe("the token of the setting", () => defineSetting(suite))
})

function defineSetting(suite: ApiSuite): void {
  const { call, addUser: person } = suite
  const start = (token: string | undefined) =>
    suite.api.hamlet.nouns.users.ensureFirst({ username: "admin", token })
  const statusFor = async (as: string) => (await call("GET", "/v1/me", { as })).status

  test("replaces the previous one, ends its sessions, and leaves other tokens unchanged", async () => {
    const { admin, hamlet } = suite.api
    const [first, second] = [
      "first-of-the-setting-".repeat(2),
      `hamlet_${"second-of-the-setting-".repeat(2)}`,
    ]
    await start(first)
    const { text } = await hamlet.nouns.sessions.signIn({
      token: first,
      userAgent: null,
      replaced: undefined,
    })
    const { token: own } = expectStatus(
      await toCreate(suite)(first, { name: "own", scopes: ["user:read"] }),
      200,
    ).json
    const other = await person()
    await start(first)
    await start(undefined)
    expect(await statusFor(first)).toBe(200)

    // Nodes that start together.
    await Promise.all([start(second), start(second)])

    expect(
      await Promise.all([first, second, own, admin.token, other.token].map(statusFor)),
    ).toEqual([401, 200, 200, 200, 200])
    expect(await hamlet.nouns.tokens.authenticateSession(text)).toBeUndefined()
    const { data } = expectStatus(
      await call("GET", "/v1/me/tokens?limit=100", { as: admin.token }),
      200,
    ).json
    expect(
      data.filter((token: { name: string }) => token.name === "token of the setting"),
    ).toHaveLength(1)
  })

  test("may equal a token of the first user, but not one of another user", async () => {
    const { admin } = suite.api
    const other = await person()
    const { token: chosen } = expectStatus(
      await toCreate(suite)(admin.token, { name: "chosen", scopes: ["user:read"] }),
      200,
    ).json
    await start(chosen)
    await start(other.token)
    expect(await Promise.all([chosen, other.token].map(statusFor))).toEqual([401, 200])
    expect((await call("GET", "/v1/me", { as: other.token })).json.id).toBe(other.id)
    await start("third-of-the-setting-".repeat(2))
    expect(await statusFor(other.token)).toBe(200)
  })
}

function toCreate({ call }: ApiSuite) {
  return (as: TestUser | string, fields: Readonly<Record<string, unknown>> = {}) =>
    call("POST", "/v1/me/tokens", { as, body: { name: "t", scopes: ["val:read"], ...fields } })
}

function defineCreate(suite: ApiSuite): void {
  const { call, addUser: person, sharedUser: anybody } = suite
  const create = toCreate(suite)

  test("is 200 with the token and its plain text, which works at once", async () => {
    const ada = await person()
    const { json } = expectStatus(
      await create(ada, { name: "laptop", scopes: ["user:read", "val:write"] }),
      200,
    )
    expect(json).toEqual({
      id: expect.any(String),
      name: "laptop",
      scopes: ["user:read", "val:write"],
      createdAt: expect.stringMatching(/Z$/),
      expiresAt: null,
      lastUsedAt: null,
      token: expect.stringMatching(/^hamlet_[0-9A-Za-z]{36}$/),
    })
    expect((await call("GET", "/v1/me", { as: json.token })).json.id).toBe(ada.id)
  })

  test("stores a repeated scope once", async () => {
    const { json } = expectStatus(
      await create(await person(), { scopes: ["val:read", "run:read", "val:read"] }),
      200,
    )
    expect(json.scopes).toEqual(["val:read", "run:read"])
  })

  for (const [sent, kept] of [
    ["2999-01-01T00:00:00Z", "2999-01-01T00:00:00.000Z"],
    ["2999-01-01T00:00:00.5+02:00", "2998-12-31T22:00:00.500Z"],
    ["2999-01-01T00:00:00", "2999-01-01T00:00:00.000Z"],
    ["2999-01-01", "2999-01-01T00:00:00.000Z"],
    [null, null],
  ] as const) {
    test(`accepts expiresAt ${sent}`, async () => {
      expect(
        expectStatus(await create(await person(), { expiresAt: sent }), 200).json.expiresAt,
      ).toBe(kept)
    })
  }

  for (const fields of [
    ...["", "x".repeat(limits.tokenNameCharsMax + 1), "a\0b", 1, null, undefined].map((name) => ({
      name,
    })),
    ...[[], ["everything"], ["val:read", "val:delete"], "val:read", null, undefined, [null]].map(
      (scopes) => ({ scopes }),
    ),
    ...["tomorrow", "2999-02-30T00:00:00Z", "", 5, "2001-01-01T00:00:00Z", "2001-01-01"].map(
      (expiresAt) => ({ expiresAt }),
    ),
  ]) {
    test(`refuses ${JSON.stringify(fields).slice(0, 60)}`, async () => {
      const ada = await anybody()
      expect(refusalOf(await create(ada, fields))).toEqual([400, "invalid_request"])
      expect(idsOf(await call("GET", "/v1/me/tokens", { as: ada }))).toHaveLength(1)
    })
  }

  test("grants no scope that the caller's token does not have", async () => {
    const ada = await person()
    const small = expectStatus(await create(ada, { scopes: ["user:write", "val:read"] }), 200).json
      .token
    expectStatus(await create(small, { scopes: ["val:read"] }), 200)
    const response = await create(small, { scopes: ["val:read", "val:write"] })
    expect(refusalOf(response)).toEqual([403, "scope_escalation"])
    expect(response.json.message).toMatch(/val:write.*required permissions/)
    expect(refusalOf(await create(ada, { scopes: ["admin"] }))).toEqual([403, "scope_escalation"])
    expectStatus(await create(suite.api.admin, { scopes: ["admin"] }), 200)
  })

  test("leaves no readable token in the database", async () => {
    const { json } = expectStatus(await create(await person()), 200)
    const dump = await dumpDatabase(suite.database)
    expect(dump).toContain(json.id)
    expect(dump).not.toContain(json.token)
    expect(dump).not.toContain(json.token.slice("hamlet_".length, -6))
  })
}

function defineList(suite: ApiSuite): void {
  const { call, addUser: person } = suite
  const create = toCreate(suite)

  test("has the caller's tokens, newest first, without their plain text", async () => {
    const [ada, bob] = [await person(), await person()]
    const [one, two] = [
      (await create(ada, { name: "one" })).json,
      (await create(ada, { name: "two" })).json,
    ]
    await create(bob)
    // Uses are written a moment later, at any time; this writes them now.
    await suite.api.hamlet.nouns.tokenUses.stop()
    const { json } = expectStatus(await call("GET", "/v1/me/tokens", { as: ada }), 200)
    const { token: _one, ...first } = one
    const { token: _two, ...second } = two
    expect(json.data).toEqual([
      second,
      first,
      {
        ...first,
        id: expect.any(String),
        name: "first token",
        createdAt: expect.any(String),
        scopes: expect.any(Array),
        lastUsedAt: expect.any(String),
      },
    ])
    expect(idsOf(await call("GET", "/v1/me/tokens?limit=1&offset=1", { as: ada }))).toEqual([
      one.id,
    ])
  })

  test("has the last use of a token", async () => {
    const ada = await person()
    const { json } = await create(ada)
    const before = Date.now()
    expectStatus(await call("GET", "/v1/vals", { as: json.token }), 200)
    // Uses are written a moment later, together; this writes them now.
    await suite.api.hamlet.nouns.tokenUses.stop()
    const listed = (await call("GET", "/v1/me/tokens", { as: ada })).json.data.find(
      ({ id }: { id: string }) => id === json.id,
    )
    expect(Date.parse(listed.lastUsedAt)).toBeGreaterThanOrEqual(before)
    expect(Date.parse(listed.lastUsedAt)).toBeLessThanOrEqual(Date.now())
  })
}

function defineRevoke(suite: ApiSuite): void {
  const { call, addUser: person } = suite
  const create = toCreate(suite)

  test("is 204, and the token stops working at once", async () => {
    const ada = await person()
    const { json } = await create(ada)
    expectStatus(await call("GET", "/v1/vals", { as: json.token }), 200)
    expectStatus(await call("DELETE", `/v1/me/tokens/${json.id}`, { as: ada }), 204)
    expect(refusalOf(await call("GET", "/v1/vals", { as: json.token }))).toEqual([
      401,
      "invalid_token",
    ])
    expect(refusalOf(await call("DELETE", `/v1/me/tokens/${json.id}`, { as: ada }))).toEqual([
      404,
      "token_not_found",
    ])
    expect(idsOf(await call("GET", "/v1/me/tokens", { as: ada }))).not.toContain(json.id)
  })

  test("lets a token revoke itself", async () => {
    const { json } = await create(await person(), { scopes: ["user:write"] })
    expectStatus(await call("DELETE", `/v1/me/tokens/${json.id}`, { as: json.token }), 204)
    expect(refusalOf(await call("DELETE", `/v1/me/tokens/${json.id}`, { as: json.token }))).toEqual(
      [401, "invalid_token"],
    )
  })

  test("is 404 for another user's token, and 400 for an invalid id", async () => {
    const [ada, bob] = [await person(), await person()]
    const { json } = await create(ada)
    expect(refusalOf(await call("DELETE", `/v1/me/tokens/${json.id}`, { as: bob }))).toEqual([
      404,
      "token_not_found",
    ])
    expect(refusalOf(await call("DELETE", `/v1/me/tokens/${missing}`, { as: bob }))).toEqual([
      404,
      "token_not_found",
    ])
    expect(refusalOf(await call("DELETE", "/v1/me/tokens/all", { as: bob }))).toEqual([
      400,
      "invalid_request",
    ])
    expectStatus(await call("GET", "/v1/vals", { as: json.token }), 200)
  })
}

function defineUse(suite: ApiSuite): void {
  const { call, addUser: person } = suite
  const create = toCreate(suite)

  test("is refused from the moment it expires, not before", async () => {
    const expiresAt = new Date(Date.now() + 3_600_000)
    const { json } = expectStatus(
      await create(await person(), { expiresAt: expiresAt.toISOString() }),
      200,
    )
    setSystemTime(new Date(expiresAt.getTime() - 1))
    expectStatus(await call("GET", "/v1/vals", { as: json.token }), 200)
    setSystemTime(expiresAt)
    expect(refusalOf(await call("GET", "/v1/vals", { as: json.token }))).toEqual([
      401,
      "invalid_token",
    ])
  })

  test("is refused with the field expiresAt when it would already have expired", async () => {
    setSystemTime(new Date("2030-01-01T00:00:00Z"))
    const { status, json } = await create(await person(), { expiresAt: "2030-01-01T00:00:00Z" })
    expect([status, json.code, json.issues]).toEqual([
      400,
      "invalid_request",
      [{ path: "expiresAt", message: "must be in the future" }],
    ])
    expectStatus(await create(await person(), { expiresAt: "2030-01-01T00:00:00.001Z" }), 200)
  })

  test("gets the same error for every reason, also on public routes", async () => {
    const ada = await person()
    const mistyped = ada.token.slice(0, -1) + (ada.token.endsWith("a") ? "b" : "a")
    const made = await Promise.all(
      ["x", "x".repeat(40), mistyped, `hamlet_${"0".repeat(49)}`].map((as) =>
        call("GET", "/v1/vals", { as }),
      ),
    )
    const bodies = made.map((response) => {
      expect(refusalOf(response)).toEqual([401, "invalid_token"])
      expect(response.headers.get("www-authenticate")).toBe("Bearer")
      return response.json.message
    })
    expect(new Set(bodies).size).toBe(1)
  })

  for (const header of [
    "",
    "Bearer",
    "Bearer ",
    "Basic YTpi",
    "Token x",
    "Bearer a b",
    "Bearer,x",
  ]) {
    test(`is not read from the header "${header}"`, async () => {
      const headers = { authorization: header }
      const response = await call("GET", "/v1/vals", { headers })
      expect(refusalOf(response)).toEqual([401, "invalid_token"])
      expect(response.headers.get("www-authenticate")).toBe("Bearer")
    })
  }

  test("is read after Bearer in any case, with any number of spaces", async () => {
    const { id, token } = await person()
    for (const header of [`bearer ${token}`, `BEARER   ${token}  `]) {
      expect((await call("GET", "/v1/me", { headers: { authorization: header } })).json.id).toBe(id)
    }
  })

  test("is read from nowhere else", async () => {
    const { token } = await person()
    const places: Record<string, string>[] = [
      { cookie: `token=${token}` },
      { "x-api-key": token },
      { "proxy-authorization": `Bearer ${token}` },
    ]
    for (const headers of places)
      expect(refusalOf(await call("GET", "/v1/me", { headers }))).toEqual([401, "unauthenticated"])
    expect(refusalOf(await call("GET", `/v1/me?token=${token}&access_token=${token}`))).toEqual([
      401,
      "unauthenticated",
    ])
  })

  test("without the scope of a route is 403, and the message names the scope", async () => {
    const ada = await person()
    const { token } = (await create(ada, { scopes: ["val:read"] })).json
    for (const [method, path, scope] of [
      ["GET", "/v1/me", "user:read"],
      ["GET", "/v1/me/runs", "run:read"],
      ["POST", "/v1/vals", "val:write"],
      ["POST", "/v1/me/tokens", "user:write"],
      ["POST", "/v1/users", "admin"],
      ["GET", "/v1/backup", "backup"],
    ] as const) {
      const response = await call(method, path, {
        as: token,
        ...(method === "POST" ? { body: {} } : {}),
      })
      expect(refusalOf(response)).toEqual([403, "missing_scope"])
      expect(response.json.message).toContain("required permissions")
      expect(response.json.message).toContain(scope)
    }
  })

  test("without the scope to read is 403 also on routes that need no token", async () => {
    const { token } = (await create(await person(), { scopes: ["run:read"] })).json
    expect(refusalOf(await call("GET", "/v1/vals", { as: token }))).toEqual([403, "missing_scope"])
    expectStatus(await call("GET", "/v1/vals"), 200)
  })
}
