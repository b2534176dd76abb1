import { expect, test } from "bun:test"
import { OpenCounts } from "./counter.ts"

test("OpenCounts counts each key up to a limit, and ends each count once", () => {
  const counts = new OpenCounts()
  const [first, second] = [counts.tryOpen("ada", 2), counts.open("ada")]
  expect([counts.tryOpen("ada", 2), counts.of("ada"), counts.of("bob")]).toEqual([undefined, 2, 0])
  expect(counts.tryOpen("bob", 2)).toBeFunction()
  first?.()
  first?.()
  expect([counts.of("ada"), counts.size, counts.total]).toEqual([1, 2, 2])
  second?.()
  expect([counts.of("ada"), counts.size, counts.total]).toEqual([0, 1, 1])
})
