import { afterEach, describe, expect, setSystemTime, test } from "bun:test"
import { expectStatus, type TestUser } from "../support/api.ts"
import { dumpDatabase } from "./dump.ts"
import { type ApiSuite, describeApi, idsOf, refusalOf } from "./suite.ts"

const day = 24 * 60 * 60 * 1000

describeApi("api/http Idempotency-Key", (suite) => {
  afterEach(() => void setSystemTime())
  describe("the same request again", () => defineSame(suite))
  describe("another request", () => defineOther(suite))
  describe("a request that is not done yet", () => defineInFlight(suite))
  describe("a new token", () => defineTokens(suite))
})

function toCreate({ call }: ApiSuite) {
  return (as: TestUser | string, key: string, body: unknown = { code: "1" }, path = "/v1/vals") =>
    call("POST", path, { as, body, headers: { "idempotency-key": key } })
}

function defineSame(suite: ApiSuite): void {
  const { call, addUser: person, val } = suite
  const create = toCreate(suite)

  test("gets the same response, and is executed once", async () => {
    const ada = await person()
    const first = expectStatus(await create(ada, "key"), 200)
    for (let again = 0; again < 3; again += 1)
      expect(expectStatus(await create(ada, "key"), 200).text).toBe(first.text)
    expect(idsOf(await call("GET", "/v1/vals?privacy=private", { as: ada }))).toEqual([
      first.json.id,
    ])
  })

  test("gets the same response on every route that creates something", async () => {
    const ada = await person()
    const { id } = await val(ada)
    for (const [path, body, status, as] of [
      [`/v1/vals/${id}/versions`, { code: "2" }, 201, ada],
      [`/v1/vals/${id}/comments`, { comment: "c" }, 201, ada],
      ["/v1/me/tokens", { name: "t", scopes: ["val:read"] }, 200, ada],
      ["/v1/users", { username: "onceOnly" }, 200, suite.api.admin],
    ] as const) {
      const first = expectStatus(await create(as, `key ${path}`, body, path), status)
      const second = expectStatus(await create(as, `key ${path}`, body, path), status)
      expect(second.text).toBe(first.text)
      expect(second.headers.get("content-type")).toBe(first.headers.get("content-type"))
      expect(second.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"))
    }
    expect((await call("GET", `/v1/vals/${id}/versions`)).json.data).toHaveLength(2)
    expect((await call("GET", `/v1/vals/${id}/comments`)).json.data).toHaveLength(1)
    expect((await call("GET", "/v1/me/tokens", { as: ada })).json.data).toHaveLength(2)
  })

  test("gets the same error and x-should-retry, also when the cause no longer exists", async () => {
    const ada = await person()
    const { id } = await val(ada, { name: "taken" })
    const body = { name: "taken", code: "1" }
    const first = await create(ada, "refused", body)
    expect(refusalOf(first)).toEqual([409, "name_taken"])
    expectStatus(await call("DELETE", `/v1/vals/${id}`, { as: ada }), 204)
    const second = await create(ada, "refused", body)
    expect(second.text).toBe(first.text)
    expect(second.headers.get("x-should-retry")).toBe("false")
    expectStatus(await create(ada, "another key", body), 200)
  })

  test("is executed again after 24 hours, not before", async () => {
    const ada = await person()
    const first = expectStatus(await create(ada, "daily"), 200)
    const start = Date.now()
    setSystemTime(new Date(start + day - 60_000))
    expect(expectStatus(await create(ada, "daily"), 200).json.id).toBe(first.json.id)
    setSystemTime(new Date(start + day + 60_000))
    const next = expectStatus(await create(ada, "daily"), 200)
    expect(next.json.id).not.toBe(first.json.id)
    expect(expectStatus(await create(ada, "daily"), 200).json.id).toBe(next.json.id)
  })

  test("does not match the same key of another user", async () => {
    const [ada, bob] = [await person(), await person()]
    const hers = expectStatus(await create(ada, "shared"), 200).json
    const his = expectStatus(await create(bob, "shared"), 200).json
    expect(his.id).not.toBe(hers.id)
    expect(his.author.id).toBe(bob.id)
  })

  test("is refused before the lookup when its token is no longer valid", async () => {
    const ada = await person()
    const { json } = await call("POST", "/v1/me/tokens", {
      as: ada,
      body: { name: "t", scopes: ["val:write"] },
    })
    expectStatus(await create(json.token, "revoked"), 200)
    expectStatus(await call("DELETE", `/v1/me/tokens/${json.id}`, { as: ada }), 204)
    expect(refusalOf(await create(json.token, "revoked"))).toEqual([401, "invalid_token"])
  })

  for (const key of [
    "k",
    "x".repeat(255),
    "with spaces and: punctuation!",
    "' or 1=1 --",
    "__proto__",
  ]) {
    test(`may be named "${key.slice(0, 30)}"`, async () => {
      const ada = await person()
      const first = expectStatus(await create(ada, key), 200)
      expect(expectStatus(await create(ada, key), 200).text).toBe(first.text)
    })
  }

  for (const key of ["", "x".repeat(256), "é", "tab\tinside"]) {
    test(`may not be named "${key.slice(0, 30)}"`, async () => {
      const response = await create(await person(), key)
      expect(refusalOf(response)).toEqual([400, "invalid_request"])
      expect(response.json.issues[0].path).toBe("idempotency-key")
    })
  }

  test("is executed again on a PUT, which ignores the key", async () => {
    const ada = await person()
    const headers = { "idempotency-key": "put" }
    for (const code of ["1", "2"])
      expectStatus(
        await call("PUT", "/v1/vals", { as: ada, body: { name: "put", code }, headers }),
        200,
      )
    expect((await call("GET", `/v1/alias/${ada.username}/put`, { as: ada })).json.version).toBe(2)
  })
}

function defineOther(suite: ApiSuite): void {
  const { call, addUser: person, val } = suite
  const create = toCreate(suite)

  test("with the same key is 422: another body, or another path", async () => {
    const ada = await person()
    const { id } = await val(ada)
    expectStatus(await create(ada, "once", { code: "first" }), 200)
    expect(refusalOf(await create(ada, "once", { code: "second" }))).toEqual([
      422,
      "idempotency_mismatch",
    ])
    expect(
      refusalOf(await create(ada, "once", { code: "first" }, `/v1/vals/${id}/versions`)),
    ).toEqual([422, "idempotency_mismatch"])
    expect((await call("GET", `/v1/vals/${id}`)).json.version).toBe(1)
  })

  test("that is invalid does not use up the key", async () => {
    const ada = await person()
    expect(refusalOf(await create(ada, "retry", { code: "" }))).toEqual([400, "invalid_request"])
    expectStatus(await create(ada, "retry", { code: "1" }), 200)
  })
}

function defineInFlight(suite: ApiSuite): void {
  const { call, addUser: person } = suite
  const create = toCreate(suite)

  /** Makes the server read imports with what the test brings, until the test is over. */
  async function withScanner(
    scanImports: () => Promise<readonly string[]>,
    body: () => Promise<void>,
  ): Promise<void> {
    const { parser } = suite.api.hamlet.nouns
    const before = parser.scanImports
    Object.assign(parser, { scanImports })
    try {
      await body()
    } finally {
      Object.assign(parser, { scanImports: before })
    }
  }

  test("is 409 when sent again, 422 for another request with its key, and gets its response when it ends", async () => {
    const ada = await person()
    const gate = Promise.withResolvers<readonly string[]>()
    const begun = Promise.withResolvers<void>()
    const scanner = () => {
      begun.resolve()
      return gate.promise
    }
    await withScanner(scanner, async () => {
      const first = create(ada, "slow")
      await begun.promise
      const second = await create(ada, "slow")
      expect(refusalOf(second)).toEqual([409, "idempotency_in_flight"])
      expect(second.headers.get("x-should-retry")).toBe("false")
      expect(refusalOf(await create(ada, "slow", { code: "2" }))).toEqual([
        422,
        "idempotency_mismatch",
      ])
      gate.resolve([])
      const done = expectStatus(await first, 200)
      expect(expectStatus(await create(ada, "slow"), 200).text).toBe(done.text)
    })
    expect(idsOf(await call("GET", "/v1/vals?privacy=private", { as: ada }))).toHaveLength(1)
  })

  test("frees its key when the server fails: an internal error is neither stored nor described", async () => {
    const ada = await person()
    await withScanner(
      () => Promise.reject(new Error("the albatross has landed")),
      async () => {
        const response = await create(ada, "failing")
        expect(refusalOf(response)).toEqual([500, "internal"])
        expect(response.headers.get("x-should-retry")).toBe("false")
        expect(response.text).not.toContain("albatross")
        expect(response.json.requestId).toBe(response.headers.get("x-request-id"))
      },
    )
    expectStatus(await create(ada, "failing"), 200)
  })

  test("frees its key after two minutes, when the server must have crashed", async () => {
    const ada = await person()
    const gate = Promise.withResolvers<readonly string[]>()
    const begun = Promise.withResolvers<void>()
    let abandoned = call("GET", "/healthz")
    const scanner = () => {
      begun.resolve()
      return gate.promise
    }
    await withScanner(scanner, async () => {
      abandoned = create(ada, "dead", { code: "1", name: "dead" })
      await begun.promise
    })
    const start = Date.now()
    expect(refusalOf(await create(ada, "dead", { code: "1", name: "dead" }))).toEqual([
      409,
      "idempotency_in_flight",
    ])
    setSystemTime(new Date(start + 121_000))
    const { text } = expectStatus(await create(ada, "dead", { code: "1", name: "dead" }), 200)
    // The first attempt was only slow: it finds that its request is worked on elsewhere by now.
    gate.resolve([])
    expect(refusalOf(await abandoned)).toEqual([409, "idempotency_in_flight"])
    expect(expectStatus(await create(ada, "dead", { code: "1", name: "dead" }), 200).text).toBe(
      text,
    )
  })
}

function defineTokens(suite: ApiSuite): void {
  const { call, addUser: person } = suite
  const create = toCreate(suite)
  const body = { name: "t", scopes: ["val:read"] }

  test("is returned again unchanged, works, and cannot be read from the database", async () => {
    const ada = await person()
    const first = expectStatus(await create(ada, "token", body, "/v1/me/tokens"), 200)
    const second = expectStatus(await create(ada, "token", body, "/v1/me/tokens"), 200)
    expect(second.text).toBe(first.text)
    const { token } = first.json
    expectStatus(await call("GET", "/v1/vals", { as: token }), 200)
    const dump = await dumpDatabase(suite.database)
    expect(dump).toContain(first.json.id)
    for (const text of [token, token.slice("hamlet_".length, -6)]) {
      for (const encoding of ["utf8", "hex", "base64"] as const)
        expect(dump).not.toContain(Buffer.from(text).toString(encoding).slice(0, 30))
    }
  })

  test("of a new user cannot be read from the database either", async () => {
    const { json } = expectStatus(
      await create(suite.api.admin, "user", { username: "keptSecret" }, "/v1/users"),
      200,
    )
    const dump = await dumpDatabase(suite.database)
    expect(dump).toContain("keptSecret")
    expect(dump).not.toContain(json.token)
  })
}
