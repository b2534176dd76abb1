import { describe, expect, test } from "bun:test"
import { createHash } from "node:crypto"
import { DatabaseSync, type StatementSync } from "node:sqlite"
import {
  describeDoneTable,
  doneBytesMax,
  doneTable,
  findDone,
  type OwnStatement,
  recordDone,
  toDoneTableState,
} from "./done-requests.ts"

const day = 24 * 60 * 60 * 1000

function openTable() {
  const db = new DatabaseSync(":memory:")
  const prepared = new Map<string, StatementSync>()
  const run = ({ sql, args }: OwnStatement) => {
    const statement = prepared.get(sql) ?? db.prepare(sql)
    prepared.set(sql, statement)
    return statement.all(...args)
  }
  const toRequest = (hash: string, at: number) => ({ hash, at, discardBefore: at - day })
  return {
    db,
    add(hash: string, at: number, result = "{}"): void {
      for (const one of recordDone(toRequest(hash, at), Buffer.from(result))) run(one)
    },
    find: (hash: string, at: number) => run(findDone(toRequest(hash, at))),
    readNumber: (sql: string) => Number(Object.values(db.prepare(sql).get() ?? {})[0]),
    [Symbol.dispose]: () => db.close(),
  }
}

describe("recordDone", () => {
  test("keeps the last 10,000 requests, and the results of the last 250", () => {
    using table = openTable()
    const count = 10_100
    const toHash = (index: number) => createHash("sha256").update(`${index}`).digest("base64url")
    const result = `"${"é".repeat(2_000)}"`
    table.db.exec("begin")
    for (let index = 0; index < count; index++) table.add(toHash(index), index, result)
    table.db.exec("commit")
    expect(table.readNumber(`select count(*) from ${doneTable}`)).toBe(10_000)
    expect(table.readNumber(`select count(result) from ${doneTable}`)).toBe(250)
    for (const [index, rows] of [
      [count - 1, [{ result }]],
      [count - 250, [{ result }]],
      [count - 251, [{ result: null }]],
      [count - 10_000, [{ result: null }]],
      [count - 10_001, []],
    ] as const)
      expect([index, table.find(toHash(index), count).map((row) => ({ ...row }))]).toEqual([
        index,
        [...rows],
      ])
    const bytes = table.readNumber("pragma page_count") * table.readNumber("pragma page_size")
    expect(bytes).toBeLessThan(doneBytesMax)
  })

  test("removes a few old requests with each new one", () => {
    using table = openTable()
    for (let index = 0; index < 50; index++) table.add(`old ${index}`, 1)
    const counts = [1, 2, 3, 4].map((later) => {
      table.add(`new ${later}`, day + later)
      return table.readNumber(`select count(*) from ${doneTable}`)
    })
    expect(counts).toEqual([31, 12, 3, 4])
  })

  test("fails when the request is recorded, unless that is too long ago", () => {
    using table = openTable()
    for (let index = 0; index < 50; index++) table.add(`old ${index}`, 1)
    expect(() => table.add("old 49", day)).toThrow(`UNIQUE constraint failed: ${doneTable}.hash`)
    expect(table.find("old 49", day)).toHaveLength(1)
    expect(table.find("old 49", day + 1)).toEqual([])
    table.add("old 49", day + 1, "again")
    expect(table.find("old 49", day + 2)).toMatchObject([{ result: "again" }])
  })
})

test.each([
  ["", "absent"],
  [`create table "${doneTable}" (hash, id, at, result)`, "theirs"],
  [`create table ${doneTable} (hash TEXT primary key, id INTEGER, at INTEGER)`, "theirs"],
  [`create view ${doneTable} as select 1 as hash`, "theirs"],
  [`create virtual table ${doneTable} using fts5(hash)`, "theirs"],
] as const)("toDoneTableState after %p is %p", (sql, state) => {
  using table = openTable()
  table.db.exec(sql)
  expect(toDoneTableState(table.db.prepare(describeDoneTable).all())).toBe(state)
})

test("toDoneTableState knows our table", () => {
  using table = openTable()
  table.add("one", 1)
  expect(toDoneTableState(table.db.prepare(describeDoneTable).all())).toBe("ours")
})
