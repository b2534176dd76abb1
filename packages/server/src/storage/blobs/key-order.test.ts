import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { firstAfterPrefix, isBefore } from "./key-order.ts"

const letter = fc.oneof(
  fc.constantFrom("a", "b", "\x01", "%", "_", "\ud7ff", "\ue000", "\uffff", "😀", "\u{10ffff}"),
  fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
)
const text = fc.string({ unit: letter, maxLength: 5 })

describe("isBefore", () => {
  test("orders texts by their code points", () => {
    const toPoints = (value: string) => Array.from(value, (one) => one.codePointAt(0) ?? 0)
    const expected = (left: readonly number[], right: readonly number[]): boolean => {
      const at = left.findIndex((point, index) => point !== right[index])
      return at < 0 ? left.length < right.length : (left[at] ?? 0) < (right[at] ?? -1)
    }
    fc.assert(
      fc.property(text, text, (left, right) =>
        expect(isBefore(left, right)).toBe(expected(toPoints(left), toPoints(right))),
      ),
    )
    // The operator of JavaScript orders them differently.
    expect([isBefore("\uffff", "😀"), "\uffff" < "😀"]).toEqual([true, false])
  })
})

describe("firstAfterPrefix", () => {
  test("sorts after all texts with the prefix, and before all other later texts", () => {
    const isWithin = (value: string, prefix: string) => {
      const end = firstAfterPrefix(prefix)
      return !isBefore(value, prefix) && (end === undefined || isBefore(value, end))
    }
    fc.assert(
      fc.property(text, text, text, (prefix, rest, other) => {
        expect(isWithin(prefix + rest, prefix)).toBe(true)
        expect(isWithin(other, prefix)).toBe(other.startsWith(prefix))
      }),
      { numRuns: 1000 },
    )
  })

  test.each([
    ["", undefined],
    ["a", "b"],
    ["az", "a{"],
    ["a\ud7ff", "a\ue000"],
    ["a\u{10ffff}\u{10ffff}", "b"],
    ["\u{10ffff}", undefined],
    ["😀", "😁"],
  ])("returns for %j: %j", (prefix, end) => expect(firstAfterPrefix(prefix)).toBe(end))
})
