import { expect, test } from "bun:test"
import { quoteName, toCsv, toJson } from "./result-text.ts"

const result = {
  columns: ["id", "note", "note"],
  rows: [
    [1, 'say "hi", now', null],
    [-2, "=1+1", "two\nlines"],
  ],
}

test("toCsv quotes what needs it, and defuses formulas", () => {
  expect(toCsv(result)).toBe('id,note,note\r\n1,"say ""hi"", now",\r\n-2,\'=1+1,"two\nlines"\r\n')
})

test("toJson keeps columns with the same name apart", () => {
  expect(JSON.parse(toJson(result))).toEqual([
    { id: 1, note: 'say "hi", now', note_2: null },
    { id: -2, note: "=1+1", note_2: "two\nlines" },
  ])
})

test("quoteName allows every name", () => {
  expect(quoteName('a "b"; drop table c')).toBe('"a ""b""; drop table c"')
})
