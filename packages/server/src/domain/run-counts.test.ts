import { describe, expect, test } from "bun:test"
import { createRunCounts } from "./run-counts.ts"

describe("createRunCounts", () => {
  test("has a val due with its first run and then with every so many", () => {
    const counts = createRunCounts({ runsBetween: 3, valsMax: 10 })
    const due = Array.from({ length: 8 }, () => {
      counts.note("a")
      return counts.take().length
    })
    expect(due).toEqual([1, 0, 0, 1, 0, 0, 1, 0])
  })

  test("names each val once, and forgets them all rather than grow without end", () => {
    const counts = createRunCounts({ runsBetween: 100, valsMax: 2 })
    for (const val of ["a", "b", "a", "b"]) counts.note(val)
    expect(counts.take()).toEqual(["a", "b"])
    for (const val of ["c", "a"]) counts.note(val)
    expect(counts.take()).toEqual(["c", "a"])
    expect(counts.take()).toEqual([])
  })
})
