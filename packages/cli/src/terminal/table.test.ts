import { describe, expect, test } from "bun:test"
import { toTable, truncateTo } from "./table.ts"

const column = (title: string, cells: readonly string[], isWhole = false) => ({
  title,
  cells: cells.map((text) => ({ text })),
  isWhole,
})
const same = (text: string) => text

describe("toTable", () => {
  test("aligns columns by the width of characters on a terminal", () => {
    expect(toTable([column("A", ["x", "日本"]), column("LONGER", ["1", "2"])], 80, same)).toEqual([
      "A     LONGER",
      "x     1",
      "日本  2",
    ])
  })

  test("shortens the widest columns until a line fits", () => {
    const rows = toTable(
      [
        column("ID", ["0123456789"], true),
        column("A", ["a".repeat(30)]),
        column("B", ["b".repeat(20)]),
      ],
      40,
      same,
    )
    expect(rows[1]).toBe(`0123456789  ${"a".repeat(12)}…  ${"b".repeat(12)}…`)
    expect(rows[1]?.length).toBe(40)
  })

  test("never truncates columns marked as whole, however narrow the terminal is", () => {
    expect(
      toTable([column("ID", ["0123456789"], true), column("A", ["abcdefghij"])], 5, same)[1],
    ).toBe("0123456789  abcde…")
  })

  test("colours after truncating, so that colours take no width", () => {
    const painted = {
      title: "A",
      cells: [{ text: "abcdefghij", paint: (text: string) => `<${text}>` }],
      isWhole: false,
    }
    expect(toTable([painted, column("B", ["x"])], 10, same)).toEqual(["A        B", "<abcdef…>  x"])
  })
})

describe("truncateTo", () => {
  test("never cuts a character in two", () => {
    expect(truncateTo("👩‍👩‍👧 family", 5)).toBe("👩‍👩‍👧 f…")
    expect(truncateTo("日本語", 4)).toBe("日…")
    expect(truncateTo("short", 5)).toBe("short")
  })
})
