import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { hasFewValues } from "./has-few-values.ts"

/** Names and values, one by one. */
function count(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1
  const inner = Object.values(value).reduce((sum: number, one) => sum + count(one), 0)
  return 1 + inner + (Array.isArray(value) ? 0 : Object.keys(value).length)
}

describe("hasFewValues", () => {
  test("counts the values and names of any JSON, with any strings", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const bytes = Buffer.from(JSON.stringify(value))
        const values = count(value)
        // What is empty counts as if it held one value.
        expect(hasFewValues(bytes, 2 * values)).toBe(true)
        if (values > 1) expect(hasFewValues(bytes, values - 1)).toBe(false)
      }),
    )
  })

  test.each(['"', '"\\\\', '"\\"', "[[[", "", "}"])("ends for invalid JSON: %s", (text) => {
    expect(typeof hasFewValues(Buffer.from(text), 2)).toBe("boolean")
  })
})
