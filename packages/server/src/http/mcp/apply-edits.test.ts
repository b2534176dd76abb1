import { describe, expect, test } from "bun:test"
import { applyDiff, applyEdits } from "./apply-edits.ts"

const code = "one\ntwo\nthree\ntwo\nfour\n"

describe("applyEdits", () => {
  test("replaces text that occurs once, one edit after the other", () => {
    const edits = [
      { oldText: "one\n", newText: "1\n" },
      { oldText: "1\ntwo", newText: "$& two" },
    ]
    expect(applyEdits(code, edits)).toBe("$& two\nthree\ntwo\nfour\n")
  })

  test("replaces every occurrence if it is told to", () => {
    expect(applyEdits(code, [{ oldText: "two", newText: "$1", all: true }])).toBe(
      "one\n$1\nthree\n$1\nfour\n",
    )
  })

  test("refuses text that is absent or ambiguous", () => {
    expect(() => applyEdits(code, [{ oldText: "five", newText: "" }])).toThrow("does not occur")
    expect(() => applyEdits(code, [{ oldText: "two", newText: "" }])).toThrow("more than once")
    // Occurrences may overlap.
    expect(() => applyEdits("aaa", [{ oldText: "aa", newText: "" }])).toThrow("more than once")
  })
})

describe("applyDiff", () => {
  const apply = (diff: string, text = code) => applyDiff(text, diff, 10)

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
    expect(() => applyDiff(code, "@@ -1 +1 @@\n-one\n+1\n".repeat(11), 10)).toThrow("more than 10")
  })

  test("inserts into empty lines and keeps a missing line break at the end", () => {
    expect(apply("@@ -1,1 +1,2 @@\n a\n+b\n\\ No newline at end of file\n", "a")).toBe("a\nb")
    expect(apply("@@ -1,0 +1,1 @@\n+first\n")).toContain("first")
  })
})
