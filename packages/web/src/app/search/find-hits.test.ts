import { describe, expect, test } from "bun:test"
import { findHitLines, markHits } from "./find-hits.ts"

describe("markHits", () => {
  test("cuts at each hit, ignoring case", () => {
    expect(markHits("aXbxc", "x")).toEqual([
      { text: "a", isHit: false },
      { text: "X", isHit: true },
      { text: "b", isHit: false },
      { text: "x", isHit: true },
      { text: "c", isHit: false },
    ])
  })

  test("loses no character of any text", () => {
    for (const text of ["", "İstanbul", "aaa", "<b>x</b>"]) {
      expect(
        markHits(text, "a")
          .map((part) => part.text)
          .join(""),
      ).toBe(text)
    }
  })
})

describe("findHitLines", () => {
  test("names the lines and stops after a few", () => {
    const lines = findHitLines("no\nyes 1\nno\nyes 2\nyes 3\nyes 4", "yes")
    expect(lines.map(({ number }) => number)).toEqual([2, 4, 5])
  })

  test("cuts a long line around the hit", () => {
    const [line] = findHitLines(`${"a".repeat(5_000)}needle${"b".repeat(5_000)}`, "needle")
    const text = line?.parts.map((part) => part.text).join("") ?? ""
    expect(text).toContain("needle")
    expect(text.length).toBeLessThan(250)
  })
})
