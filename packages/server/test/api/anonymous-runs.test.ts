import { afterEach, expect, setSystemTime, test } from "bun:test"
import { expectStatus, openApi } from "../support/api.ts"
import { describeEachDatabase } from "../support/databases.ts"
import { describeSqliteApi, idsOf, refusalOf, type ValView } from "./suite.ts"

const at = (val: ValView) => `/v1/run/${val.author.username}.${val.name}`
const add = "export default (a = 0, b = 0) => a + b"

describeSqliteApi(
  "api/anonymous-runs",
  ({ call, addUser: person, val }) => {
    test("a public val can be called without a token; the run is on its owner's account and visible to the owner", async () => {
      const ada = await person()
      const adder = await val(ada, { code: add })
      expect(expectStatus(await call("GET", `${at(adder)}?args=[1,2]`), 200).text).toBe("3")
      expect(
        expectStatus(await call("POST", at(adder), { body: { args: ["a", "b"] } }), 200).text,
      ).toBe('"ab"')
      const runs = expectStatus(await call("GET", `/v1/vals/${adder.id}/runs`, { as: ada }), 200)
        .json.data
      expect(
        runs.map((run: { source: string; status: string }) => [run.source, run.status]),
      ).toEqual([
        ["api", "succeeded"],
        ["api", "succeeded"],
      ])
      expect(idsOf(await call("GET", "/v1/me/runs", { as: ada }))).toHaveLength(2)
    })

    test("an anonymous run gets no secrets and no token, and uses no process that has them", async () => {
      const ada = await person()
      expectStatus(
        await call("PUT", "/v1/me/secrets/KEY", { as: ada, body: { value: "a secret of ada" } }),
        204,
      )
      const has = '[Deno.env.get("KEY") !== undefined, Deno.env.get("HAMLET_TOKEN") !== undefined]'
      const looking = await val(ada, {
        code: `let calls = 0\nexport default () => [...${has}, ++calls]`,
      })
      expect(expectStatus(await call("GET", at(looking), { as: ada }), 200).json).toEqual([
        true,
        true,
        1,
      ])
      expect(expectStatus(await call("GET", at(looking)), 200).json).toEqual([false, false, 1])
      expect(expectStatus(await call("GET", at(looking), { as: ada }), 200).json).toEqual([
        true,
        true,
        2,
      ])
      expect(expectStatus(await call("GET", at(looking)), 200).json).toEqual([false, false, 2])
    })

    test("a val that is not public gets the same error as a missing one, and other ways to run need a token", async () => {
      const ada = await person()
      const [shown, unlisted, hidden] = [
        await val(ada, { code: add }),
        await val(ada, { code: add, privacy: "unlisted" }),
        await val(ada, { code: add, privacy: "private" }),
      ]
      for (const method of ["GET", "POST"]) {
        const paths = [
          at(unlisted),
          at(hidden),
          `/v1/run/${ada.username}.nothing`,
          "/v1/run/nobody.nothing",
        ]
        const refusals = await Promise.all(
          paths.map(async (path) => ({ ...(await call(method, path)).json, requestId: "" })),
        )
        expect(refusals[0]).toMatchObject({ statusCode: 401, code: "unauthenticated" })
        expect(new Set(refusals.map((refusal) => JSON.stringify(refusal))).size).toBe(1)
      }
      expect(refusalOf(await call("POST", `/v1/vals/${shown.id}/runs`))).toEqual([
        401,
        "unauthenticated",
      ])
      expect(refusalOf(await call("POST", "/v1/eval", { body: { code: add } }))).toEqual([
        401,
        "unauthenticated",
      ])
      expect(refusalOf(await call("GET", at(shown), { as: `hamlet_${"x".repeat(40)}` }))).toEqual([
        401,
        "invalid_token",
      ])
    })

    test("a failed anonymous run shows only its error message, and a chain of vals ends", async () => {
      const ada = await person()
      const failing = await val(ada, {
        code: 'export default () => { throw new TypeError("no such luck") }',
      })
      const { json } = expectStatus(await call("GET", at(failing)), 502)
      expect(json).toMatchObject({
        code: "run_failed",
        message: `Cannot run val "${ada.username}/${failing.name}": no such luck`,
      })
      expect(json).not.toHaveProperty("runError")
      expect(refusalOf(await call("GET", `/v1/runs/${json.runId}`))).toEqual([
        401,
        "unauthenticated",
      ])
      expect(
        refusalOf(await call("GET", at(failing), { headers: { "x-hamlet-depth": "16" } })),
      ).toEqual([508, "call_too_deep"])
    })

    test("an Idempotency-Key is ignored without a token", async () => {
      const ada = await person()
      const counting = await val(ada, { code: "let calls = 0\nexport default () => ++calls" })
      const send = () => call("POST", at(counting), { headers: { "idempotency-key": "once" } })
      expect([expectStatus(await send(), 200).text, expectStatus(await send(), 200).text]).toEqual([
        "1",
        "2",
      ])
    })
  },
  { HAMLET_ANONYMOUS_RUNS: "yes" },
)

describeEachDatabase("api/anonymous-runs with a limit", (open) => {
  afterEach(() => void setSystemTime())

  test("anonymous runs count as requests of an address without a token", async () => {
    const api = await openApi(open, { HAMLET_ANONYMOUS_RUNS: "yes", HAMLET_RATE_PER_ADDRESS: "1" })
    try {
      // Limits refill with time.
      setSystemTime(new Date())
      const responses = [
        await api.call("GET", "/v1/run/nobody.nothing"),
        await api.call("GET", "/v1/run/nobody.nothing"),
      ]
      expect(responses.map(refusalOf)).toEqual([
        [401, "unauthenticated"],
        [429, "rate_limited"],
      ])
    } finally {
      await api.close()
    }
  })
})
