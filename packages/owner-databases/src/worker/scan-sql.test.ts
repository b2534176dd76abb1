import { describe, expect, test } from "bun:test"
import { DatabaseSync } from "node:sqlite"
import fc from "fast-check"
import { findParameters, isBlank, skipBlanks } from "./scan-sql.ts"

describe("findParameters", () => {
  test.each([
    ["select 1", []],
    ["select ?, ?", [undefined, undefined]],
    ["select ?2, ?", [undefined, "?2", undefined]],
    ["select ?1, ?1, :a, :a, @a, $a", ["?1", ":a", "@a", "$a"]],
    ["select ':a', \"@b\", `?`, [$c], 'it''s :d'", []],
    ["select 1 -- ?\n, ? /* :a */", [undefined]],
    ["select a$b, x1:c from t", [":c"]],
    ["select $a::b(c), :über", ["$a::b(c)", ":über"]],
    ["select x'00', 1e5, data->>'$.a', ?", [undefined]],
    ["select ?99999999", []],
  ])("%s", (sql, parameters) => {
    expect(findParameters(sql, 1000)).toEqual(parameters)
  })

  test("finds as many as SQLite", () => {
    const db = new DatabaseSync(":memory:")
    const part = fc.constantFrom(
      ..."? ?1 ?3 :a :b @a $a 'x:y' \"?\" [:q] `@z` -- /* */ \n 1 a$b x'00' ' \" [".split(" "),
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const sql = `select ${parts.join(",")}`
        const count = countParameters(db, sql)
        if (count !== undefined)
          expect([sql, findParameters(sql, 1000).length]).toEqual([sql, count])
      }),
      { numRuns: 3_000 },
    )
    db.close()
  })
})

/** By trying with how many values it can be run; undefined where SQLite does not understand it. */
function countParameters(db: DatabaseSync, sql: string): number | undefined {
  try {
    const opcodes = db.prepare(`explain ${sql}`).all() as { opcode: string; p1: number }[]
    return Math.max(0, ...opcodes.filter(({ opcode }) => opcode === "Variable").map(({ p1 }) => p1))
  } catch {
    return undefined
  }
}

describe("isBlank and skipBlanks", () => {
  test.each(["", " \n;", "-- x", "-- x\n;", "/* x */", "/* x", ";;/**/;--"])(
    "%p is nothing to run",
    (sql) => {
      expect(isBlank(sql)).toBe(true)
      expect(skipBlanks(sql)).toBe("")
    },
  )

  test("skipBlanks keeps everything from the first statement on", () => {
    expect(isBlank("; select 1")).toBe(false)
    expect(skipBlanks(" ;-- x\n/* ; */ select 1; -- y")).toBe("select 1; -- y")
  })
})
