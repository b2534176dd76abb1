import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { findChangedPart } from "./trigram-diff.ts"

function trigramsOf(text: string): readonly string[] {
  const characters = [...text]
  return characters.slice(2).map((_, index) => characters.slice(index, index + 3).join(""))
}

// Few characters, so that a trigram that is removed at one position often remains at another; the
// last two share a surrogate.
const text = (lengthMax: number) =>
  fc
    .array(fc.constantFrom("a", "b", "c", "ᐡ", "😀", "😁"), { maxLength: lengthMax })
    .map((characters) => characters.join(""))

const edit = fc.oneof(
  fc.tuple(text(40), text(40)),
  fc
    .tuple(text(40), text(4), text(4), text(40))
    .map(([head, gone, come, tail]): [string, string] => [head + gone + tail, head + come + tail]),
)

describe("findChangedPart", () => {
  test("returns parts whose trigrams turn those of the one text into those of the other", () => {
    fc.assert(
      fc.property(edit, ([before, after]) => {
        const part = findChangedPart(before, after)
        const indexed = new Set(trigramsOf(before))
        for (const trigram of trigramsOf(part.before)) indexed.delete(trigram)
        for (const trigram of trigramsOf(part.after)) indexed.add(trigram)
        expect([...indexed].sort()).toEqual([...new Set(trigramsOf(after))].sort())
      }),
      { numRuns: 2_000 },
    )
  })

  test("returns parts that differ in as many trigrams as the texts do", () => {
    fc.assert(
      fc.property(edit, ([before, after]) => {
        const part = findChangedPart(before, after)
        const more = trigramsOf(after).length - trigramsOf(before).length
        expect(trigramsOf(part.after).length - trigramsOf(part.before).length).toBe(more)
      }),
      { numRuns: 2_000 },
    )
  })

  test.each([
    [
      "a change",
      "one two three four five",
      "one two 3 four five",
      { before: "o three f", after: "o 3 f" },
    ],
    ["an addition at the end", "one two three", "one two three!", { before: "ee", after: "ee!" }],
    [
      "an addition at the beginning",
      "one two three",
      "!one two three",
      { before: "on", after: "!on" },
    ],
    ["nothing", "one", "one", { before: "ne", after: "ne" }],
    [
      "what stays elsewhere, to the left",
      "seven one eight one nine",
      "seven one eight 1 nine",
      { before: " one eight one n", after: " one eight 1 n" },
    ],
    [
      "what stays elsewhere, to the right",
      "six one eight one nine",
      "six 1 eight one nine",
      { before: "x one eight one ", after: "x 1 eight one " },
    ],
    ["half a character", "ab😀cd", "ab😁cd", { before: "ab😀cd", after: "ab😁cd" }],
  ])("returns no more than necessary: %s", (_, before, after, part) => {
    expect(findChangedPart(before, after)).toEqual(part)
  })

  test("returns both texts where most of the text has changed", () => {
    const [before, after] = ["a".repeat(50) + "b".repeat(100), "a".repeat(50) + "c".repeat(100)]

    expect(findChangedPart(before, after)).toEqual({ before, after })
  })
})
