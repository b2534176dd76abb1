import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { type ConflictTexts, hasMarkers, toMarkedText } from "./mark-conflicts.ts"

const names = { ours: "main", theirs: "draft" }
const mark = (base: string | null, ours: string | null, theirs: string | null) =>
  toMarkedText({ base, ours, theirs }, names)

describe("toMarkedText", () => {
  test.each([
    [
      "the same line, and changes elsewhere",
      ["a\nb\nc\nd\ne\n", "A\nb\nc\nX\ne\n", "a\nb\nc\nY\ne\n"],
      "A\nb\nc\n<<<<<<< main\nX\n=======\nY\n>>>>>>> draft\ne\n",
    ],
    ["a last line without an end", ["a", "b", "c"], "<<<<<<< main\nb\n=======\nc\n>>>>>>> draft\n"],
    [
      "lines that end as on Windows",
      ["a\r\n", "b\r\n", "c\r\n"],
      "<<<<<<< main\r\nb\r\n=======\r\nc\r\n>>>>>>> draft\r\n",
    ],
    ["a file that was deleted", ["a\n", null, "b\n"], "<<<<<<< main\n=======\nb\n>>>>>>> draft\n"],
    [
      "a file that they have deleted",
      ["a\n", "b\n", null],
      "<<<<<<< main\nb\n=======\n>>>>>>> draft\n",
    ],
    [
      "two new files",
      [null, "a\nb\n", "a\nc\n"],
      "<<<<<<< main\na\nb\n=======\na\nc\n>>>>>>> draft\n",
    ],
    [
      "files that differ in more than their lines",
      ["a\n", "a\n", "a\n"],
      "<<<<<<< main\na\n=======\na\n>>>>>>> draft\n",
    ],
  ] as const)("marks %s", (_, [base, ours, theirs], marked) => {
    expect(mark(base, ours, theirs)).toBe(marked)
    expect(hasMarkers(marked, names)).toBe(true)
  })

  test("a text without markers is resolved, also one with a heading in Markdown", () => {
    expect(hasMarkers("Title\n=======\n<<<<<<< other\n", names)).toBe(false)
    for (const line of ["<<<<<<< main", ">>>>>>> draft\r"])
      expect(hasMarkers(`a\n${line}\nb`, names)).toBe(true)
  })

  test("never loses a line that a side has added or that both have kept", () => {
    const line = (name: string) => fc.constantFrom("a", "b", "c", "", `${name} 1`, `${name} 2`)
    const text = (name: string) =>
      fc.option(
        fc
          .tuple(
            fc.array(line(name), { maxLength: 12 }),
            fc.constantFrom("\n", "\r\n"),
            fc.boolean(),
          )
          .map(([lines, end, isEnded]) => lines.join(end) + (isEnded ? end : "")),
        { freq: 8 },
      )
    fc.assert(
      fc.property(text("base"), text("ours"), text("theirs"), (base, ours, theirs) => {
        const texts: ConflictTexts = { base, ours, theirs }
        const marked = toLines(toMarkedText(texts, names))
        const [before, mine, other] = [base, ours, theirs].map((one) => new Set(toLines(one ?? "")))
        const lost = [...(mine ?? []), ...(other ?? [])].filter((one) => {
          const isKept = mine?.has(one) && other?.has(one)
          return (isKept || !before?.has(one)) && !marked.includes(one)
        })
        expect(lost).toEqual([])
      }),
      { seed: 25, numRuns: 300 },
    )
  })
})

function toLines(text: string): readonly string[] {
  return text.split(/\r?\n/).filter(Boolean)
}
