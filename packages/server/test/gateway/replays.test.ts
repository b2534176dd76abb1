import { afterAll, beforeAll, expect, test } from "bun:test"
import { describeSqlite } from "../support/databases.ts"
import { type GatewayFixture, openGatewayFixture } from "./support/gateway-fixture.ts"

describeSqlite("the replay of a request to a val", (open) => {
  let fixture: GatewayFixture
  beforeAll(async () => {
    fixture = await openGatewayFixture(open)
    await fixture.addVal("mirror", async (request, path) =>
      Response.json([request.method, path, await request.text()], { status: 203 }),
    )
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const replay = async (response: Response) => {
    await response.text()
    const { id } = await fixture.runOf(response)
    const headers = { authorization: `Bearer ${fixture.ada.token}` }
    return fetch(`http://127.0.0.1:${fixture.port}/v1/runs/${id}/replay`, {
      method: "POST",
      headers,
    })
  }
  const lastSeen = () => fixture.runner.seen.at(-1)

  for (const [method, body] of [
    ["GET", null],
    ["HEAD", null],
    ["DELETE", null],
    ["POST", "some text"],
  ] as const) {
    test(`repeats a ${method} request`, async () => {
      const headers = {
        accept: "text/x",
        "content-type": "text/y",
        "x-hub-signature": "sha256=1",
        "accept-language": "de",
      }
      const first = await fixture.request("mirror", "/a%20b?c=d", { method, body, headers })
      const before = lastSeen()
      const again = await replay(first)
      const run = await again.json()
      expect(again.status).toBe(200)
      expect(run).toMatchObject({ status: "succeeded", request: { method, status: 203 } })
      expect(run.request.url).toEndWith("/a%20b?c=d")
      const after = lastSeen()
      expect(after?.path).toBe("/a%20b?c=d")
      expect(after).not.toBe(before)
      expect(after?.headers.toJSON()).toEqual(before?.headers.toJSON() ?? {})
    })
  }

  test("sends no credentials, because they are not stored", async () => {
    const headers = {
      authorization: "Basic YTpi",
      cookie: "login=secret",
      "proxy-authorization": "Basic c2VjcmV0",
      "x-api-key": "hidden",
      "x-csrf-token": "hidden",
      "x-mine": "stays",
    }
    const first = await fixture.request("mirror", "/", { headers })
    expect(lastSeen()?.headers.get("cookie")).toBe("login=secret")
    expect((await replay(first)).status).toBe(200)
    const seen = lastSeen()?.headers
    expect([
      seen?.get("authorization"),
      seen?.get("cookie"),
      seen?.get("proxy-authorization"),
    ]).toEqual([null, null, null])
    expect(seen?.get("x-mine")).toBe("stays")
    const input = await fixture.hamlet.stores.runs.findInput(first.headers.get("x-run-id") ?? "")
    expect(JSON.stringify(input)).not.toMatch(/YTpi|c2VjcmV0|secret|hidden/)
  })

  for (const [what, path, init] of [
    ["address", `/?${"x".repeat(3_000)}`, {}],
    ["headers", "/", { headers: { "x-long": "x".repeat(10_000) } }],
    ["body", "/", { method: "POST", body: "x".repeat(100_000) }],
  ] as const) {
    test(`is refused when the ${what} was too long to be stored`, async () => {
      const again = await replay(await fixture.request("mirror", path, init))
      expect([again.status, await again.json()]).toEqual([
        409,
        expect.objectContaining({ code: "not_replayable" }),
      ])
    })
  }
})
