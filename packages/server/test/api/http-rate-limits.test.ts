import { afterEach, beforeEach, describe, expect, setSystemTime, test } from "bun:test"
import { expectStatus, testBaseUrl } from "../support/api.ts"
import { type ApiSuite, describeSqliteApi, refusalOf } from "./suite.ts"

const perToken = 6
const perAddress = 3

describeSqliteApi(
  "api/http rate limits",
  (suite) => {
    // Limits refill with time, so it stands still unless a test sets it.
    beforeEach(() => void setSystemTime(new Date()))
    afterEach(() => void setSystemTime())
    describe("HAMLET_RATE_PER_TOKEN", () => defineTokens(suite))
    describe("HAMLET_RATE_PER_ADDRESS", () => defineAddresses(suite))
  },
  { HAMLET_RATE_PER_TOKEN: String(perToken), HAMLET_RATE_PER_ADDRESS: String(perAddress) },
)

function defineTokens({ call, addUser: person }: ApiSuite): void {
  test("allows that many requests per minute, and sends retry-after with the next", async () => {
    const ada = await person()
    for (let count = 0; count < perToken; count += 1)
      expectStatus(await call("GET", "/v1/me", { as: ada }), 200)
    const answer = await call("GET", "/v1/me", { as: ada })
    expect(refusalOf(answer)).toEqual([429, "rate_limited"])
    const seconds = Number(answer.headers.get("retry-after"))
    expect(seconds).toBeGreaterThanOrEqual(1)
    expect(seconds).toBeLessThanOrEqual(60 / perToken)
    expect(answer.headers.get("x-should-retry")).toBeNull()
  })

  test("allows the next request after retry-after seconds", async () => {
    const ada = await person()
    const start = Date.now()
    for (let count = 0; count < perToken; count += 1)
      expectStatus(await call("GET", "/v1/me", { as: ada }), 200)
    const seconds = Number(
      expectStatus(await call("GET", "/v1/me", { as: ada }), 429).headers.get("retry-after"),
    )
    setSystemTime(new Date(start + seconds * 1000))
    expectStatus(await call("GET", "/v1/me", { as: ada }), 200)
    expectStatus(await call("GET", "/v1/me", { as: ada }), 429)
    setSystemTime(new Date(start + 120_000))
    for (let count = 0; count < perToken; count += 1)
      expectStatus(await call("GET", "/v1/me", { as: ada }), 200)
  })

  test("counts each token separately, and does not count refused requests", async () => {
    const [ada, bob] = [await person(), await person()]
    for (let count = 0; count < perToken + 5; count += 1) await call("GET", "/v1/me", { as: ada })
    expectStatus(await call("GET", "/v1/me", { as: ada }), 429)
    expectStatus(await call("GET", "/v1/me", { as: bob }), 200)
  })

  test("counts writes like reads, also failed ones", async () => {
    const ada = await person()
    for (let count = 0; count < perToken; count += 1)
      expectStatus(await call("POST", "/v1/vals", { as: ada, body: {} }), 400)
    expectStatus(await call("POST", "/v1/vals", { as: ada, body: { code: "1" } }), 429)
  })

  test("does not use up an Idempotency-Key", async () => {
    const ada = await person()
    const start = Date.now()
    const headers = { "idempotency-key": "limited" }
    for (let count = 0; count < perToken; count += 1) await call("GET", "/v1/me", { as: ada })
    expectStatus(await call("POST", "/v1/vals", { as: ada, body: { code: "1" }, headers }), 429)
    setSystemTime(new Date(start + 60_000))
    expectStatus(await call("POST", "/v1/vals", { as: ada, body: { code: "1" }, headers }), 200)
  })
}

function defineAddresses(suite: ApiSuite): void {
  /**
   * What an address is told: the status of the answer to a request without a token, or with one
   * that is none.
   */
  const ask = async (address: string, path = "/v1/vals", headers: Record<string, string> = {}) => {
    const response = await suite.api.hamlet.app.fetch(
      new Request(`${testBaseUrl}${path}`, { headers }),
      { address: () => address },
    )
    if (response.status === 429)
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThanOrEqual(1)
    return response.status
  }

  test("allows that many requests without a token, per address", async () => {
    for (let count = 0; count < perAddress; count += 1) expect(await ask("192.0.2.1")).toBe(200)
    expect(await ask("192.0.2.1")).toBe(429)
    expect(await ask("192.0.2.2")).toBe(200)
  })

  test("counts requests with an invalid token as requests without one", async () => {
    const headers = { authorization: `Bearer ${"x".repeat(40)}` }
    for (let count = 0; count < perAddress; count += 1)
      expect(await ask("192.0.2.3", "/v1/vals", headers)).toBe(401)
    expect(await ask("192.0.2.3", "/v1/vals", headers)).toBe(429)
    expect(await ask("192.0.2.3")).toBe(429)
  })

  test("does not count requests with a valid token", async () => {
    const { token } = await suite.addUser()
    for (let count = 0; count < perAddress; count += 1) await ask("192.0.2.4")
    expect(await ask("192.0.2.4")).toBe(429)
    expect(await ask("192.0.2.4", "/v1/vals", { authorization: `Bearer ${token}` })).toBe(200)
  })

  test("does not limit health checks, metrics and the OpenAPI document", async () => {
    for (let count = 0; count < perAddress; count += 1) await ask("192.0.2.5")
    for (const path of ["/healthz", "/readyz", "/metrics", "/openapi.json"])
      expect(await ask("192.0.2.5", path)).toBe(200)
  })

  test("refills with time", async () => {
    const start = Date.now()
    for (let count = 0; count < perAddress; count += 1) await ask("192.0.2.6")
    expect(await ask("192.0.2.6")).toBe(429)
    setSystemTime(new Date(start + 60_000 / perAddress))
    expect(await ask("192.0.2.6")).toBe(200)
    expect(await ask("192.0.2.6")).toBe(429)
  })
}
