import { describe, expect, test } from "bun:test"
import { createActiveRunCounts } from "./run-counts.ts"

describe("createRunCounts", () => {
  test("has a val due with its first run and then with every so many", () => {
    const counts = createActiveRunCounts({ between: 3, idsMax: 10 })
    const due = Array.from({ length: 8 }, () => {
      counts.note("a")
      return counts.take().length
    })
    expect(due).toEqual([1, 0, 0, 1, 0, 0, 1, 0])
  })

  test("names each val once, and forgets them all rather than grow without end", () => {
    const counts = createActiveRunCounts({ between: 100, idsMax: 2 })
    for (const val of ["a", "b", "a", "b"]) counts.note(val)
    expect(counts.take()).toEqual(["a", "b"])
    for (const val of ["c", "a"]) counts.note(val)
    expect(counts.take()).toEqual(["c", "a"])
    expect(counts.take()).toEqual([])
  })

  test("counts amounts, too", () => {
    const counts = createActiveRunCounts({ between: 100, idsMax: 10 })
    const due = [30, 60, 60, 500, 10].map((amount) => {
      counts.note("a", amount)
      return counts.take().length
    })
    expect(due).toEqual([1, 0, 1, 1, 0])
  })
})
