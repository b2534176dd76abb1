import { expect, test } from "bun:test"
import { chooseUserRange, pickUser } from "./user-range.ts"

const everybody = "         0          0 4294967295\n"

test("chooseUserRange gives servers on one machine different user ids, above all others", () => {
  const first = chooseUserRange(100, everybody)
  const second = chooseUserRange(101, everybody)
  if (!first || !second) throw new Error("no users")
  expect(first.first).toBeGreaterThanOrEqual(1_879_048_192)
  expect(first.first + first.count).toBeLessThanOrEqual(second.first)
  const last = chooseUserRange(8191, everybody)
  expect((last?.first ?? 0) + (last?.count ?? 0)).toBeLessThanOrEqual(2_013_265_920)
  expect([0, 1, first.count].map((number) => pickUser(first, number) - first.first)).toEqual([
    0, 1, 0,
  ])
})

test("chooseUserRange uses the ids that a container has, and returns undefined without any", () => {
  expect(chooseUserRange(100, "0 100000 65536\n")).toEqual({ first: 30_000, count: 30_000 })
  expect(chooseUserRange(100, "0 1000 1\n1 100000 65536")?.first).toBe(30_000)
  expect(chooseUserRange(100, "0 1000 1\n")).toBeUndefined()
  expect(chooseUserRange(100, "")).toBeUndefined()
})
