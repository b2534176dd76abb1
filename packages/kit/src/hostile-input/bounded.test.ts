import { describe, expect, test } from "bun:test"
import {
  decodePercent,
  decodeValidPercents,
  parseJson,
  parseOwnJson,
  repeatText,
  replaceEach,
  TooLongError,
  toOwnJson,
  toRegExp,
} from "./bounded.ts"

describe("bounded", () => {
  test.each<[string, () => unknown, unknown]>([
    ["parseJson", () => parseJson("[1]", 3), [1]],
    ["decodePercent", () => decodePercent("%41", 3), "A"],
    ["decodeValidPercents", () => decodeValidPercents("%41", 3), "A"],
    ["replaceEach", () => replaceEach("aba", "a", "$&c", 3), "acbac"],
    ["repeatText", () => repeatText("a", 3, 3), "aaa"],
    ["toRegExp", () => String(toRegExp("abc", "g", 3)), "/abc/g"],
  ])("%s works up to its limit", (_, call, result) => {
    expect(call()).toEqual(result)
  })

  test.each<[string, () => unknown]>([
    ["parseJson", () => parseJson("[12]", 3)],
    ["decodePercent", () => decodePercent("%41a", 3)],
    ["decodeValidPercents", () => decodeValidPercents("%41a", 3)],
    ["replaceEach", () => replaceEach("abab", "a", "", 3)],
    ["repeatText", () => repeatText("ab", 1e15, 3)],
    ["toRegExp", () => toRegExp("abcd", "", 3)],
  ])("%s refuses more before it does the work", (_, call) => {
    expect(call).toThrow(TooLongError)
  })

  test("own JSON has no limit", () => {
    expect(parseOwnJson(toOwnJson({ a: ["b"] }))).toEqual({ a: ["b"] })
  })

  test("decodeValidPercents keeps what is not valid UTF-8", () => {
    const text = "a%20%c3%A4 %FF%41 %4 %zz%E2%82%AC%"
    expect(decodeValidPercents(text, 100)).toBe("a ä %FF%41 %4 %zz€%")
  })
})
