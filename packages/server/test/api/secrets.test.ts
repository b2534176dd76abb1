import { afterEach, describe, expect, setSystemTime, test } from "bun:test"
import { limits } from "@hamlet/contract"
import { expectStatus, type TestUser } from "../support/api.ts"
import { dumpDatabase } from "./dump.ts"
import { type ApiSuite, describeSqliteApi, nextMillisecond, refusalOf } from "./suite.ts"

describeSqliteApi("api/secrets", (suite) => {
  afterEach(() => void setSystemTime())
  describe("PUT /v1/me/secrets/{name}", () => definePut(suite))
  describe("GET /v1/me/secrets", () => defineList(suite))
  describe("DELETE /v1/me/secrets/{name}", () => defineDelete(suite))
})

function toPut({ call }: ApiSuite) {
  return (as: TestUser, name: string, body: unknown = { value: "v" }) =>
    call("PUT", `/v1/me/secrets/${name}`, { as, body })
}

function definePut(suite: ApiSuite): void {
  const { call, addUser: person, sharedUser: anybody } = suite
  const put = toPut(suite)
  const listOf = async (as: TestUser) =>
    expectStatus(await call("GET", "/v1/me/secrets", { as }), 200).json.data

  test("is 204 without a body", async () => {
    const response = expectStatus(await put(await person(), "KEY", { value: "hush" }), 204)
    expect(response.text).toBe("")
  })

  test("replaces value and hosts of a secret, and keeps createdAt", async () => {
    const ada = await person()
    setSystemTime(new Date("2024-05-01T12:00:00.000Z"))
    expectStatus(await put(ada, "KEY", { value: "one", hosts: ["a.hamlet.test"] }), 204)
    setSystemTime(new Date("2024-05-01T13:00:00.000Z"))
    expectStatus(await put(ada, "KEY", { value: "two" }), 204)
    const times = { createdAt: "2024-05-01T12:00:00.000Z", updatedAt: "2024-05-01T13:00:00.000Z" }
    expect(await listOf(ada)).toEqual([{ name: "KEY", hosts: null, ...times }])
  })

  for (const name of [
    "A",
    "_",
    "API_KEY_2",
    "key",
    "1A",
    "A-B",
    "A B",
    "A.B",
    "É",
    "A\n",
    "/",
    "__proto__",
    "X".repeat(limits.secretNameCharsMax),
  ]) {
    test(`accepts the name ${JSON.stringify(name).slice(0, 20)}`, async () => {
      const ada = await person()
      expectStatus(await put(ada, encodeURIComponent(name)), 204)
      expect((await listOf(ada))[0].name).toBe(name)
    })
  }

  for (const name of ["A%3DB", "%3D", "X".repeat(limits.secretNameCharsMax + 1), "A%00"]) {
    test(`refuses the name ${name.slice(0, 20)}`, async () => {
      const ada = await anybody()
      const response = await put(ada, name)
      expect(refusalOf(response)).toEqual([400, "invalid_request"])
      expect(response.json.issues[0].path).toBe("name")
      expect(await listOf(ada)).toEqual([])
    })
  }

  test("limits to hosts only those with names that a header can carry", async () => {
    const ada = await person()
    const limited = { value: "v", hosts: ["a.test"] }
    expectStatus(await put(ada, "key_1", limited), 204)
    for (const name of ["A-B", "1A", "%C3%89", "A%0A"])
      expect(refusalOf(await put(ada, name, limited))).toEqual([400, "invalid_request"])
    expect(await listOf(ada)).toHaveLength(1)
  })

  for (const body of [
    { value: "" },
    { value: "x".repeat(limits.secretValueBytesMax) },
    { value: "é".repeat(limits.secretValueBytesMax / 2) },
    { value: "v", hosts: null },
    { value: "v", hosts: ["localhost:8080", "a-b.hamlet.test"] },
    {
      value: "v",
      hosts: Array.from({ length: limits.secretHostsMax }, (_, index) => `h${index}.test`),
    },
  ]) {
    test(`accepts ${JSON.stringify(body).slice(0, 50)}`, async () => {
      const ada = await person()
      expectStatus(await put(ada, "KEY", body), 204)
      expect((await listOf(ada))[0].hosts).toEqual(body.hosts ?? null)
    })
  }

  for (const body of [
    {},
    ...[
      null,
      1,
      "a\0b",
      "\ud800",
      "x".repeat(limits.secretValueBytesMax + 1),
      `${"é".repeat(limits.secretValueBytesMax / 2)}x`,
    ].map((value) => ({ value })),
    ...[
      [],
      "a.test",
      [""],
      ["a b"],
      ["https://a.test"],
      ["a.test/"],
      ["-a"],
      [1],
      ["a:b"],
      Array.from({ length: limits.secretHostsMax + 1 }, () => "a"),
    ].map((hosts) => ({ value: "v", hosts })),
  ]) {
    test(`refuses ${JSON.stringify(body).slice(0, 50)}`, async () => {
      const ada = await anybody()
      expect(refusalOf(await put(ada, "KEY", body))).toEqual([400, "invalid_request"])
      expect(await listOf(ada)).toEqual([])
    })
  }

  test("accepts the maximum number of secrets, and replacements of those, but not one more", async () => {
    const ada = await person()
    const names = Array.from({ length: limits.secretsPerUserMax }, (_, index) => `S${index}`)
    for (const name of names) expectStatus(await put(ada, name), 204)
    const response = await put(ada, "ONE_MORE")
    expect(refusalOf(response)).toEqual([409, "too_many_secrets"])
    expect(response.headers.get("x-should-retry")).toBe("false")
    expectStatus(await put(ada, "S7", { value: "again" }), 204)
    expectStatus(await call("DELETE", "/v1/me/secrets/S7", { as: ada }), 204)
    expectStatus(await put(ada, "ONE_MORE"), 204)
    expectStatus(await put(await person(), "ONE_MORE"), 204)
  })

  test("shows the value in no response, and stores it encrypted", async () => {
    const ada = await person()
    const value = "the-albatross-flies-at-midnight"
    expectStatus(await put(ada, "KEY", { value }), 204)
    const responses = await Promise.all(
      ["/v1/me/secrets", "/v1/me", "/v1/me/tokens", "/metrics"].map((path) =>
        call("GET", path, { as: ada }),
      ),
    )
    for (const { text } of responses) expect(text).not.toContain(value)
    const dump = await dumpDatabase(suite.database)
    expect(dump).toContain("KEY")
    for (const encoding of ["utf8", "hex", "base64"] as const)
      expect(dump).not.toContain(Buffer.from(value).toString(encoding).slice(0, 20))
  })
}

function defineList(suite: ApiSuite): void {
  const { call, addUser: person } = suite
  const put = toPut(suite)

  test("has the caller's secrets, newest first, with every key but never the value", async () => {
    const [ada, bob] = [await person(), await person()]
    for (const name of ["B", "_A", "A", "C"]) {
      expectStatus(await put(ada, name, { value: "hush", hosts: ["a.test"] }), 204)
      await nextMillisecond()
    }
    expectStatus(await put(bob, "HIS"), 204)
    const { json } = expectStatus(await call("GET", "/v1/me/secrets", { as: ada }), 200)
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(json.data).toEqual(
      ["C", "A", "_A", "B"].map((name) => ({
        name,
        hosts: ["a.test"],
        createdAt: time,
        updatedAt: time,
      })),
    )
    const page = expectStatus(
      await call("GET", "/v1/me/secrets?limit=1&offset=2", { as: ada }),
      200,
    ).json
    expect(page.data.map(({ name }: { name: string }) => name)).toEqual(["_A"])
  })

  test("has no route for a single secret", async () => {
    const ada = await person()
    expectStatus(await put(ada, "KEY"), 204)
    const response = await call("GET", "/v1/me/secrets/KEY", { as: ada })
    expect(refusalOf(response)).toEqual([405, "method_not_allowed"])
    expect(response.headers.get("allow")).toBe("DELETE, OPTIONS, PUT")
  })
}

function defineDelete(suite: ApiSuite): void {
  const { call, addUser: person } = suite
  const put = toPut(suite)

  test("is 204 once, then 404, and never deletes another user's secret", async () => {
    const [ada, bob] = [await person(), await person()]
    for (const as of [ada, bob]) expectStatus(await put(as, "KEY"), 204)
    expectStatus(await call("DELETE", "/v1/me/secrets/KEY", { as: ada }), 204)
    expect(refusalOf(await call("DELETE", "/v1/me/secrets/KEY", { as: ada }))).toEqual([
      404,
      "secret_not_found",
    ])
    expect(refusalOf(await call("DELETE", "/v1/me/secrets/key", { as: ada }))).toEqual([
      404,
      "secret_not_found",
    ])
    expect((await call("GET", "/v1/me/secrets", { as: bob })).json.data).toHaveLength(1)
  })
}
