import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { compareLines } from "./compare-lines.ts"
import { toUnifiedDiff } from "./unified-diff.ts"

const lines = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 30 })
const names = { before: "x@1", after: "x@2" }
const toText = (before: string, after: string) =>
  toUnifiedDiff(before, after, names).map(({ text }) => text)

describe("compareLines", () => {
  test("has both texts in it, whatever they are", () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const diff = compareLines(before, after)
        expect(diff.filter(({ kind }) => kind !== "new").map(({ text }) => text)).toEqual(before)
        expect(diff.filter(({ kind }) => kind !== "old").map(({ text }) => text)).toEqual(after)
      }),
    )
  })

  test("is as short as the longest common part allows", () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        expect(compareLines(before, after).filter(({ kind }) => kind === "same").length).toBe(
          countCommon(before, after),
        )
      }),
    )
  })

  test("shows what has hardly a line in common as replaced, and does not take for ever", () => {
    const [before, after] = ["a", "b"].map((letter) =>
      Array.from({ length: 20_000 }, (_, index) => `${letter}${index}`),
    )
    const diff = compareLines([...(before ?? []), "same"], [...(after ?? []), "same"])
    expect(diff.map(({ kind }) => kind)).toEqual([
      ...Array(20_000).fill("old"),
      ...Array(20_000).fill("new"),
      "same",
    ])
  })
})

describe("toUnifiedDiff", () => {
  test("is nothing for texts that are the same", () => {
    expect(toText("a\nb", "a\nb")).toEqual([])
    expect(toText("", "")).toEqual([])
  })

  test("has a few lines around each change, and one piece for changes that are close", () => {
    const before = Array.from({ length: 30 }, (_, index) => `${index + 1}\n`)
    const after = before.toSpliced(4, 1, "five\n").toSpliced(10, 1).toSpliced(25, 0, "new\n")
    expect(toText(before.join(""), after.join(""))).toEqual([
      "--- x@1",
      "+++ x@2",
      "@@ -2,13 +2,12 @@",
      ...[
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
      ],
      "@@ -24,6 +23,7 @@",
      ...[" 24", " 25", " 26", "+new", " 27", " 28", " 29"],
    ])
  })

  test("counts from nought where one text is empty, and says when a newline is missing", () => {
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

/** The length of the longest common part, by the table of textbooks. */
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
