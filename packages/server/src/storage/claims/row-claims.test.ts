import { expect, test } from "bun:test"
import { type Database, raw, sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import { describeEachDatabase, openAgain } from "../../../test/support/databases.ts"
import type { Claim } from "../../domain/claims.ts"
import { createLanes } from "./lanes.ts"
import { asAdded, type ClaimedTable, createRowClaims } from "./row-claims.ts"

const options: ClaimedTable = {
  table: "messages",
  owner: "owner_id",
  hasLanes: true,
  nodeId: Bun.randomUUIDv7(),
  perOwnerMax: 100,
}
const none: readonly Claim[] = []
const longMs = 600_000
const ids = ({ length }: { length: number }) => Array.from({ length }, () => Bun.randomUUIDv7())

describeEachDatabase("createRowClaims", (open) => {
  async function setUp(changes: Partial<ClaimedTable> = {}) {
    const database = await open({ isEmpty: true })
    const { db } = database
    const { types } = db.dialect
    await db.write(function* () {
      yield raw(`create table messages (id ${types.id} primary key, owner_id ${types.id} not null,
        lane ${types.text}, attempts ${types.integer} not null default 0, fence ${types.integer} not null default 0,
        next_attempt_at ${types.time}, node_id ${types.id}, created_at ${types.time} not null, status ${types.text})`)
      yield raw(
        `create table nodes (id ${types.id} primary key, is_gone ${types.integer} not null)`,
      )
      yield raw(
        "create index messages_by_owner on messages (owner_id, next_attempt_at) where next_attempt_at is not null",
      )
      yield raw(
        "create index messages_by_lane on messages (lane, id) where next_attempt_at is not null",
      )
      yield sql`insert into nodes (id, is_gone) values (${options.nodeId}, 0)`
    })
    return { database, db, queue: createRowClaims(db, { ...options, ...changes }) }
  }

  const add = (db: Database, ownerId: string, id: string, lane: string | null = null) =>
    db.write(function* () {
      const { now } = db.dialect
      yield sql`insert into messages (id, owner_id, lane, next_attempt_at, created_at)
        values (${id}, ${ownerId}, ${lane}, ${now}, ${now})`
    })

  /** Lets time pass for all rows. */
  const pass = (db: Database, ms: number) =>
    db.write(function* () {
      yield sql`update messages set next_attempt_at = next_attempt_at - ${ms}`
    })

  const idsOf = (claims: readonly Claim[]) => claims.map(({ id }) => id)
  const sent = sql`status = 'sent'`

  test("tells listeners of rows that were added", async () => {
    const { db, queue } = await setUp()
    let told = 0
    const unlisten = queue.listen(() => {
      told += 1
    })
    // A listener is also told when its connection is there: notices may have been lost before.
    await waitUntil(async () => {
      await db.write(function* () {
        yield asAdded(
          "messages",
          sql`insert into messages (id, owner_id, next_attempt_at, created_at)
            values (${Bun.randomUUIDv7()}, ${Bun.randomUUIDv7()}, 1, 1)`,
        )
      })
      return told >= 2
    })
    unlisten()
  })

  test("claims each row once, and again when its node does not know of the claim", async () => {
    const { db, queue } = await setUp()
    const [owner = "", id = ""] = ids({ length: 2 })
    await add(db, owner, id)

    const first = await queue.claim(10, none)
    await pass(db, longMs)
    await queue.takeOver(first)
    const second = await queue.claim(10, none)
    await queue.takeOver(none)
    const third = await queue.claim(10, none)

    expect(first).toEqual([{ id, ownerId: owner, fence: 1, attempts: 1 }])
    expect(second).toEqual([])
    expect(third).toEqual([{ id, ownerId: owner, fence: 2, attempts: 2 }])
  })

  test("records the outcome of the last claim only", async () => {
    const { db, queue } = await setUp()
    const [owner = "", id = ""] = ids({ length: 2 })
    await add(db, owner, id)
    const [lost] = await queue.claim(1, none)
    await queue.takeOver(none)
    const [held] = await queue.claim(1, none)
    if (!lost || !held) throw new Error("Both claims must exist")

    expect(await db.write(() => queue.end(lost, sent))).toBe(false)
    expect(await db.write(() => queue.postpone(lost, 5, sent))).toBe(false)
    await queue.giveBack(lost)
    await queue.fail(lost, 0)
    expect(await queue.claim(1, none)).toEqual([])
    expect(await db.write(() => queue.end(held, sent))).toBe(true)
    expect(await db.write(() => queue.end(held, sent))).toBe(false)
    expect(await db.read(sql`select status, next_attempt_at from messages`)).toEqual([
      { status: "sent", nextAttemptAt: null },
    ])
    expect(await queue.nextDueMs()).toBeUndefined()
  })

  test("postpones a row, and gives a row back as if it had not been claimed", async () => {
    const { db, queue } = await setUp()
    const [owner = "", id = ""] = ids({ length: 2 })
    await add(db, owner, id)
    const [claim] = await queue.claim(1, none)
    if (!claim) throw new Error("The claim must exist")

    await db.write(() => queue.postpone(claim, longMs, sql`status = 'failing'`))
    expect(await queue.claim(1, none)).toEqual([])
    const dueMs = (await queue.nextDueMs()) ?? 0
    expect(dueMs > longMs - 60_000 && dueMs <= longMs).toBe(true)
    await pass(db, longMs + 1)
    const [again] = await queue.claim(1, none)
    if (!again) throw new Error("The claim must exist")
    await queue.giveBack(again)
    const [third] = await queue.claim(1, none)
    expect(third).toEqual({ id, ownerId: owner, fence: 3, attempts: 2 })
    if (third) await queue.fail(third, longMs)
    expect(await queue.claim(1, none)).toEqual([])
    await pass(db, longMs)
    expect(await queue.claim(1, none)).toEqual([{ id, ownerId: owner, fence: 4, attempts: 3 }])
  })

  test("lets owners take turns, however many rows one of them has", async () => {
    const { db, queue } = await setUp()
    const owners = ids({ length: 3 })
    for (const id of ids({ length: 50 })) await add(db, owners[0] ?? "", id)
    for (const owner of owners.slice(1)) await add(db, owner, Bun.randomUUIDv7())

    const claims = [...(await queue.claim(3, none)), ...(await queue.claim(2, none))]

    const counts = owners.map((owner) => claims.filter(({ ownerId }) => ownerId === owner).length)
    expect(counts).toEqual([3, 1, 1])
    expect(claims.slice(0, 3).map(({ ownerId }) => ownerId)).toEqual(owners)
  })

  test("begins again behind the last owner, and keeps no share for an owner without due rows", async () => {
    const { db, queue } = await setUp()
    const [owner = "", next = "", later = "", ...rows] = ids({ length: 6 })
    for (const id of rows) await add(db, owner, id)
    await add(db, next, later)
    await db.write(function* () {
      yield sql`update messages set next_attempt_at = next_attempt_at + ${longMs} where id = ${later}`
    })

    expect(await queue.claim(1, none)).toHaveLength(1)
    expect(await queue.claim(2, none)).toHaveLength(2)
  })

  test("claims no more of one owner than their share", async () => {
    const { db, queue } = await setUp({ perOwnerMax: 3 })
    const [busy = "", other = ""] = ids({ length: 2 })
    for (const id of ids({ length: 10 })) await add(db, busy, id)
    const first = await queue.claim(100, none)
    await add(db, other, Bun.randomUUIDv7())

    const second = await queue.claim(100, first)
    const third = await queue.claim(100, [...first.slice(1), ...second])

    expect(first.length).toBe(3)
    expect(second.map(({ ownerId }) => ownerId)).toEqual([other])
    expect(third.map(({ ownerId }) => ownerId)).toEqual([busy])
  })

  test("sends the rows of a lane one at a time, in the order of their ids", async () => {
    const { db, queue } = await setUp()
    const [owner = "", ...inLane] = ids({ length: 31 })
    // Inserted in another order than they were created.
    for (const id of inLane.toReversed()) await add(db, owner, id, "a")

    const order: string[] = []
    for (;;) {
      const [claim, ...others] = await queue.claim(5, none)
      if (!claim) break
      expect(others).toEqual([])
      expect(await queue.claim(5, none)).toEqual([])
      order.push(claim.id)
      await db.write(() => queue.end(claim, sent))
    }

    expect(order).toEqual(inLane)
  })

  test.each(["postpone", "fail"] as const)(
    "sends other lanes while one waits for its head, which is overtaken after five attempts that ended with %s",
    async (how) => {
      const { db, queue } = await setUp()
      const [owner = "", head = "", behind = "", ...others] = ids({ length: 5 })
      await add(db, owner, head, "a")
      await add(db, owner, behind, "a")
      for (const [index, id] of others.entries()) await add(db, owner, id, `b${index}`)

      expect(idsOf(await queue.claim(10, none)).sort()).toEqual([head, ...others].sort())
      for (let attempt = 2; attempt <= 5; attempt++) {
        await pass(db, longMs)
        await queue.takeOver(none)
        const claims = await queue.claim(10, none)
        expect(idsOf(claims)).not.toContain(behind)
        const claim = claims.find(({ id }) => id === head)
        expect(claim?.attempts).toBe(attempt)
        if (claim && how === "fail") await queue.fail(claim, 60_000)
        else if (claim) await db.write(() => queue.postpone(claim, 60_000, sql`status = 'failing'`))
      }

      expect(idsOf(await queue.claim(10, none))).toEqual([behind])
    },
  )

  test("the rows of a node that is gone are due at once, and that node cannot record them", async () => {
    const { db, queue } = await setUp()
    const [owner = "", ...rows] = ids({ length: 4 })
    const other = Bun.randomUUIDv7()
    await db.write(function* () {
      yield sql`insert into nodes (id, is_gone) values (${other}, 0)`
    })
    for (const id of rows) await add(db, owner, id)
    const held = await queue.claim(2, none)
    const [first, second] = held
    await queue.takeOver(held)
    const others = createRowClaims(db, { ...options, nodeId: other })
    const [third] = await others.claim(10, none)
    expect(await others.claim(10, none)).toEqual([])
    if (first) expect(await db.write(() => queue.end(first, sent))).toBe(true)
    if (third) await db.write(() => others.postpone(third, 1_000_000, sent))

    for (const change of [
      sql`update nodes set is_gone = 1 where id = ${options.nodeId}`,
      sql`delete from nodes where id = ${options.nodeId}`,
    ]) {
      await db.write(function* () {
        yield change
      })
      await others.takeOver(none)
      const [taken, ...more] = await others.claim(10, none)
      expect([taken?.id, more.length]).toEqual([second?.id, 0])
      if (second) expect(await db.write(() => queue.end(second, sent))).toBe(false)
      if (taken) await others.giveBack(taken)
      expect(await queue.claim(10, none)).toEqual([])
    }
  })

  test("a row is claimed by one of many nodes", async () => {
    const { database, db } = await setUp()
    const nodes = [db, await openAgain(database), await openAgain(database)]
    const queues = nodes.map((node) => createRowClaims(node, options))
    const owners = ids({ length: 4 })
    for (const owner of owners)
      for (const id of ids({ length: 15 })) await add(db, owner, id, `${owner}/${id[35]}`)

    const claimed: string[] = []
    await Promise.all(
      queues.map(async (queue, index) => {
        for (let misses = 0; misses < 20; ) {
          const claims = await queue.claim(4, none)
          misses = claims.length === 0 ? misses + 1 : 0
          for (const claim of claims) {
            claimed.push(claim.id)
            expect(await nodes[index]?.write(() => queue.end(claim, sent))).toBe(true)
          }
        }
      }),
    )
    for (const node of nodes.slice(1)) await node.stop()

    expect(new Set(claimed).size).toBe(claimed.length)
    // A row that was parked in the moment in which its lane became free waits for one lease.
    await pass(db, longMs)
    const [left] = await db.read<{ count: number }>(
      sql`select count(*) as count from messages where next_attempt_at is not null`,
    )
    expect(claimed.length + Number(left?.count)).toBe(60)
  })

  test("a due row that another node has ended meanwhile, and its lane with it, is not claimed", async () => {
    const { db } = await setUp()
    const row = { id: Bun.randomUUIDv7(), lane: "ended", attempts: 0 }
    const { findFree } = createLanes(raw("messages"))

    expect(await db.write(() => findFree([row], Date.now()))).toEqual([])
  })

  test("stats counts the rows that wait", async () => {
    const { db, queue } = await setUp({ hasLanes: false })
    expect(await queue.stats()).toEqual({ waiting: 0, oldestMs: 0 })
    const [owner = "", ...all] = ids({ length: 4 })
    for (const id of all) await add(db, owner, id)
    const [claim] = await queue.claim(1, none)
    if (claim) await db.write(() => queue.end(claim, sent))
    expect((await queue.stats()).waiting).toBe(2)
  })
})
