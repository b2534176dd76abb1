import { expect, test } from "bun:test"
import { type Database, sql } from "@hamlet/database"
import type { BudgetAsk, RateAsk } from "@hamlet/kit"
import { describeEachDatabase } from "../../test/support/databases.ts"
import { createBudgetStore } from "./budgets.ts"

const [first, second] = [
  "00000000-0000-7000-8000-000000000001",
  "00000000-0000-7000-8000-000000000002",
]
const slow = { capacity: 100, periodMs: 86_400_000, spent: 0, wanted: 0, used: 0 }
const rate = (key: string, more: Partial<RateAsk>): BudgetAsk => ({ ...slow, key, ...more })

describeEachDatabase("createBudgetStore", (open) => {
  test("settle adds up what nodes have spent, and grants no more than is left", async () => {
    const { db } = await open()
    const store = createBudgetStore(db)
    const asks = [rate("b", { spent: 60, used: 60 }), rate("a", { wanted: 5 })]
    expect(await store.settle(first, asks, true)).toMatchObject({
      answers: [{ used: 60, granted: 0 }, { granted: 5 }],
      added: 2,
    })
    const more = await store.settle(second, [rate("b", { spent: 10, wanted: 50, used: 10 })], true)
    expect(more).toMatchObject({ answers: [{ granted: 30 }], added: 0 })
  })

  test("settle of many nodes at once grants each token once", async () => {
    const { db } = await open()
    const store = createBudgetStore(db)
    const asks = ["a", "b", "c"].map((key) => rate(key, { wanted: 9 }))
    const settled = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        store.settle(first, index % 2 === 0 ? asks : asks.toReversed(), true),
      ),
    )
    const granted = settled.flatMap(({ answers }) => answers) as readonly { granted: number }[]
    expect(granted.reduce((sum, answer) => sum + answer.granted, 0)).toBe(300)
  })

  test("settle adds no row where none may be added", async () => {
    const { db } = await open()
    const store = createBudgetStore(db)
    await store.settle(first, [rate("known", {})], true)
    const asks = [rate("known", { wanted: 1 }), rate("new", { wanted: 1 })]
    const { answers } = await store.settle(first, asks, false)
    expect(answers).toMatchObject([{ granted: 1 }, undefined])
    expect(await db.read(sql`select key from budgets`)).toEqual([{ key: "known" }])
  })

  test("settle divides slots among live nodes; those of a node that is gone are free", async () => {
    const { db } = await open()
    await addNode(db, first)
    await addNode(db, second)
    const store = createBudgetStore(db)
    const ask = (nodeId: string, held: number, wanted: number) =>
      store.settle(nodeId, [{ key: "runs", max: 10, open: held, wanted }], true)
    await store.purge(1)
    await letPass(db, 20_000)
    expect((await ask(first, 0, 8)).answers).toEqual([{ held: 8, openMax: 10 }])
    expect((await ask(second, 0, 8)).answers).toEqual([{ held: 2, openMax: 2 }])
    expect((await ask(first, 8, 8)).answers).toEqual([{ held: 8, openMax: 5 }])
    await db.writeOne(sql`update nodes set is_gone = 1 where id = ${first}`)
    expect((await ask(second, 2, 8)).answers).toEqual([{ held: 8, openMax: 10 }])
  })

  test("settle gives each node its part of the slots until all have reported to an empty table", async () => {
    const { db } = await open()
    await addNode(db, first)
    await addNode(db, second)
    const store = createBudgetStore(db)
    const ask = async (nodeId: string, held: number, wanted: number) =>
      (await store.settle(nodeId, [{ key: "runs", max: 10, open: held, wanted }], true)).answers
    for (const isEmpty of [false, true]) {
      // A crash of PostgreSQL empties the table.
      if (isEmpty) await db.writeOne(sql`delete from budgets`)
      expect(await ask(first, 0, 10)).toEqual([{ held: 5, openMax: 5 }])
      await letPass(db, 19_000)
      expect(await ask(first, 0, 10)).toEqual([{ held: 5, openMax: 5 }])
      await letPass(db, 1_000)
      expect(await ask(first, 0, 10)).toEqual([{ held: 10, openMax: 10 }])
    }
    await store.purge(1)
    await letPass(db, 86_400_000)
    await store.purge(1)
    expect(await ask(first, 0, 10)).toEqual([{ held: 10, openMax: 10 }])
  })

  test("readRates has what nodes counted in the last minute, and readSlots what others hold", async () => {
    const { db } = await open()
    const store = createBudgetStore(db)
    await addNode(db, first)
    await addNode(db, second)
    const slots = (open: number) => ({ key: "slots", max: 10, open, wanted: open })
    const counted = { counted: 20, spent: 1, used: 1 }
    await store.settle(first, [rate("a", counted), rate("b", { wanted: 5 }), slots(3)], true)
    await store.settle(second, [rate("a", { ...counted, wanted: 4 }), slots(2)], true)
    expect(await store.readRates(["a", "b", "none"])).toEqual(new Map([["a", 44]]))
    expect(await store.readRates([])).toEqual(new Map())
    const read = (key: string) =>
      Promise.all([store.readSlots(first, key), store.readSlots(second, key)])
    expect([await read("slots"), await read("none")]).toEqual([
      [2, 3],
      [0, 0],
    ])
    await db.writeOne(sql`update nodes set is_gone = 1 where id = ${first}`)
    expect(await read("slots")).toEqual([2, 0])
  })

  test("purge keeps a minute longer what is counted of the last one, and nothing else", async () => {
    const { db } = await open()
    const store = createBudgetStore(db)
    await store.settle(first, [rate("counted", { counted: 1 }), rate("not counted", {})], true)
    const purge = async (passedMs: number) => {
      await db.writeOne(
        sql`update budgets set full_at = full_at - ${passedMs} where key <> 'table'`,
      )
      await store.purge(100)
      const left = await db.read<{ key: string }>(sql`select key from budgets order by key`)
      return left.map(({ key }) => key)
    }
    expect(await purge(1_000)).toEqual(["counted", "table"])
    expect(await store.readRates(["counted"])).toEqual(new Map([["counted", 1]]))
    expect(await purge(59_001)).toEqual(["table"])
  })

  test("purge removes budgets of which nothing is used, and counts the others", async () => {
    const { db } = await open()
    const store = createBudgetStore(db)
    await addNode(db, first)
    const asks: BudgetAsk[] = [
      rate("used", { spent: 1, used: 1 }),
      rate("unused", {}),
      { key: "slots", max: 3, open: 1, wanted: 1 },
      { key: "no slots", max: 3, open: 0, wanted: 0 },
    ]
    await store.settle(first, asks, true)
    await letPass(db, -60_000)
    expect(await store.purge(100)).toBe(5)
    await letPass(db, 120_001)
    await db.writeOne(sql`update budgets set full_at = full_at + 60000 where key = 'slots'`)
    expect([await store.purge(100), await store.purge(1)]).toEqual([3, 1])
    const left = await db.read<{ key: string }>(sql`select key from budgets order by key`)
    expect(left.map(({ key }) => key)).toEqual(["slots", "table", "used"])
  })
})

/** What has happened, happened so much earlier. */
async function letPass(db: Database, ms: number): Promise<void> {
  await db.writeOne(sql`update budgets set full_at = full_at - ${ms}`)
}

async function addNode(db: Database, id: string): Promise<void> {
  await db.writeOne(sql`insert into nodes (id, host, pid, pid_started, lease_until)
    values (${id}, 'here', 1, '1', ${db.dialect.now} + 60000)`)
}
