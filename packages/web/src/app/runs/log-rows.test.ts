import { describe, expect, test } from "bun:test"
import { filterLines, findVisible, toRows } from "./log-rows.ts"

const line = (message: string, level = "log") => ({
  at: "2026-01-01T00:00:00.000Z",
  level,
  message,
})

describe("toRows", () => {
  test("gives each line of a message a row", () => {
    expect(toRows([line("a"), line("b\nc\nd"), line("e")]).starts).toEqual([0, 1, 4, 5])
    expect(toRows([]).starts).toEqual([0])
  })
})

describe("findVisible", () => {
  const rows = toRows(
    Array.from({ length: 1_000 }, (_, index) => line(index % 10 === 0 ? "x\ny" : "x")),
  )

  test("covers exactly the visible rows, at every position", () => {
    for (let top = 0; top < (rows.starts.at(-1) ?? 0); top += 7) {
      const { from, to } = findVisible(rows, top, 30)
      expect(rows.starts[from]).toBeLessThanOrEqual(top)
      expect(rows.starts[to]).toBeGreaterThanOrEqual(Math.min(top + 30, rows.starts.at(-1) ?? 0))
      expect(to - from).toBeLessThan(34)
    }
  })

  test("finds nothing in an empty log", () => {
    expect(findVisible(toRows([]), 0, 30)).toEqual({ from: 0, to: 0 })
  })
})

describe("filterLines", () => {
  test("keeps lines of at least a level that contain the text", () => {
    const lines = [line("one", "debug"), line("TWO", "warn"), line("two", "error")]
    expect(filterLines(lines, "warn", "").map(({ message }) => message)).toEqual(["TWO", "two"])
    expect(filterLines(lines, "debug", "two").map(({ message }) => message)).toEqual(["TWO", "two"])
    expect(filterLines(lines, "debug", "")).toBe(lines)
  })
})
