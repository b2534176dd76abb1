import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { join, nothing, raw, type Statement, sql } from "./sql.ts"

describe("sql", () => {
  test("numbers each value, also when one occurs twice", () => {
    const id = "a"

    expect(sql`select ${id}, ${2}, ${id}`).toEqual({
      text: "select $1, $2, $3",
      values: ["a", 2, "a"],
    })
  })

  test("takes null and bytes as values, not as statements", () => {
    const bytes = new Uint8Array([1])

    expect(sql`select ${null}, ${bytes}`).toEqual({ text: "select $1, $2", values: [null, bytes] })
  })

  test("gives the same text for each use of a template", () => {
    const statements = [1, 2].map((value) => sql`select ${value}`)

    expect(statements.map(({ values }) => values)).toEqual([[1], [2]])
    expect(statements[0]?.text).toBe(statements[1]?.text as string)
  })

  test("gives another text when other statements are nested", () => {
    const toStatement = (left: Statement | number, right: Statement | number) =>
      sql`${left}, ${right}`
    const [x, y] = [raw("x"), sql`y = ${2}`]

    const uses = [toStatement(1, x), toStatement(x, 1), toStatement(1, y), toStatement(1, 3)]
    expect(uses).toEqual([
      { text: "$1, x", values: [1] },
      { text: "x, $1", values: [1] },
      { text: "$1, y = $2", values: [1, 2] },
      { text: "$1, $2", values: [1, 3] },
    ])
  })

  test("shifts the numbers of nested statements", () => {
    const where = sql`a = ${1} and b = ${2}`

    expect(sql`select ${0} where ${where} or ${where} limit ${3} ${nothing}`).toEqual({
      text: "select $1 where a = $2 and b = $3 or a = $4 and b = $5 limit $6 ",
      values: [0, 1, 2, 1, 2, 3],
    })
  })

  test("shifts numbers of more than one digit", () => {
    const twelve = join(
      Array.from({ length: 12 }, (_, index) => sql`${index}`),
      ", ",
    )

    expect(sql`${"first"}, ${twelve}`.text).toBe(
      `${Array.from({ length: 13 }, (_, index) => `$${index + 1}`).join(", ")}`,
    )
  })

  test("numbers values without gaps, however statements are nested", () => {
    const { statement } = fc.letrec<{ statement: Statement }>((tie) => ({
      statement: fc.oneof(
        { maxDepth: 4, depthSize: "medium" },
        fc.integer().map((value) => sql`${value}`),
        fc.constant(raw("x")),
        fc
          .tuple(tie("statement"), fc.string(), tie("statement"))
          .map(([left, value, right]) => sql`(${left}, ${value}, ${right})`),
        fc.array(tie("statement"), { maxLength: 3 }).map((parts) => join(parts, ", ")),
      ),
    }))

    fc.assert(
      fc.property(statement, ({ text, values }) => {
        const numbers = [...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number))
        expect(numbers).toEqual(values.map((_, index) => index + 1))
      }),
    )
  })
})
