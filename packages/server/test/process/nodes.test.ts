import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { ApiError, createClient } from "@hamlet/contract/client"
import { sql } from "@hamlet/database"
import { notRun } from "@hamlet/kit/testing"
import { databases } from "../support/databases.ts"
import { openEmpty, openServerFixture, type ServerFixture } from "../support/server-fixture.ts"

// A node is a server with a data folder of its own; what nodes share is the database and the key.
const sharedKey = { HAMLET_SECRET_KEY: Buffer.alloc(32, 5).toString("base64") }
const server = databases.find(({ name }) => name === "PostgreSQL")

if (server === undefined) notRun("several nodes", "HAMLET_TEST_POSTGRES_URL is not set")
else
  describe("several nodes", () => {
    test("that start at once on an empty database all start, with one first user and one token", async () => {
      await using fixture = await openServerFixture(openEmpty(server.open))
      const nodes = [startNode(fixture, 1), startNode(fixture, 2), startNode(fixture, 3)]
      const baseUrls = await Promise.all(nodes.map((node) => node.listening()))

      const tokens = nodes.flatMap((node) => /\n {2}token {2,}(\S+)\n/.exec(node.stdout)?.[1] ?? [])
      expect(tokens).toHaveLength(1)
      const db = await fixture.connect()
      expect(await db.read(sql`select username from users`)).toHaveLength(1)
      expect(await db.read(sql`select id from tokens where kind = 'token'`)).toHaveLength(1)
      await db.stop()

      // Whatever one of them does, the others know at once.
      const { username } = await createClient({
        baseUrl: baseUrls[0] ?? "",
        token: tokens[0] ?? "",
      }).getMe()
      const [first, second, third] = baseUrls.map((baseUrl) =>
        createClient({ baseUrl, token: tokens[0] ?? "" }),
      )
      if (!first || !second || !third) throw new Error("a node is missing")
      const { id } = await first.createVal({ name: "shared", code: "1" })
      expect((await second.createVersion({ val_id: id, code: "2" })).version).toBe(2)
      expect((await third.getValByName({ username, val_name: "shared" })).code).toBe("2")
      const brief = await first.createToken({ name: "brief", scopes: ["user:read"] })
      const stranger = createClient({ baseUrl: baseUrls[1] ?? "", token: brief.token })
      expect((await stranger.getMe()).username).toBe(username)
      await third.revokeToken({ token_id: brief.id })
      expect(await stranger.getMe().catch((error: unknown) => error)).toBeInstanceOf(ApiError)
    })

    test("execute a request once that two of them get with one Idempotency-Key", async () => {
      await using fixture = await openServerFixture(server.open)
      const token = "a-token-that-both-nodes-are-given-0123456789"
      const nodes = [startNode(fixture, 1, token), startNode(fixture, 2, token)]
      const clients = await Promise.all(
        nodes.map(async (node) =>
          createClient({ baseUrl: await node.listening(), token, retriesMax: 0 }),
        ),
      )
      const sent = await Promise.allSettled(
        clients.map((client) => client.createVal({ code: "once" }, { idempotencyKey: "one" })),
      )
      const made = sent.flatMap((result) =>
        result.status === "fulfilled" ? [result.value.id] : [],
      )
      const refused = sent.flatMap((result) =>
        result.status === "rejected" ? [(result.reason as ApiError).code] : [],
      )
      expect(new Set(made).size).toBe(1)
      expect(refused.filter((code) => code !== "idempotency_in_flight")).toEqual([])
      expect((await clients[0]?.listVals())?.data).toHaveLength(1)
      expect(nodes.map((node) => node.stdout.includes("token"))).toEqual([false, false])
    })

    test("refuse to work with different keys", async () => {
      await using fixture = await openServerFixture(server.open)
      await startNode(fixture, 1).listening()
      const other = fixture.start(["serve", "--data-dir", join(fixture.dataDir, "other")])
      expect(await other.ended()).toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(/^Cannot start: the secrets [^\n]+\n$/),
      })
    })
  })

function startNode(fixture: ServerFixture, number: number, token = "") {
  // Each would call the first user differently, so that two of them would show.
  const env = { ...sharedKey, HAMLET_TOKEN: token, HAMLET_USER: `node${number}` }
  return fixture.start(["serve", "--data-dir", join(fixture.dataDir, String(number))], env)
}
