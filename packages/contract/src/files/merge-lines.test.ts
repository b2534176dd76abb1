import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { mergeLines, mergeParts } from "./merge-lines.ts"

const editsMax = 2_000
const toText = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("")
const merge = (base: string, ours: string, theirs: string, edits = editsMax) =>
  mergeLines({ base, ours, theirs }, edits).text

describe("mergeLines", () => {
  test.each([
    ["changes of different lines", "a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n"],
    ["equal changes", "a\nb\n", "a\nB\n", "a\nB\n", "a\nB\n"],
    ["an insertion and a removal", "a\nb\nc\nd\n", "a\nx\nb\nc\nd\n", "a\nb\nc\n", "a\nx\nb\nc\n"],
    ["a change in only one", "a\nb\n", "a\nb\n", "", ""],
    ["a last line without an end", "a\nb\nc", "A\nb\nc", "a\nb\nc\nd", "A\nb\nc\nd"],
    ["lines that end as on Windows", "a\r\nb\r\nc", "A\r\nb\r\nc", "a\r\nb\r\nC", "A\r\nb\r\nC"],
    ["texts that are empty", "", "", "a\n", "a\n"],
  ])("merges %s", (_, base, ours, theirs, merged) => {
    expect(merge(base, ours, theirs)).toBe(merged)
    expect(merge(base, theirs, ours)).toBe(merged)
  })

  test.each([
    ["the same line", "a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n"],
    ["lines beside each other", "a\nb\nc\n", "A\nb\nc\n", "a\nB\nc\n"],
    ["insertions at the same place", "a\nb\n", "a\nX\nb\n", "a\nY\nb\n"],
    ["a changed line that was removed", "a\nb\nc\n", "a\nB\nc\n", "a\nc\n"],
  ])("finds a conflict of %s", (_, base, ours, theirs) => {
    expect(merge(base, ours, theirs)).toBeUndefined()
    expect(merge(base, theirs, ours)).toBeUndefined()
  })

  test("takes a side with too many edits as one change", () => {
    const base = Array.from({ length: 50 }, (_, at) => `${at}`)
    const ours = base.map((line, at) => (at >= 10 && at < 40 && at % 2 === 0 ? "x" : line))
    const inside = base.map((line, at) => (at === 21 ? "y" : line)).slice(0, 50)
    const outside = base.map((line, at) => (at === 45 ? "y" : line))

    expect(merge(toText(base), toText(ours), toText(outside), 5)).toBe(
      toText(ours.map((line, at) => (at === 45 ? "y" : line))),
    )
    expect(merge(toText(base), toText(ours), toText(inside), 5)).toBeUndefined()
  })

  test("stops comparing the worst texts", () => {
    const side = (line: string) => `${line}\n`.repeat(120_000)
    const { text, steps } = mergeLines({ base: side("a"), ours: side("b"), theirs: side("c") }, 100)
    expect([text, steps]).toEqual([undefined, 20_000])
    expect(merge(side("a"), side("a"), `b\n${side("a")}`, 100)).toBe(`b\n${side("a")}`)
  })
})

// Lines repeat, so that a comparison may choose among several equal ones.
const line = fc.constantFrom("a", "b", "c", "}", "")
const text = fc.array(line, { maxLength: 30 })

/** What a side does: for each line of the base whether it stays, and what is inserted before it. */
interface Edit {
  readonly at: number
  readonly removed: number
  readonly inserted: readonly string[]
}

const seed = { seed: 25, numRuns: 2_000 }

describe("mergeLines, for all texts", () => {
  test("merges changes that are apart into both", () => {
    // Lines of the base are unique, so that there is one way to say what has changed.
    const edit = fc.record({
      removed: fc.integer({ min: 0, max: 2 }),
      inserted: fc.array(line, { maxLength: 3 }),
      gap: fc.integer({ min: 1, max: 4 }),
      isOurs: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(edit, { maxLength: 8 }), (edits) => {
        const base: string[] = ["first"]
        const all: (Edit & { readonly isOurs: boolean })[] = []
        for (const { removed, inserted, gap, isOurs } of edits) {
          all.push({ at: base.length, removed, inserted, isOurs })
          for (let count = 0; count < removed + gap; count++) base.push(`line ${base.length}`)
        }
        const apply = (some: readonly Edit[]) => {
          const lines = [...base]
          for (const { at, removed, inserted } of some.toReversed())
            lines.splice(at, removed, ...inserted.map((one) => `new ${one}`))
          return toText(lines)
        }
        const ours = apply(all.filter(({ isOurs }) => isOurs))
        const theirs = apply(all.filter(({ isOurs }) => !isOurs))
        expect(merge(toText(base), ours, theirs)).toBe(apply(all))
      }),
      seed,
    )
  })

  test("never loses a line that a side has added, nor keeps one that a side has removed", () => {
    const count = (lines: readonly string[], wanted: string) =>
      lines.filter((one) => one === wanted).length
    fc.assert(
      fc.property(
        text,
        text,
        text,
        fc.constantFrom(0, 3, editsMax),
        (base, ours, theirs, edits) => {
          const merged = merge(toText(base), toText(ours), toText(theirs), edits)
          if (merged === undefined) return
          const lines = merged.split("\n").slice(0, -1)
          for (const one of ["a", "b", "c", "}", ""]) {
            const [before, left, right] = [count(base, one), count(ours, one), count(theirs, one)]
            const sum = left + right - before
            // Equal changes of both sides are made once.
            const low = Math.min(sum, left, right)
            const high = Math.max(sum, left, right)
            expect(count(lines, one)).toBeGreaterThanOrEqual(low)
            expect(count(lines, one)).toBeLessThanOrEqual(high)
          }
        },
      ),
      seed,
    )
  })

  test("takes the other side where one has changed nothing, or the same", () => {
    fc.assert(
      fc.property(text, text, fc.constantFrom(0, 3, editsMax), (base, other, edits) => {
        const [before, after] = [toText(base), toText(other)]
        expect(merge(before, before, after, edits)).toBe(after)
        expect(merge(before, after, before, edits)).toBe(after)
        expect(merge(before, after, after, edits)).toBe(after)
      }),
      seed,
    )
  })

  test("merges a merged text again without a change", () => {
    fc.assert(
      fc.property(text, text, text, (base, ours, theirs) => {
        const merged = merge(toText(base), toText(ours), toText(theirs))
        if (merged !== undefined) expect(merge(toText(theirs), merged, toText(theirs))).toBe(merged)
      }),
      seed,
    )
  })

  test("shows every line that a side has added, in a conflict or beside it", () => {
    // Each side's own lines are unique.
    const side = (name: string) =>
      fc.array(fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constant(name)), { maxLength: 20 })
    const toSide = (items: readonly (number | string)[]) =>
      items.map((item, at) => (typeof item === "number" ? `line ${item}` : `${item} ${at}`))
    const base = Array.from({ length: 10 }, (_, at) => `line ${at}`)
    fc.assert(
      fc.property(side("ours"), side("theirs"), fc.constantFrom(0, 3, editsMax), (a, b, edits) => {
        const [ours, theirs] = [toSide(a), toSide(b)]
        const texts = { base: toText(base), ours: toText(ours), theirs: toText(theirs) }
        const { parts } = mergeParts(texts, edits)
        const take = (own: "ours" | "theirs") =>
          parts.map((part) => (part.isConflict ? part[own] : part.text)).join("")
        const isNew = (one: string) => !one.startsWith("line")
        for (const [name, lines] of Object.entries({ ours, theirs }))
          expect(
            take(name as "ours")
              .split("\n")
              .filter((one) => one.startsWith(name)),
          ).toEqual(lines.filter(isNew))
        // What both have kept is there, whichever side is taken.
        const kept = base.filter((one) => ours.includes(one) && theirs.includes(one))
        for (const one of kept) expect(take("ours") + take("theirs")).toContain(`${one}\n`)
        expect(mergeLines(texts, edits).text === undefined).toBe(
          parts.some(({ isConflict }) => isConflict),
        )
      }),
      { ...seed, numRuns: 500 },
    )
  })
})
