import { describe, expect, test } from "bun:test"
import { applyDiff, applyEdits, type TextEdit } from "./apply-edits.ts"

const code = "one\ntwo\nthree\ntwo\nfour\n"

const charsMax = 1_000
const applyAll = (text: string, edits: readonly TextEdit[]) => applyEdits(text, edits, charsMax)

describe("applyEdits", () => {
  test("replaces text that occurs once, one edit after the other", () => {
    const edits = [
      { oldText: "one\n", newText: "1\n" },
      { oldText: "1\ntwo", newText: "$& two" },
    ]
    expect(applyAll(code, edits)).toBe("$& two\nthree\ntwo\nfour\n")
  })

  test("replaces every occurrence if it is told to", () => {
    expect(applyAll(code, [{ oldText: "two", newText: "$1", all: true }])).toBe(
      "one\n$1\nthree\n$1\nfour\n",
    )
  })

  test("refuses text that is absent or ambiguous", () => {
    expect(() => applyAll(code, [{ oldText: "five", newText: "" }])).toThrow("does not occur")
    expect(() => applyAll(code, [{ oldText: "two", newText: "" }])).toThrow("more than once")
    // Occurrences may overlap.
    expect(() => applyAll("aaa", [{ oldText: "aa", newText: "" }])).toThrow("more than once")
  })
})

describe("applyEdits with a limit", () => {
  test("refuses an edit whose result is too long, before it makes the result", () => {
    const doubling = Array.from({ length: 100 }, () => ({ oldText: "a", newText: "aa", all: true }))
    expect(() => applyAll("a", doubling)).toThrow(
      "Cannot apply edit 10: the code would have 1024 characters, and 1000 are allowed",
    )
    // The result would be longer than any string can be.
    const huge = { oldText: "a", newText: "b".repeat(10_000_000), all: true }
    expect(() => applyAll("a".repeat(1_000), [huge])).toThrow("10000000000 characters")
    expect(() => applyAll("a", [{ oldText: "a", newText: "b".repeat(1_001) }])).toThrow("edit 1")
  })

  test("allows a result of exactly that length", () => {
    const edit = { oldText: "aa", newText: "b".repeat(500), all: true }
    expect(applyAll("aaaa", [edit])).toBe("b".repeat(1_000))
    expect(applyAll("aaaaa", [{ ...edit, newText: "bb" }])).toBe("bbbba")
  })
})

describe("applyDiff", () => {
  const apply = (diff: string, text = code) => applyDiff(text, diff, { hunksMax: 10, charsMax })

  test("applies hunks at their lines, also where the text occurs twice", () => {
    expect(apply("@@ -4,2 +4,2 @@\n-two\n+2\n four\n")).toBe("one\ntwo\nthree\n2\nfour\n")
    expect(apply("@@ -2,1 +2,1 @@\n-two\n+2\n")).toBe("one\n2\nthree\ntwo\nfour\n")
    expect(apply("--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n+zero\n one\n@@ -5 +6 @@\n-four\n+4\n")).toBe(
      "zero\none\ntwo\nthree\ntwo\n4\n",
    )
  })

  test("finds the lines elsewhere if their number is wrong and they occur once", () => {
    expect(apply("@@ -1,2 +1,2 @@\n three\n-two\n+2\n")).toBe("one\ntwo\nthree\n2\nfour\n")
    expect(() => apply("@@ -3,1 +3,1 @@\n-two\n+2\n")).toThrow("hunk 1")
  })

  test("refuses what does not fit or is no diff of one file", () => {
    expect(() => apply("@@ -1,1 +1,1 @@\n-zero\n+0\n")).toThrow("do not occur")
    expect(() => apply("hello")).toThrow("no hunks")
    expect(() => apply("")).toThrow("no hunks")
    expect(() => apply("@@ -1,5 +1,1 @@\n-one\n+1\n")).toThrow("Cannot")
    const two = "--- a\n+++ a\n@@ -1 +1 @@\n-one\n+1\n--- b\n+++ b\n@@ -1 +1 @@\n-one\n+1\n"
    expect(() => apply(two)).toThrow("more than one file")
    expect(() => apply("@@ -1 +1 @@\n-one\n+1\n".repeat(11))).toThrow("more than 10")
  })

  test("inserts into empty lines and keeps a missing line break at the end", () => {
    expect(apply("@@ -1,1 +1,2 @@\n a\n+b\n\\ No newline at end of file\n", "a")).toBe("a\nb")
    expect(apply("@@ -1,0 +1,1 @@\n+first\n")).toContain("first")
  })

  test("refuses a result that is too long, and applies a hunk of many lines", () => {
    const added = (count: number) => `@@ -1,1 +1,${count + 1} @@\n one\n${"+\n".repeat(count)}`
    expect(apply(added(900))).toContain("one\n\n\n")
    expect(() => apply(added(1_000))).toThrow("hunk 1 of the diff: the code would have 1023")
    const many = applyDiff(code, added(150_000), { hunksMax: 1, charsMax: 200_000 })
    expect(many.length).toBe(code.length + 150_000)
  })
})
