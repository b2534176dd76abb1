import { describe, expect, test } from "bun:test"
import { valName } from "@hamlet/contract"
import fc from "fast-check"
import { generateName } from "./generate-name.ts"

const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe("generateName", () => {
  test("returns a valid name for any random numbers and any number of failed attempts", () => {
    fc.assert(
      fc.property(fc.nat(1000), fc.infiniteStream(chance), (attempt, chances) => {
        const name = generateName(attempt, () => chances.next().value)
        expect(valName.safeParse(name).success).toBe(true)
        expect(name).toMatch(
          attempt === 0 ? /^[a-z]+[A-Z][a-z]+$/ : /^[a-z]+[A-Z][a-z]+[0-9]{1,9}$/,
        )
      }),
    )
  })

  test("allows larger numbers after each failed attempt, up to nine digits", () => {
    const highest = (attempt: number) =>
      Number(/\d+$/.exec(generateName(attempt, () => 1 - Number.EPSILON))?.[0])
    expect([1, 2, 3, 7, 8, 9, 1000].map(highest)).toEqual([
      99, 999, 9_999, 99_999_999, 999_999_999, 999_999_999, 999_999_999,
    ])
  })

  test("has hundreds of names before it adds a number", () => {
    expect(new Set(Array.from({ length: 10_000 }, () => generateName(0))).size).toBeGreaterThan(500)
  })
})
