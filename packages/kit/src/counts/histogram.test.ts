import { expect, test } from "bun:test"
import { Histogram } from "./histogram.ts"

test("Histogram counts durations by their bounds", () => {
  const histogram = new Histogram([0.01, 0.1])
  for (const ms of [5, 10, 11, 100, 500]) histogram.add(ms)
  expect(histogram.counts).toEqual([2, 2])
  expect(histogram).toMatchObject({ count: 5, sumSeconds: 0.626, maxSeconds: 0.5 })
})
