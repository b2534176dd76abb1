import { expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import { createNodeStore } from "../nodes.ts"
import { createIdempotencyStore } from "./idempotency.ts"

const at = 1_000_000
const [request, another] = [1, 2].map((byte) => new Uint8Array(32).fill(byte)) as [
  Uint8Array,
  Uint8Array,
]
const progress = new Uint8Array([7])

describeEachDatabase("createIdempotencyStore", (open) => {
  async function openStore() {
    const { db } = await open()
    const [nodes, store] = [createNodeStore(db), createIdempotencyStore(db)]
    const [userId, nodeId] = [Bun.randomUUIDv7(), Bun.randomUUIDv7()]
    await db.run`
      insert into users (id, username, username_key, created_at) values (${userId}, 'ada', 'ada', 1)`
    await nodes.add({ id: nodeId, host: "", pid: 1, pidStarted: "" }, 60_000)
    const claim = (fingerprint: Uint8Array, expiresAt = at + 1_000) =>
      store.claim({
        userId,
        key: "key",
        nodeId,
        fingerprint,
        at,
        discardBefore: at - 10_000,
        expiresAt,
      })
    return {
      claim,
      /** The request has written something, and its server has crashed. */
      async crash() {
        await db.write(function* () {
          yield sql`update idempotency_keys set progress = ${progress}`
          yield sql`update nodes set is_gone = 1`
        })
      },
    }
  }

  test("claim gives a key to one request until its node is gone", async () => {
    const { claim, crash } = await openStore()
    expect(await claim(request)).toEqual({ kind: "claimed", progress: undefined })
    expect(await claim(request)).toMatchObject({ kind: "known", response: undefined })
    await crash()
    expect(await claim(request, at + 2_000)).toEqual({ kind: "claimed", progress })
  })

  test("claim gives a key under which something was written to the same request only", async () => {
    const { claim, crash } = await openStore()
    await claim(request)
    await crash()
    expect(await claim(another)).toMatchObject({ kind: "known", fingerprint: request })
    expect(await claim(request)).toEqual({ kind: "claimed", progress })
  })
})
