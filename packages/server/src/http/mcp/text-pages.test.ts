import { describe, expect, test } from "bun:test"
import { toTextPage, truncate } from "./text-pages.ts"

describe("toTextPage", () => {
  const text = "a\nbb\nccc\n"

  test("returns whole lines that fit, and where to continue", () => {
    expect(toTextPage(text, 1, 10, 100)).toEqual({
      text,
      fromLine: 1,
      toLine: 4,
      totalLines: 4,
      nextLine: null,
      isLineTruncated: false,
    })
    expect(toTextPage(text, 1, 2, 100)).toMatchObject({ text: "a\nbb", toLine: 2, nextLine: 3 })
    expect(toTextPage(text, 1, 10, 5)).toMatchObject({ text: "a\nbb", nextLine: 3 })
    expect(toTextPage(text, 3, 10, 100)).toMatchObject({ text: "ccc\n", fromLine: 3 })
  })

  test("truncates a line that is too long alone, and starts at the last line at the latest", () => {
    expect(toTextPage("abcdef\nx", 1, 10, 3)).toMatchObject({
      text: "abc",
      isLineTruncated: true,
      nextLine: 2,
    })
    expect(toTextPage("a\nb", 9, 10, 100)).toMatchObject({ text: "b", fromLine: 2, nextLine: null })
  })
})

describe("truncate", () => {
  test("does not cut a character in half", () => {
    expect(truncate("a😀b", 2)).toBe("a")
    expect(truncate("a😀b", 3)).toBe("a😀")
    expect(truncate("abc", 3)).toBe("abc")
  })
})
