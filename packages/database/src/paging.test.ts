import { describe, expect, test } from "bun:test"
import { limitPart, limitTo, toPage } from "./paging.ts"

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)
/** The rows that a database returns for these limits. */
const cut = (rows: readonly number[], limit: number, offset = 0) =>
  rows.slice(offset, offset + limit)

describe("limitTo and toPage", () => {
  test("return the requested page, converted, and whether there is more", () => {
    for (const length of upTo(9)) {
      for (const at of upTo(4).flatMap((limit) =>
        upTo(9).map((offset) => ({ limit: limit + 1, offset })),
      )) {
        const rows = upTo(length)
        const { text, values } = limitTo(at)
        const [limit = 0, offset = 0] = values.map(Number)
        const slice = toPage(cut(rows, limit, offset), at, (row) => `row ${row}`)
        expect(text).toBe("limit $1 offset $2")
        expect(slice.items).toEqual(
          rows.slice(at.offset, at.offset + at.limit).map((row) => `row ${row}`),
        )
        expect(slice.hasMore).toBe(length > at.offset + at.limit)
      }
    }
  })

  test("convert no row that is not on the page", () => {
    const converted: number[] = []
    toPage([1, 2, 3], { limit: 2, offset: 0 }, (row) => converted.push(row))
    expect(converted).toEqual([1, 2])
  })
})

describe("limitPart", () => {
  test("keeps in each part every row that can be on the page of the merged list", () => {
    const all = upTo(7)
    for (const at of upTo(3).flatMap((limit) =>
      upTo(6).map((offset) => ({ limit: limit + 1, offset })),
    )) {
      const [limit = 0] = limitPart(at).values.map(Number)
      // Every way to split the rows into two parts.
      for (const mask of upTo(2 ** all.length)) {
        const parts = [
          all.filter((row) => mask & (1 << row)),
          all.filter((row) => !(mask & (1 << row))),
        ]
        const merged = parts.flatMap((part) => cut(part, limit)).toSorted()
        expect(cut(merged, at.limit + 1, at.offset)).toEqual(cut(all, at.limit + 1, at.offset))
      }
    }
  })
})
