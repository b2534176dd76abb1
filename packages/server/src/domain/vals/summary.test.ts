import { describe, expect, test } from "bun:test"
import { summarizeVal } from "./summary.ts"

describe("summarizeVal", () => {
  test("takes the first prose of the readme, without Markdown", () => {
    const readme =
      "# Title\n\n![logo](x.png)\n\nSquares **numbers**, see [the docs](https://x.invalid)."
    expect(summarizeVal({ readme, code: "export default 1" })).toBe(
      "Squares numbers, see the docs.",
    )
  })

  test("takes the heading of a readme that has only that", () => {
    expect(summarizeVal({ readme: "# Squares\n", code: "x" })).toBe("Squares")
  })

  test("takes the first line of code that imports nothing, without a readme", () => {
    const code = 'import { blob } from "/std/blob"\n\n// Counts\nexport default 1'
    expect(summarizeVal({ readme: null, code })).toBe("// Counts")
    expect(summarizeVal({ readme: "", code: "" })).toBe("")
  })

  test("has at most 200 characters and never half of one", () => {
    const summary = summarizeVal({ readme: `${"x".repeat(199)}😀😀`, code: "" })
    expect(summary).toBe(`${"x".repeat(199)}\ufffd`)
    expect(summarizeVal({ readme: "word ".repeat(10_000), code: "" }).length).toBeLessThanOrEqual(
      200,
    )
  })
})
