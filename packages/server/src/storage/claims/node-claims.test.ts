import { expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import { insertValRows } from "../../../test/support/data/insert-val-rows.ts"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import { hashToken } from "../../domain/accounts/token-text.ts"
import { makeToken } from "../../domain/accounts/tokens.ts"
import { createIdempotencyStore } from "../accounts/idempotency.ts"
import { createTokenStore } from "../accounts/tokens.ts"
import { createNodeStore } from "../nodes.ts"
import { createQueueStore } from "../queue/queue.ts"

const clock = { now: Date.now, newId: () => Bun.randomUUIDv7() }

describeEachDatabase("isLive", (open) => {
  test("frees idempotency keys and run tokens as soon as their node is gone, before its runs are taken", async () => {
    const { db } = await open()
    const [ada, val, node, other] = [0, 1, 2, 3].map(clock.newId) as [
      string,
      string,
      string,
      string,
    ]
    const [nodes, queue] = [createNodeStore(db), createQueueStore(db)]
    const [keys, tokens] = [createIdempotencyStore(db), createTokenStore(db)]
    await db.write(function* () {
      yield sql`insert into users (id, username, username_key, created_at) values (${ada}, 'ada', 'ada', 1)`
      yield* insertValRows({ id: val, ownerId: ada, name: "hello" })
    })
    for (const id of [node, other])
      await nodes.add({ id, host: "h", pid: 1, pidStarted: id }, 60_000)
    const run = { id: clock.newId(), valId: val, accountId: ada }
    await queue.enqueue({ ...run, version: "current", source: "api", args: [] })
    const request = { held: [], runsMax: 1, after: null, roomOf: () => 1 }
    expect((await queue.claim({ ...request, nodeId: node })).runs).toHaveLength(1)
    const made = { name: "run", scopes: ["val:read"], expiresAt: null } as const
    const { record, text } = makeToken(clock, ada, made)
    await tokens.changeRunTokens(node, [record], [])
    const claim = (nodeId: string) =>
      keys.claim({
        userId: ada,
        key: "k",
        nodeId,
        fingerprint: new Uint8Array([1]),
        at: 1,
        expiresAt: Number.MAX_SAFE_INTEGER,
        discardBefore: 0,
      })
    const look = async () => {
      await tokens.removeLostRunTokens()
      return [(await claim(other))?.kind, (await tokens.findHolder(hashToken(text)))?.userId]
    }

    expect((await claim(node))?.kind).toBe("claimed")
    expect(await look()).toEqual(["known", ada])
    await nodes.end(node)
    expect((await nodes.list()).map(({ id, isGone }) => [id, isGone])).toContainEqual([node, true])
    expect(await look()).toEqual(["claimed", undefined])
  })
})
