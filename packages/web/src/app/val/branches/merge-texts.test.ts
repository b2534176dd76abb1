import { describe, expect, test } from "bun:test"
import {
  type ConflictChoice,
  createMarks,
  findMarkedConflicts,
  resolveConflict,
  toMarkedText,
} from "./conflict-marks.ts"
import { mergeTexts, type Segment } from "./merge-texts.ts"

const names = { ours: "main", theirs: "try" }

/** Numbers that look random and are the same in every run. */
function createRandom(seed: number) {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) % below
  }
}

/** Texts of few different lines, so that lines repeat. */
function* createCases(count: number) {
  const random = createRandom(7)
  const lines = ["a", "b", "", "=======", "<<<<<<< main"]
  const edit = (text: readonly string[]) =>
    text.flatMap((line) => {
      const what = random(8)
      if (what === 0) return []
      return what === 1 ? [line, `new ${random(3)}`] : what === 2 ? [`new ${random(3)}`] : [line]
    })
  for (let index = 0; index < count; index++) {
    const base = Array.from({ length: random(9) }, () => lines[random(lines.length)] ?? "")
    yield [base, edit(base), edit(base)].map((text) => text.join("\n")) as [string, string, string]
  }
}

function choose(segments: readonly Segment[], side: "ours" | "theirs"): string {
  return segments
    .flatMap((segment) => (segment.kind === "agreed" ? segment.lines : segment[side]))
    .join("\n")
}

describe("mergeTexts", () => {
  test("takes changes of both sides that are apart, and equal ones", () => {
    expect(mergeTexts("a\nb\nc\nd", "A\nb\nc\nd", "a\nb\nc\nD")).toEqual([
      { kind: "agreed", lines: ["A"] },
      { kind: "agreed", lines: ["b", "c"] },
      { kind: "agreed", lines: ["D"] },
    ])
    expect(choose(mergeTexts("a\nb", "x\nb", "x\nb"), "ours")).toBe("x\nb")
  })

  test("does not decide about the same lines, nor about lines beside each other", () => {
    expect(mergeTexts("a\nb\nc", "a\nX\nc", "a\nY\nc")).toEqual([
      { kind: "agreed", lines: ["a"] },
      { kind: "conflict", ours: ["X"], theirs: ["Y"] },
      { kind: "agreed", lines: ["c"] },
    ])
    expect(mergeTexts("a\nb", "A\nb", "a\nB")).toEqual([
      { kind: "conflict", ours: ["A", "b"], theirs: ["a", "B"] },
    ])
  })

  test("with one side unchanged is the other side, whatever the texts", () => {
    for (const [base, ours] of createCases(2_000)) {
      expect(choose(mergeTexts(base, ours, base), "theirs")).toBe(ours)
      expect(choose(mergeTexts(base, base, ours), "ours")).toBe(ours)
      expect(choose(mergeTexts(base, ours, ours), "ours")).toBe(ours)
    }
  })

  test("loses no new line of either side, and means the same from both sides", () => {
    for (const [base, ours, theirs] of createCases(2_000)) {
      const segments = mergeTexts(base, ours, theirs)
      const kept = segments.flatMap((segment) =>
        segment.kind === "agreed" ? segment.lines : [...segment.ours, ...segment.theirs],
      )
      const known = new Set(base.split("\n"))
      for (const line of [ours, theirs].join("\n").split("\n"))
        if (!known.has(line)) expect(kept).toContain(line)
      const mirrored = mergeTexts(base, theirs, ours)
      expect(choose(mirrored, "theirs")).toBe(choose(segments, "ours"))
    }
  })

  test("of texts that have nothing in common is one conflict, however long they are", () => {
    const make = (word: string) =>
      Array.from({ length: 40_000 }, (_, index) => `${word}${index}`).join("\n")
    const segments = mergeTexts(make("a"), make("b"), make("c"))
    expect(segments.map(({ kind }) => kind)).toEqual(["conflict"])
    expect(choose(segments, "theirs")).toBe(make("c"))
  })
})

describe("conflict marks", () => {
  test("disappear with each decision, and the text is that of the chosen sides", () => {
    for (const [base, ours, theirs] of createCases(2_000)) {
      const segments = mergeTexts(base, ours, theirs)
      const marks = createMarks(names, [base, ours, theirs])
      const resolveAll = (choice: ConflictChoice) => {
        let text = toMarkedText(segments, marks)
        for (
          let [next] = findMarkedConflicts(text, marks);
          next;
          [next] = findMarkedConflicts(text, marks)
        )
          text = resolveConflict(text, next, choice)
        return text
      }
      const conflicts = segments.filter(({ kind }) => kind === "conflict")
      expect(findMarkedConflicts(toMarkedText(segments, marks), marks)).toHaveLength(
        conflicts.length,
      )
      for (const side of ["ours", "theirs"] as const) {
        const lines = segments.flatMap((one) => (one.kind === "agreed" ? one.lines : one[side]))
        expect(resolveAll(side)).toBe(lines.join("\n"))
      }
      for (const line of choose(segments, "ours").split("\n"))
        expect(resolveAll("both").split("\n")).toContain(line)
    }
  })

  test("are longer than those that the texts contain", () => {
    const marks = createMarks(names, ["<<<<<<<<< main\n=======\n>>>"])
    expect(marks).toEqual({ start: "<<<<<<<<<< main", middle: "==========", end: ">>>>>>>>>> try" })
  })

  test("that were edited are lines of the text", () => {
    const marks = createMarks(names, [])
    expect(findMarkedConflicts(`${marks.start}\na\n${marks.end}`, marks)).toEqual([])
    expect(
      findMarkedConflicts([marks.start, marks.start, marks.middle, marks.end].join("\n"), marks),
    ).toEqual([{ start: 1, middle: 2, end: 3 }])
  })
})
