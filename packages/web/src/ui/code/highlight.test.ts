import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { highlight, type Language } from "./highlight.ts"

describe("highlight", () => {
  test.each<Language>(["json", "ts", "shell", "text"])(
    "keeps the text of any code: %s",
    (language) => {
      const code = fc.string({
        unit: fc.constantFrom(
          "'",
          '"',
          "`",
          "\\",
          "\n",
          "{",
          ":",
          "1",
          "-",
          "a",
          "#",
          " ",
          "/",
          "<",
          "é",
          "\u202e",
        ),
      })
      fc.assert(
        fc.property(code, (text) => {
          expect(
            highlight(text, language)
              .map((part) => part.text)
              .join(""),
          ).toBe(text)
        }),
      )
    },
  )

  test("distinguishes keys from strings in JSON", () => {
    const parts = highlight('{"a": "b", "c": [1, null]}', "json").filter(
      (part) => part.kind !== "plain",
    )
    expect(parts).toEqual([
      { text: '"a"', kind: "key" },
      { text: '"b"', kind: "string" },
      { text: '"c"', kind: "key" },
      { text: "1", kind: "number" },
      { text: "null", kind: "word" },
    ])
  })

  test("finds keywords, strings and comments in TypeScript, but not in names", () => {
    const code = `/* two
lines */ export default async function f(mail: Email) { if (mail.from !== 'a') return { type: 1 } }`
    expect(
      highlight(code, "ts").flatMap(({ text, kind }) =>
        kind === "plain" ? [] : [`${kind} ${text}`],
      ),
    ).toEqual([
      "comment /* two\nlines */",
      ...["export", "default", "async", "function"].map((word) => `word ${word}`),
      "key mail",
      "word if",
      "string 'a'",
      "word return",
      "key type",
      "number 1",
    ])
  })

  test("takes an unfinished comment to the end, in linear time", () => {
    expect(highlight("/* ".repeat(19_000), "ts")).toHaveLength(1)
  })

  test("leaves a very long text as one part", () => {
    expect(highlight("1 ".repeat(100_000), "json")).toHaveLength(1)
  })
})
