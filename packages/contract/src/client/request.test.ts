import { describe, expect, test } from "bun:test"
import { startScriptedServer } from "../../test/support/scripted-server.ts"
import { createClient } from "../client.ts"

const val_id = "0190a6b1-7e3c-7c4d-8f5e-0123456789ab"

function start() {
  const server = startScriptedServer(() => Response.json({ ok: true }))
  return { server, client: createClient({ baseUrl: server.url, token: "secret" }) }
}

describe("toRequest", () => {
  test("encodes path parameters so that none can reach another route", async () => {
    const { server, client } = start()
    await using _ = server
    await client.getValByName({ username: "@ada", val_name: "../me?x=1#é/%2e" })
    expect(server.seen[0]?.path).toBe("/v1/alias/%40ada/..%2Fme%3Fx%3D1%23%C3%A9%2F%252e")
    expect([...(server.seen[0]?.query ?? [])]).toEqual([])
  })

  for (const segment of ["", ".", ".."]) {
    test(`refuses "${segment}" as a path parameter before anything is sent`, async () => {
      const { server, client } = start()
      await using _ = server
      await expect(client.updateVal({ val_id: segment, name: "other" })).rejects.toThrow(
        `Cannot put "${segment}" into a path: it is not a valid "val_id"`,
      )
      await expect(client.deleteVal({} as { val_id: string })).rejects.toThrow(TypeError)
      await client.getHealth()
      expect(server.seen.map((seen) => seen.path)).toEqual(["/healthz"])
    })
  }

  test("writes numbers, booleans, dates and lists into the query, and leaves out undefined", async () => {
    const { server, client } = start()
    await using _ = server
    await client.listMyRuns({
      limit: 5,
      offset: 0,
      error: false,
      since: new Date(7),
      until: "2024-01-01T00:00+01:00",
      source: ["api", "ui"],
    })
    await client.listMyRuns({ limit: undefined, source: "http" })
    expect(server.seen.map((seen) => Object.fromEntries(seen.query))).toEqual([
      {
        limit: "5",
        offset: "0",
        error: "false",
        since: "1970-01-01T00:00:00.007Z",
        until: "2024-01-01T00:00+01:00",
        source: "api,ui",
      },
      { source: "http" },
    ])
  })

  test("keeps null apart from undefined in a body", async () => {
    const { server, client } = start()
    await using _ = server
    await client.updateVal({ val_id, readme: null, name: undefined })
    await client.createToken({ name: "ci", scopes: ["val:read"], expiresAt: new Date(7) })
    expect(server.seen.map((seen) => JSON.parse(seen.body))).toEqual([
      { readme: null },
      { name: "ci", scopes: ["val:read"], expiresAt: "1970-01-01T00:00:00.007Z" },
    ])
  })

  test("refuses an invalid Date, which as JSON would be null: a token without an end", async () => {
    const { server, client } = start()
    await using _ = server
    await expect(
      client.createToken({ name: "ci", scopes: ["val:read"], expiresAt: new Date("rubbish") }),
    ).rejects.toThrow(RangeError)
    expect(server.seen).toHaveLength(0)
  })

  test("sends If-Match as the version's ETag and If-None-Match as given", async () => {
    const { server, client } = start()
    await using _ = server
    await client.createVersion({ val_id, code: "1" }, { ifMatch: 3 })
    await client.raw.getVal({ val_id }, { ifNoneMatch: 'W/"3-x"' })
    expect(server.seen[0]?.headers.get("if-match")).toBe('"3"')
    expect(server.seen[1]?.headers.get("if-none-match")).toBe('W/"3-x"')
  })

  test("generates an idempotency key for each POST, unless the caller gives one", async () => {
    const { server, client } = start()
    await using _ = server
    await client.createVal({ code: "1" })
    await client.createVal({ code: "1" })
    await client.createVal({ code: "1" }, { idempotencyKey: "mine" })
    const keys = server.seen.map((seen) => seen.headers.get("idempotency-key"))
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/)
    expect(keys[1]).toMatch(/^[0-9a-f]{32}$/)
    expect(keys[1]).not.toBe(keys[0])
    expect(keys[2]).toBe("mine")
  })

  test("throws for a key that is not a header value", async () => {
    const { server, client } = start()
    await using _ = server
    await expect(client.createVal({ code: "1" }, { idempotencyKey: "a\nb" })).rejects.toThrow(
      TypeError,
    )
    expect(server.seen).toHaveLength(0)
  })
})
