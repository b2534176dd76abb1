import { describe, expect, test } from "bun:test"
import { limits } from "@hamlet/contract"
import { waitUntil } from "@hamlet/kit/testing"
import { expectStatus, type TestUser, testBaseUrl } from "../support/api.ts"
import { describeSqliteApi, idsOf, refusalOf } from "./suite.ts"

describeSqliteApi("api/eval", ({ call, addUser: person, val }) => {
  const evaluate = (as: TestUser | undefined, code: string, args?: readonly unknown[]) =>
    call("POST", "/v1/eval", { as, body: args ? { code, args } : { code } })

  describe("POST /v1/eval", () => {
    test("runs the code once, returns its value and records the run, but creates no val", async () => {
      const ada = await person()
      const code = 'export default (a, b) => { console.log("adding"); return a + b }'
      expect(expectStatus(await evaluate(ada, code, [1, 2]), 200).json).toBe(3)
      expect((await call("GET", `/v1/users/${ada.id}/vals`, { as: ada })).json.data).toEqual([])
      const { data } = expectStatus(await call("GET", "/v1/me/runs", { as: ada }), 200).json
      expect(data).toHaveLength(1)
      expect(data[0]).toMatchObject({ status: "succeeded", source: "api", error: null })
      expect(data[0].val).toMatchObject({
        id: ada.id,
        name: "eval",
        version: 0,
        privacy: "private",
        public: false,
        author_id: ada.id,
      })
      const run = expectStatus(await call("GET", `/v1/runs/${data[0].id}`, { as: ada }), 200).json
      expect(run).toMatchObject({
        args: [1, 2],
        returnValue: 3,
        logs: [{ message: "adding" }],
        request: null,
      })
      expect(refusalOf(await call("GET", `/v1/vals/${run.val.id}`, { as: ada }))).toEqual([
        404,
        "val_not_found",
      ])
      expect(refusalOf(await call("POST", `/v1/runs/${run.id}/replay`, { as: ada }))).toEqual([
        409,
        "not_replayable",
      ])
    })

    test.each([
      ["1 + 1", 2],
      ["[1, 2].map((n: number) => n * 2); ", [2, 4]],
      ["await Promise.resolve({ a: 1 }) // waits", { a: 1 }],
      ["{ a: 1 }", { a: 1 }],
      ["const a = 1; console.log(a)", null],
      ['"export" // a word', "export"],
    ])("returns the value of an expression: %s", async (code, value) => {
      expect(expectStatus(await evaluate(await person(), code), 200).json).toEqual(value)
    })

    test.each([
      ["(a, b) => a + b", [1, 42], 43],
      ["async (a: number) => a * 2;", [4], 8],
      ["function add(a, b) { return a + b }", [1, 2], 3],
      ["(...list) => list.length", [], 0],
      ["Promise.resolve(() => 7)", [], 7],
      // The expression sees no names of the code around it.
      ["[typeof args, typeof value, typeof evaluate]", [1], Array(3).fill("undefined")],
    ])(
      "calls an expression that is a function with the arguments: %s",
      async (code, args, value) => {
        expect(expectStatus(await evaluate(await person(), code, args), 200).json).toEqual(value)
      },
    )

    test("accepts code as a text body, and returns null for undefined", async () => {
      const ada = await person()
      const headers = { "content-type": "text/typescript" }
      const response = await call("POST", "/v1/eval", {
        as: ada,
        body: "export default (): void => {}",
        headers,
      })
      expect(expectStatus(response, 200).text).toBe("null")
    })

    test("refuses arguments that are nested too deeply, in a body of any size", async () => {
      const ada = await person()
      for (const levels of [limits.argLevelsMax + 1, 10_000, 100_000]) {
        const body = `{"code":"1","args":${"[".repeat(levels)}${"]".repeat(levels)}}`
        const response = await call("POST", "/v1/eval", { as: ada, body })
        expect(refusalOf(response)).toEqual([400, "invalid_request"])
        expect(response.json.message).toBe(
          'Cannot accept the request: "args" must not be nested more than 100 levels deep',
        )
      }
    })

    test("responds 502 with the error when the code fails, like a call of a val", async () => {
      const ada = await person()
      const failed = await evaluate(
        ada,
        'export default () => { throw new TypeError("no such luck") }',
      )
      expect(refusalOf(failed)).toEqual([502, "run_failed"])
      expect(failed.json.message).toContain("no such luck")
      expect(idsOf(await call("GET", "/v1/me/runs?error=true", { as: ada }))).toHaveLength(1)
    })

    test("can read the caller's secrets and import the caller's vals and other users' public vals", async () => {
      const [ada, bob] = [await person(), await person()]
      expectStatus(
        await call("PUT", "/v1/me/secrets/GREETING", {
          as: ada,
          body: { value: "a very secret greeting" },
        }),
        204,
      )
      await val(ada, { name: "mine", privacy: "private", code: "export const two = 2" })
      await val(bob, { name: "theirs", code: "export const three = 3" })
      await val(bob, { name: "hidden", privacy: "private", code: "export const four = 4" })
      const code = `import { two } from "./mine"
import { three } from "${testBaseUrl}/v/${bob.username}/theirs@1"
export default () => [two, three, Deno.env.get("GREETING").length]`
      expect(expectStatus(await evaluate(ada, code), 200).json).toEqual([2, 3, 22])
      const hidden = `import { four } from "${testBaseUrl}/v/${bob.username}/hidden"\nexport default () => four`
      expect(refusalOf(await evaluate(ada, hidden))).toEqual([502, "run_failed"])
    })

    test("creates a run that only its caller can list, read and cancel", async () => {
      const [ada, eve] = [await person(), await person()]
      expectStatus(await evaluate(ada, "export default () => 1"), 200)
      const [id] = idsOf(await call("GET", "/v1/me/runs", { as: ada }))
      for (const path of [`/v1/runs/${id}`, `/v1/runs/${id}/logs`, `/v1/vals/${ada.id}/runs`])
        expect((await call("GET", path, { as: eve })).status).toBe(404)
      expect(refusalOf(await call("POST", `/v1/runs/${id}/cancel`, { as: eve }))).toEqual([
        404,
        "run_not_found",
      ])
      expect(idsOf(await call("GET", "/v1/me/runs", { as: eve }))).toEqual([])
    })

    test("counts as a run of the account, and of no val", async () => {
      const [ada, eve] = [await person(), await person()]
      expectStatus(await evaluate(ada, "export default () => 1"), 200)
      expectStatus(await evaluate(ada, "export default () => { throw new Error() }"), 502)
      expect(
        expectStatus(await call("GET", "/v1/me/stats", { as: ada }), 200).json.total,
      ).toMatchObject({ runs: 2, errors: 1 })
      expect(
        expectStatus(await call("GET", "/v1/me/stats", { as: eve }), 200).json.total,
      ).toMatchObject({ runs: 0 })
      expect(
        expectStatus(await call("GET", "/v1/me/activity", { as: ada }), 200).json.data,
      ).toEqual([])
    })

    test("runs once per Idempotency-Key", async () => {
      const ada = await person()
      const body = { code: "export default () => Math.random()" }
      const send = () =>
        call("POST", "/v1/eval", { as: ada, body, headers: { "idempotency-key": "once" } })
      const first = expectStatus(await send(), 200)
      expect(expectStatus(await send(), 200).json).toBe(first.json)
      expect(idsOf(await call("GET", "/v1/me/runs", { as: ada }))).toHaveLength(1)
    })

    test("can be cancelled while it runs", async () => {
      const ada = await person()
      const going = evaluate(
        ada,
        'export default () => { console.log("here"); return new Promise(() => {}) }',
      )
      const id = await waitUntil(
        async () => idsOf(await call("GET", "/v1/me/runs", { as: ada }))[0],
      )
      await waitUntil(
        async () => (await call("GET", `/v1/runs/${id}/logs`, { as: ada })).json.data.length !== 0,
      )
      expect((await call("POST", `/v1/runs/${id}/cancel`, { as: ada })).json).toEqual({
        found: true,
      })
      expect(refusalOf(await going)).toEqual([502, "run_failed"])
      expect((await call("GET", `/v1/runs/${id}`, { as: ada })).json.status).toBe("cancelled")
    })

    test("can be cancelled by its id alone, as by older clients", async () => {
      const [ada, eve] = [await person(), await person()]
      const going = evaluate(ada, "new Promise(() => {})")
      const id = await waitUntil(
        async () => idsOf(await call("GET", "/v1/me/runs", { as: ada }))[0],
      )
      const path = `/v1/vals/${id}/cancel`
      expect(refusalOf(await call("POST", path, { as: eve }))).toEqual([404, "run_not_found"])
      expect(expectStatus(await call("POST", path, { as: ada }), 200).json).toEqual({ found: true })
      expect(refusalOf(await going)).toEqual([502, "run_failed"])
      expect(expectStatus(await call("POST", path, { as: ada }), 200).json).toEqual({
        found: false,
      })
      expect(refusalOf(await call("POST", "/v1/vals/x/cancel", { as: ada }))).toEqual([
        400,
        "invalid_request",
      ])
    })

    test("requires a token, the scope and code", async () => {
      const ada = await person()
      expect(refusalOf(await evaluate(undefined, "1"))).toEqual([401, "unauthenticated"])
      expect(refusalOf(await evaluate(ada, ""))).toEqual([400, "invalid_request"])
      expect(refusalOf(await evaluate(ada, " ".repeat(limits.codeCharsMax + 1)))).toEqual([
        400,
        "invalid_request",
      ])
    })
  })

  describe("GET /v1/eval/{code}", () => {
    const read = (as: TestUser | undefined, code: string, query = "") =>
      call("GET", `/v1/eval/${code}${query}`, { as })

    test("runs the code in the path with the arguments of the query", async () => {
      const ada = await person()
      const code = encodeURIComponent("(a, b) => `${a / 2}/${b}`")
      const args = `?args=${encodeURIComponent('[2, "b"]')}`
      expect(expectStatus(await read(ada, code, args), 200).json).toBe("1/b")
      expect(expectStatus(await read(ada, "6/3/2", "?args="), 200).json).toBe(1)
      const { data } = expectStatus(await call("GET", "/v1/me/runs", { as: ada }), 200).json
      expect(data).toHaveLength(2)
      expect(data[0].val).toMatchObject({ id: ada.id, name: "eval", version: 0 })
    })

    test("requires a token and a list of arguments, and reports a failure", async () => {
      const ada = await person()
      expect(refusalOf(await read(undefined, "1"))).toEqual([401, "unauthenticated"])
      expect(refusalOf(await read(ada, "1", "?args=1"))).toEqual([400, "invalid_request"])
      expect(refusalOf(await read(ada, "1", "?args=["))).toEqual([400, "invalid_request"])
      expect(refusalOf(await read(ada, "%00"))).toEqual([400, "invalid_request"])
      expect(refusalOf(await read(ada, "nothing()"))).toEqual([502, "run_failed"])
      expect(refusalOf(await read(ada, ""))).toEqual([405, "method_not_allowed"])
    })
  })
})
