import { describe, expect, test } from "bun:test"
import { findRange, RangeNotSatisfiable } from "./range.ts"

const etag = '"x"'
const find = (range: string, size = 100, more: Record<string, string> = {}) =>
  findRange(new Headers({ range, ...more }), size, etag)

describe("findRange", () => {
  test.each([
    ["bytes=0-0", { start: 0, end: 1 }],
    ["bytes=0-99", { start: 0, end: 100 }],
    ["bytes=10-", { start: 10, end: 100 }],
    ["bytes=10-1000", { start: 10, end: 100 }],
    ["bytes=-1", { start: 99, end: 100 }],
    ["bytes=-1000", { start: 0, end: 100 }],
    ["bytes=99-99", { start: 99, end: 100 }],
  ])("parses %s", (range, part) => expect(find(range)).toEqual(part))

  test.each([
    "",
    "bytes=",
    "bytes=-",
    "bytes=0-1,3-4",
    "lines=0-1",
    "bytes=5-4",
    "bytes=a-b",
    "bytes=0x1-2",
    "bytes=0-99999999999999999999",
  ])("ignores %j", (range) => expect(find(range)).toBeUndefined())

  test.each(["bytes=100-", "bytes=100-200", "bytes=-0"])(
    "throws for %s, with the size",
    (range) => {
      expect(() => find(range)).toThrow(RangeNotSatisfiable)
      expect(() => find(range)).toThrow("100 bytes")
    },
  )

  test("throws for any range of an empty blob", () => {
    expect(() => find("bytes=0-", 0)).toThrow(RangeNotSatisfiable)
    expect(findRange(new Headers(), 0, etag)).toBeUndefined()
  })

  test("ignores the range if if-range names other content", () => {
    expect(find("bytes=1-1", 100, { "if-range": etag })).toEqual({ start: 1, end: 2 })
    for (const other of ['"y"', 'W/"x"', "Sun, 06 Nov 1994 08:49:37 GMT"])
      expect(find("bytes=1-1", 100, { "if-range": other })).toBeUndefined()
  })
})
