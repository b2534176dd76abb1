import { describe, expect, test } from "bun:test"
import { applyPatch } from "diff"
import fc from "fast-check"
import { toUnifiedDiff } from "./unified-diff.ts"

const lines = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 30 })
const toWhole = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("")
const texts = fc.tuple(lines, fc.constantFrom("", "e")).map(([all, end]) => toWhole(all) + end)
const names = { before: "x@1", after: "x@2" }
const toText = (before: string, after: string) =>
  toUnifiedDiff(before, after, names).map(({ text }) => text)

describe("toUnifiedDiff", () => {
  test("turns any old text into the new one", () => {
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        expect(applyPatch(before, toText(before, after).join("\n"))).toBe(after)
      }),
    )
  })

  test("is as short as the longest common subsequence allows", () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const diff = toUnifiedDiff(toWhole(before), toWhole(after), names)
        const common = countCommon(before, after)
        const count = (kind: string) => diff.filter((line) => line.kind === kind).length
        expect([count("old"), count("new")]).toEqual([
          before.length - common,
          after.length - common,
        ])
      }),
    )
  })

  test("shows texts with hardly a line in common as replaced, in bounded time", () => {
    const [before, after] = ["a", "b"].map((letter) => [
      "first",
      ...Array.from({ length: 2_500 }, (_, index) => `${letter}${index}`),
      "last",
    ])
    const diff = toUnifiedDiff(toWhole(before ?? []), toWhole(after ?? []), names)
    expect(diff[2]?.text).toBe("@@ -1,2502 +1,2502 @@")
    expect(diff.slice(3).map(({ kind }) => kind)).toEqual([
      "same",
      ...Array(2_500).fill("old"),
      ...Array(2_500).fill("new"),
      "same",
    ])
  })

  test("is empty for equal texts", () => {
    expect(toText("a\nb", "a\nb")).toEqual([])
    expect(toText("", "")).toEqual([])
  })

  test("shows three lines of context, and merges hunks that touch", () => {
    const before = Array.from({ length: 30 }, (_, index) => `${index + 1}\n`)
    const after = before.toSpliced(4, 1, "five\n").toSpliced(10, 1).toSpliced(25, 0, "new\n")
    expect(toText(before.join(""), after.join(""))).toEqual([
      "--- x@1",
      "+++ x@2",
      "@@ -2,13 +2,12 @@",
      " 2",
      " 3",
      " 4",
      "-5",
      "+five",
      " 6",
      " 7",
      " 8",
      " 9",
      " 10",
      "-11",
      " 12",
      " 13",
      " 14",
      "@@ -24,6 +23,7 @@",
      " 24",
      " 25",
      " 26",
      "+new",
      " 27",
      " 28",
      " 29",
    ])
  })

  test("starts empty ranges at 0, and marks a missing newline at the end", () => {
    expect(toText("", "a\n")).toEqual(["--- x@1", "+++ x@2", "@@ -0,0 +1,1 @@", "+a"])
    expect(toText("a\n", "")).toEqual(["--- x@1", "+++ x@2", "@@ -1,1 +0,0 @@", "-a"])
    expect(toText("a\n", "a")).toEqual([
      "--- x@1",
      "+++ x@2",
      "@@ -1,1 +1,1 @@",
      "-a",
      "+a\n\\ No newline at end of file",
    ])
  })
})

/** The length of the longest common subsequence, by the textbook table. */
function countCommon(before: readonly string[], after: readonly string[]): number {
  let row = Array<number>(after.length + 1).fill(0)
  for (const line of before) {
    const next = [0]
    for (const [index, other] of after.entries())
      next.push(
        line === other ? (row[index] ?? 0) + 1 : Math.max(row[index + 1] ?? 0, next[index] ?? 0),
      )
    row = next
  }
  return row.at(-1) ?? 0
}
