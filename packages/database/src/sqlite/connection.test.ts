import { describe, expect, test } from "bun:test"
import { join, sql } from "../sql.ts"
import { SqliteConnection, withFixedLimits } from "./connection.ts"

describe("withFixedLimits", () => {
  test("writes limits into the text and leaves all other values bound, in order", () => {
    const part = sql`select 1 as one where 1 = ${1} limit ${7}`
    const statement = sql`select * from (${part}) where one <> ${"a"} limit ${21} offset ${40}`
    expect(withFixedLimits(statement)).toEqual({
      text: "select * from (select 1 as one where 1 = $1 limit 7) where one <> $3 limit 21 offset $5",
      values: [1, "a", 40],
    })
  })

  test("returns a statement as it is that has no limit, or one that is no whole number", () => {
    for (const statement of [
      sql`select ${1}`,
      sql`select 1 limit 5`,
      sql`select 1 limit ${"1; drop table notes"}`,
      sql`select 1 limit ${1.5}`,
    ])
      expect(withFixedLimits(statement)).toBe(statement)
  })

  test("returns a statement of many parts as it is: each of their limits is another time another", () => {
    const parts = (limits: readonly number[]) =>
      join(
        limits.map((limit) => sql`select * from (select 1 limit ${limit}) part`),
        " union all ",
      )
    expect(withFixedLimits(parts([1, 2, 3, 4, 5])).values).toEqual([])
    const many = parts([1, 2, 3, 4, 5, 6])
    expect(withFixedLimits(many)).toBe(many)
  })
})

describe("SqliteConnection", () => {
  test("reads with limits, other values and more statements than it keeps", () => {
    const connection = new SqliteConnection(":memory:", { isReadonly: false, preparedMax: 2 })
    const readNumbers = (from: number, limit: number, offset: number) =>
      connection.run(
        sql`select value from json_each('[1,2,3,4,5,6]') where value >= ${from} limit ${limit} offset ${offset}`,
      )
    for (let limit = 0; limit < 6; limit++)
      expect(readNumbers(2, limit, 1)).toEqual(
        [3, 4, 5, 6].slice(0, limit).map((value) => ({ value })),
      )
    connection.stop()
  })
})
