import { expect, test } from "bun:test"
import { Refused } from "@hamlet/kit"
import type { Candidates } from "./database.ts"
import { sql } from "./sql.ts"
import { describeEachDatabase } from "./testing/empty-databases.ts"
import { openAgain } from "./testing/test-databases.ts"

/** The outcome of a search in one word. */
const outcomeOf = (search: Promise<unknown>) =>
  search.then(
    () => "found",
    (error: unknown) => (error instanceof Refused ? error.code : String(error)),
  )

/** Numbers up to one, each of them twice. The even ones are hits. */
const numbers = (count: number): Candidates => ({
  select: sql`
    with recursive numbers(value) as (select 1 union all select value + 1 from numbers where value < ${count})
    select value as number, case when value % 2 = 0 then 1 end as is_even
    from numbers cross join (select 1 union all select 2) twice`,
  hitColumn: "is_even",
  rankColumns: ["number"],
  hitsMax: 2,
})

describeEachDatabase("openSearch", (open) => {
  test("returns the best ranked hits, each once", async () => {
    const { db } = await open()
    expect(await db.openSearch("ada").find<{ number: number }>(numbers(100))).toMatchObject([
      { number: 100 },
      { number: 98 },
    ])
  })

  test("ends a search that takes too long, without blocking other reads and searches", async () => {
    const database = await open()
    const db = await openAgain(database, { searchMsMax: 1_500 })
    try {
      const order: string[] = []
      const slow = outcomeOf(db.openSearch("ada").find(numbers(2_000_000_000))).then((outcome) =>
        order.push(outcome),
      )
      await db.read(sql`select 1`).then(() => order.push("read"))
      await slow
      expect(order).toEqual(["read", "search_timed_out"])
      expect(await db.openSearch("ada").find(numbers(2))).toHaveLength(1)
    } finally {
      await db.stop()
    }
  })

  test("refuses searches when too many of one searcher or of all are waiting", async () => {
    const database = await open()
    const db = await openAgain(database, { searchesWaitingMax: 8 })
    try {
      const searches = Array.from({ length: 20 }, () =>
        outcomeOf(db.openSearch("ada").find(numbers(1_000))),
      )
      const codes = await Promise.all([
        ...searches,
        outcomeOf(db.openSearch("bob").find(numbers(2))),
      ])
      expect(new Set(codes.slice(0, -1))).toEqual(new Set(["found", "overloaded"]))
      expect(codes.at(-1)).toBe("found")
    } finally {
      await db.stop()
    }
  })
})
