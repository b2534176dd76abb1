import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { createMask } from "../mask/secret-mask.ts"
import { truncateError, truncateMasked, truncateText, truncateValue } from "./truncate.ts"

const mark = /… \(cut, \d+ bytes in all\)$/
const withoutMark = (text: string) => text.replace(mark, "")

describe("truncateText", () => {
  test("keeps a text that fits, and of any other the longest start that fits", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", maxLength: 60 }),
        fc.integer({ min: 1, max: 100 }),
        (text, bytesMax) => {
          const cut = truncateText(text, bytesMax)
          if (Buffer.byteLength(text) <= bytesMax) return cut === text
          const kept = withoutMark(cut)
          const next = [...text.slice(kept.length)][0] ?? ""
          return (
            mark.test(cut) &&
            text.startsWith(kept) &&
            kept.isWellFormed() &&
            Buffer.byteLength(kept + next) > bytesMax
          )
        },
      ),
    )
  })

  test("adds the original length", () => {
    expect(truncateText("ééééé", 5)).toBe("éé… (cut, 10 bytes in all)")
  })
})

describe("truncateText twice", () => {
  test("does not truncate its own output again", () => {
    const once = truncateText("é".repeat(100), 51)
    expect(truncateText(once, 51)).toBe(once)
    expect(truncateText(once, 60)).toBe(once)
    expect(truncateText(once, 20)).toBe(
      `${"é".repeat(10)}… (cut, ${Buffer.byteLength(once)} bytes in all)`,
    )
  })
})

describe("truncateMasked", () => {
  test("masks a secret across the cut, and shows nothing beyond it", async () => {
    const mask = await createMask(new Map([["KEY", "hunter22"]]))
    expect(truncateMasked("hunter22 here", 100, mask)).toBe("[secret KEY] here")
    // What is hidden may be longer than what stands for it: the half of the second must not move
    // into the room.
    expect(truncateMasked(`${"hunter22".repeat(9)}x`, 70, mask)).not.toContain("hunt")
    expect(truncateMasked(`éé${"x".repeat(6)}hunter22`, 14, mask)).toBe(
      "ééxxxxxx[sec… (cut, 18 bytes in all)",
    )
    expect(truncateMasked(`${"😀".repeat(3)}hunter22`, 11, mask)).toBe(
      "😀😀… (cut, 20 bytes in all)",
    )
  })
})

describe("truncateValue", () => {
  test.each([[null], [1], ["text"], [[1, { a: [] }]], [{ a: "é" }], [false]])(
    "leaves %p as it is where it fits",
    (value) => {
      expect(truncateValue(value, 100)).toEqual(value)
    },
  )

  test("turns a value that is too long into text, and a value without JSON into undefined", () => {
    expect(
      truncateValue(
        Array.from({ length: 100 }, () => 7),
        10,
      ),
    ).toBe("[7,7,7,7,7… (cut, 201 bytes in all)")
    expect(truncateValue("x".repeat(20), 10)).toBe("xxxxxxxxxx… (cut, 20 bytes in all)")
    const cycle: unknown[] = []
    cycle.push(cycle)
    for (const nothing of [undefined, cycle, 1n, () => {}])
      expect(truncateValue(nothing, 10)).toBeNull()
  })
})

describe("truncateError", () => {
  test("keeps all parts together within the limit, and adds no missing stack", () => {
    const long = "x".repeat(1_000)
    const {
      name,
      message,
      stack = "",
    } = truncateError({ name: long, message: long, stack: long }, 500)
    expect([name, message, stack].map((part) => withoutMark(part).length)).toEqual([50, 200, 200])
    expect(truncateError({ name: "Error", message: "no" }, 500)).toEqual({
      name: "Error",
      message: "no",
    })
  })
})
