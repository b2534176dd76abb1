import { describe, expect, test } from "bun:test"
import { limits } from "../limits.ts"
import { batchSqlBody, executeSqlBody } from "./sql.ts"

function problemOf(statement: unknown): string | undefined {
  return executeSqlBody.safeParse({ statement }).error?.issues[0]?.message
}

describe("a statement", () => {
  test("is a text, or a text with args in order or by name", () => {
    expect(executeSqlBody.parse({ statement: "select 1" })).toEqual({
      statement: { sql: "select 1", args: [] },
    })
    expect(executeSqlBody.parse({ statement: { sql: "select 1" } })).toEqual({
      statement: { sql: "select 1", args: [] },
    })
    const args = [null, true, 1.5, "x", { base64: "AQI=" }, { 0: 1, 1: 255 }, { base64: "" }]
    expect(executeSqlBody.parse({ statement: { sql: "select 1", args } }).statement.args).toEqual(
      args,
    )
    const named = { a: 1, ":b": { base64: "AQID" } }
    expect(
      executeSqlBody.parse({ statement: { sql: "select 1", args: named, wantRows: true } })
        .statement,
    ).toEqual({
      sql: "select 1",
      args: named,
    })
  })

  test("cannot be anything else", () => {
    for (const statement of [undefined, null, 5, true, [], {}, { sql: 5 }, { q: "select 1" }])
      expect([statement, problemOf(statement)]).toEqual([
        statement,
        "must be an SQL statement, or {sql, args}",
      ])
  })

  test.each([
    ["", "must have 1 to 1000000 characters"],
    ["x".repeat(limits.sqlCharsMax + 1), "must have 1 to 1000000 characters"],
    ["select '\0'", "must not contain the NUL character"],
    ["select '\ud800'", "must not contain a lone surrogate"],
  ])("cannot be such a text (%#)", (sql, problem) => {
    expect(problemOf(sql)).toBe(problem)
    expect(problemOf({ sql, args: [] })).toBe(problem)
  })

  test("cannot have args that are neither a list nor an object, or too many", () => {
    for (const args of [5, "x", true])
      expect(problemOf({ sql: "x", args })).toBe("must have an array or an object as its args")
    expect(problemOf({ sql: "x", args: Array(limits.sqlArgsMax).fill(1) })).toBeUndefined()
    expect(problemOf({ sql: "x", args: Array(limits.sqlArgsMax + 1).fill(1) })).toBe(
      "must have at most 32766 args",
    )
  })

  test.each([
    [[]],
    [[1]],
    [{}],
    [{ a: 1 }],
    [{ 0: 256 }],
    [{ 0: 1.5 }],
    [{ 1: 1 }],
    [{ base64: 5 }],
    [{ base64: "A" }],
    [{ base64: "AQ=" }],
    [{ base64: "A-_=" }],
    [undefined],
  ])("cannot have the arg %j", (arg) => {
    expect(problemOf({ sql: "x", args: [1, arg] })).toEndWith("as its args.1")
    expect(problemOf({ sql: "x", args: { a: 1, b: arg } })).toEndWith("as its args.b")
  })
})

describe("a batch", () => {
  test("is deferred by default, and may be empty", () => {
    expect(batchSqlBody.parse({ statements: [] })).toEqual({ statements: [], mode: "deferred" })
    expect(batchSqlBody.safeParse({ statements: ["a"], mode: "exclusive" }).success).toBe(false)
    expect(batchSqlBody.safeParse({ statements: "a" }).success).toBe(false)
  })

  test("names the invalid statement, and limits their number", () => {
    const { error } = batchSqlBody.safeParse({ statements: ["a", { sql: "b", args: [{}] }, 5] })
    expect(error?.issues.map(({ path }) => path.join("."))).toEqual([
      "statements.1",
      "statements.2",
    ])
    expect(
      batchSqlBody.safeParse({ statements: Array(limits.sqlStatementsMax).fill("a") }).success,
    ).toBe(true)
    expect(
      batchSqlBody.safeParse({ statements: Array(limits.sqlStatementsMax + 1).fill("a") }).success,
    ).toBe(false)
  })
})
