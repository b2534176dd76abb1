import { describe, expect, test } from "bun:test"
import { asPicture, asTable } from "./as-table.ts"

describe("asTable", () => {
  test("has a column for each field of any row", () => {
    expect(asTable([{ a: 1 }, { b: 2, a: 3 }])).toEqual({
      columns: ["a", "b"],
      rows: [
        [1, undefined],
        [3, 2],
      ],
    })
  })

  test("returns undefined for other values", () => {
    for (const value of [[], [1], [{}], [null], [[1]], { a: 1 }, "x", undefined])
      expect(asTable(value)).toBeUndefined()
  })
})

describe("asPicture", () => {
  test("accepts images that cannot contain scripts", () => {
    expect(asPicture("data:image/png;base64,AAAA")).toBe("data:image/png;base64,AAAA")
    for (const value of [
      "data:image/svg+xml;base64,AAAA",
      "data:text/html;base64,AAAA",
      "https://x/y.png",
      3,
    ])
      expect(asPicture(value)).toBeUndefined()
  })
})
