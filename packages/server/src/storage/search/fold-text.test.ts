import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import fc from "fast-check"
import { describeEachDatabase, type TestDatabase } from "../../../test/support/databases.ts"
import { foldBody, foldText } from "./fold-text.ts"

const pieces = fc.constantFrom(
  "a",
  "B",
  "É",
  "😀",
  "👩‍👧",
  "%",
  "_",
  "\\",
  "'",
  '"',
  "`",
  "=>",
  " ",
  "\n",
  "\t",
  "\0",
  "İ",
  "ẞ",
  "ß",
  "Σ",
  "ς",
  "漢",
  "é",
  "1",
)
const text = fc.oneof(
  fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join("")),
  fc.string({ unit: "binary", maxLength: 12 }),
)
/** A text and another one that is often a part of it, sometimes in another case. */
const pair = fc.oneof(
  fc.tuple(text, text),
  fc
    .tuple(text, fc.nat(12), fc.nat(12))
    .map(([whole, from, length]): [string, string] => [
      whole,
      [...whole].slice(from, from + length).join(""),
    ]),
  fc
    .tuple(text, text, text)
    .map(([before, part, after]): [string, string] => [before + part.toUpperCase() + after, part]),
)
/**
 * The letters that replace punctuation. A query with punctuation may find a text in that script,
 * which we accept.
 */
const borrowed = /[\u1401-\u1480]/
/** Ignores case. A sigma at the end of a word equals any other sigma. */
const lower = (value: string) => value.toLowerCase().replaceAll("ς", "σ")

describe("foldText", () => {
  test("keeps substrings: a folded text contains a folded part exactly if the text contains the part, ignoring case", () => {
    fc.assert(
      fc.property(pair, ([whole, part]) => {
        fc.pre(!borrowed.test(whole + part))
        expect(foldText(whole).includes(foldText(part))).toBe(lower(whole).includes(lower(part)))
      }),
      { numRuns: 1000 },
    )
  })

  test("keeps every substring, whatever the script", () => {
    const any = fc.oneof(
      text,
      fc
        .array(fc.constantFrom("ᐁ", "ᐡ", "ᑀ", " ", "a", "Σ"), { maxLength: 8 })
        .map((parts) => parts.join("")),
    )
    fc.assert(
      fc.property(any, any, any, (before, part, after) => {
        expect(foldText(before + part + after)).toContain(foldText(part))
      }),
      { numRuns: 500 },
    )
  })

  test("folds texts that differ in more than case to different texts", () => {
    fc.assert(
      fc.property(text, text, (left, right) => {
        fc.pre(!borrowed.test(left + right))
        expect(foldText(left) === foldText(right)).toBe(lower(left) === lower(right))
      }),
    )
  })

  test("leaves no character that is special to LIKE, a trigram index or a quoted text", () => {
    const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code))
    expect(foldText(ascii.join("")).replace(/[^\0-\x7f]/g, "")).toBe(
      "0123456789abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
    )
    for (const character of ascii) expect(foldText(character)).toMatch(/^[\p{L}0-9]$/u)
    expect(new Set(ascii.map(foldText)).size).toBe(128 - 26)
  })

  test("is idempotent", () => {
    fc.assert(fc.property(text, (value) => expect(foldText(foldText(value))).toBe(foldText(value))))
  })
})

describe("foldBody", () => {
  test("contains the substrings of code and readme, and none that spans both", () => {
    fc.assert(
      fc.property(text, fc.option(text), text, (code, readme, query) => {
        fc.pre(query !== "")
        const isInOne =
          foldText(code).includes(foldText(query)) ||
          foldText(readme ?? "").includes(foldText(query))
        expect(foldBody({ code, readme }).includes(foldText(query))).toBe(isInOne)
      }),
      { numRuns: 500 },
    )
    for (const seam of ["bc", "b\nc", "b c"])
      expect(foldBody({ code: "ab", readme: "cd" })).not.toContain(foldText(seam))
  })
})

describeEachDatabase("LIKE over folded texts", (open) => {
  let database: TestDatabase

  beforeAll(async () => {
    database = await open({ isEmpty: true })
  })

  afterAll(() => database.close())

  test("finds substrings, and treats no character as a wildcard", async () => {
    const samples = fc.sample(pair, 200)
    for (const [whole, part] of samples) {
      const [row] = await database.db.read<{ hit: number }>(
        sql`select case when ${foldText(whole)} like ${`%${foldText(part)}%`} then 1 else 0 end as hit`,
      )
      expect([whole, part, row?.hit]).toEqual([
        whole,
        part,
        foldText(whole).includes(foldText(part)) ? 1 : 0,
      ])
    }
  })
})
