import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { limitPart, limitTo, toSlice } from "./slices.ts"

const page = fc.record({ limit: fc.integer({ min: 1, max: 100 }), offset: fc.nat(300) })
const list = fc.array(fc.nat(), { maxLength: 250 })

/** What a database gives for these limits. */
const cut = (rows: readonly number[], limit: number, offset = 0) => rows.slice(offset, offset + limit)

describe("limitTo with toSlice", () => {
  test("gives the page that was asked for, converted, and whether there is more", () => {
    fc.assert(
      fc.property(list, page, (rows, at) => {
        const { text, values } = limitTo(at)
        expect(text).toBe("limit $1 offset $2")
        const [limit = 0, offset = 0] = values.map(Number)
        const slice = toSlice(cut(rows, limit, offset), at, (row) => -row)
        expect(slice.items).toEqual(rows.slice(at.offset, at.offset + at.limit).map((row) => -row))
        expect(slice.hasMore).toBe(rows.length > at.offset + at.limit)
      }),
    )
  })

  test("converts no row that is not on the page", () => {
    const converted: number[] = []
    toSlice([1, 2, 3], { limit: 2, offset: 0 }, (row) => converted.push(row))
    expect(converted).toEqual([1, 2])
  })
})

describe("limitPart", () => {
  test("leaves in each part of a list everything that can be on the page of all of them together", () => {
    const newestFirst = (rows: readonly number[]) => rows.toSorted((left, right) => right - left)
    fc.assert(
      fc.property(list, list, page, (left, right, at) => {
        const [limit = 0] = limitPart(at).values.map(Number)
        const merged = newestFirst([left, right].flatMap((part) => cut(newestFirst(part), limit)))
        const pageOf = (rows: readonly number[]) => cut(rows, at.limit + 1, at.offset)
        expect(pageOf(merged)).toEqual(pageOf(newestFirst([...left, ...right])))
      }),
    )
  })
})
