import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { createMask } from "./mask.ts"

const mask = (values: Record<string, string>, text: string) => createMask(new Map(Object.entries(values)))(text)

describe("createMask", () => {
  const masked: [string, Record<string, string>, string, string][] = [
    ["every occurrence", { KEY: "hunter22" }, "hunter22 and hunter22hunter22", "[secret KEY] and [secret KEY][secret KEY]"],
    [
      "at the beginning, in the middle and at the end",
      { A: "aaaaaa", B: "bbbbbb" },
      "aaaaaa-bbbbbb-aaaaaa",
      "[secret A]-[secret B]-[secret A]",
    ],
    ["the longest first", { SHORT: "secret", LONG: "secret-and-more" }, "secret-and-more secret-and", "[secret LONG] [secret SHORT]-and"],
    [
      "one inside another",
      { URL: "https://me:hunter22@db", PASSWORD: "hunter22" },
      "https://me:hunter22@db hunter22",
      "[secret URL] [secret PASSWORD]",
    ],
    ["what means something in a regular expression", { A: "a.*$^[b]", B: "$&$1$`" }, "a.*$^[b] $&$1$` aXX", "[secret A] [secret B] aXX"],
    [
      "JSON within JSON",
      { KEY: 'a"b\nc\\d' },
      JSON.stringify(JSON.stringify(['a"b\nc\\d'])),
      '"[\\\\"[secret KEY]\\\\"]"'.replaceAll("\\\\", "\\"),
    ],
    ["what console shows in single quotes", { KEY: 'a"b\nc\\d' }, `{ key: 'a"b\\nc\\\\d' }`, "{ key: '[secret KEY]' }"],
    ["what means something in JSON", { KEY: 'li"ne\n\\2é' }, JSON.stringify({ key: 'li"ne\n\\2é' }), '{"key":"[secret KEY]"}'],
    ["the same unescaped", { KEY: 'li"ne\n\\2é' }, 'is li"ne\n\\2é!', "is [secret KEY]!"],
    ["of two with the same value the first", { A: "same value", B: "same value" }, "same value", "[secret A]"],
    ["not what is short", { PIN: "12345" }, "12345", "12345"],
    ["nothing but the whole of it", { KEY: "hunter22" }, "hunter2 2", "hunter2 2"],
    ["a text shorter than any value", { KEY: "hunter22" }, "hun", "hun"],
    ["beyond ASCII", { KEY: "Ũũ-🗝-ключ" }, "der Ũũ-🗝-ключ hier", "der [secret KEY] hier"],
    ["where one was begun in vain", { A: "aaaaaab" }, "aaaaaaaaab", "aaa[secret A]"],
  ]
  test.each(masked)("hides %s", (_what, values, text, expected) => {
    expect(mask(values, text)).toBe(expected)
  })

  test("is nothing at all when there is nothing to hide", () => {
    const text = "some text".repeat(10)
    expect(mask({}, text)).toBe(text)
    expect(mask({ EMPTY: "" }, text)).toBe(text)
  })

  test("hides a long value as far as it goes, once enough of its beginning is there", () => {
    const value = Array.from({ length: 500 }, (_, index) => String.fromCharCode(97 + (index % 26), 48 + (index % 10))).join("")
    expect(mask({ KEY: value }, `<${value}>`)).toBe("<[secret KEY]>")
    expect(mask({ KEY: value }, `<${value.slice(0, 300)}>`)).toBe("<[secret KEY]>")
    expect(mask({ KEY: value }, `<${value.slice(0, 128)}`)).toBe("<[secret KEY]")
    expect(mask({ KEY: value }, `<${value.slice(0, 127)}>`)).toBe(`<${value.slice(0, 127)}>`)
  })

  test("hides what replacing one value after the other would hide, when no two overlap", () => {
    const units = fc.constantFrom("a", "b", '"', "\\", "é")
    const value = fc.string({ unit: units, minLength: 6, maxLength: 9 })
    const values = fc.uniqueArray(value, { maxLength: 5 })
    fc.assert(
      fc.property(values, fc.array(fc.nat({ max: 4 })), (secrets, picks) => {
        const named = Object.fromEntries(secrets.map((secret, index) => [`S${index}`, secret]))
        const chosen = picks.filter((pick) => pick < secrets.length)
        const text = chosen.map((pick) => `|${secrets[pick]}|`).join("-")
        const expected = chosen.map((pick) => `|[secret S${pick}]|`).join("-")
        // A value may occur inside another or begin it; then the longer one is what is left.
        const isApart = secrets.every((one) => secrets.every((other) => one === other || !other.includes(one)))
        const escaped = secrets.map((secret) => JSON.stringify(secret).slice(1, -1))
        const isPlain = escaped.every((one) => secrets.every((other) => one === other || !other.includes(one)))
        fc.pre(isApart && isPlain)
        expect(mask(named, text)).toBe(expected)
      }),
    )
  })

  test("never shows a whole value, whatever the values and the text", () => {
    const units = fc.constantFrom("a", "b")
    const value = fc.string({ unit: units, minLength: 6, maxLength: 8 })
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 6 }), fc.string({ unit: units, maxLength: 60 }), (secrets, text) => {
        const left = mask(Object.fromEntries(secrets.map((secret, index) => [`S${index}`, secret])), text)
        const shown = left.replaceAll(/\[secret S\d\]/g, "|")
        for (const secret of secrets) expect(shown).not.toContain(secret)
      }),
    )
  })

  test("copes with values that were made to be slow", () => {
    const values = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`S${index}`, `${"ab".repeat(16_000)}${index}`]))
    const text = "ab".repeat(60)
    const hide = createMask(new Map(Object.entries(values)))
    // As much as begins none of them, and cannot be skipped either.
    expect(hide(`${text}!`.repeat(5_000))).toBe(`${text}!`.repeat(5_000))
  })
})
