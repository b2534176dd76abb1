import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { createMask } from "./secret-mask.ts"

const mask = async (values: Record<string, string>, text: string, charsMax?: number) =>
  (await createMask(new Map(Object.entries(values)))).hide(text, charsMax)

describe("createMask", () => {
  const masked: [string, Record<string, string>, string, string][] = [
    [
      "every occurrence",
      { KEY: "hunter22" },
      "hunter22 and hunter22hunter22",
      "[secret KEY] and [secret KEY][secret KEY]",
    ],
    [
      "at the beginning, in the middle and at the end",
      { A: "aaaaaa", B: "bbbbbb" },
      "aaaaaa-bbbbbb-aaaaaa",
      "[secret A]-[secret B]-[secret A]",
    ],
    [
      "the longest first",
      { SHORT: "secret", LONG: "secret-and-more" },
      "secret-and-more secret-and",
      "[secret LONG] [secret SHORT]-and",
    ],
    [
      "one inside another",
      { URL: "https://me:hunter22@db", PASSWORD: "hunter22" },
      "https://me:hunter22@db hunter22",
      "[secret URL] [secret PASSWORD]",
    ],
    [
      "characters with a meaning in regular expressions",
      { A: "a.*$^[b]", B: "$&$1$`" },
      "a.*$^[b] $&$1$` aXX",
      "[secret A] [secret B] aXX",
    ],
    [
      "JSON within JSON",
      { KEY: 'a"b\nc\\d' },
      JSON.stringify(JSON.stringify(['a"b\nc\\d'])),
      '"[\\\\"[secret KEY]\\\\"]"'.replaceAll("\\\\", "\\"),
    ],
    [
      "a value as console prints it in single quotes",
      { KEY: 'a"b\nc\\d' },
      `{ key: 'a"b\\nc\\\\d' }`,
      "{ key: '[secret KEY]' }",
    ],
    [
      "a value as JSON escapes it",
      { KEY: 'li"ne\n\\2é' },
      JSON.stringify({ key: 'li"ne\n\\2é' }),
      '{"key":"[secret KEY]"}',
    ],
    ["the same value unescaped", { KEY: 'li"ne\n\\2é' }, 'is li"ne\n\\2é!', "is [secret KEY]!"],
    [
      "two secrets with one value under the name of the first",
      { A: "same value", B: "same value" },
      "same value",
      "[secret A]",
    ],
    ["nothing of a short value", { PIN: "12345" }, "12345", "12345"],
    ["complete values only", { KEY: "hunter22" }, "hunter2 2", "hunter2 2"],
    ["nothing in a text shorter than any value", { KEY: "hunter22" }, "hun", "hun"],
    ["beyond ASCII", { KEY: "Ũũ-🗝-ключ" }, "der Ũũ-🗝-ключ hier", "der [secret KEY] hier"],
    ["a value after a partial match", { A: "aaaaaab" }, "aaaaaaaaab", "aaa[secret A]"],
    [
      "two overlapping values as one",
      { A: "abcdefg", B: "efghijkl" },
      "-abcdefghijkl-",
      "-[secret A]-",
    ],
    ["a value that overlaps itself", { A: "aaaaaa" }, "baaaaaaaaab", "b[secret A]b"],
  ]
  test.each(masked)("hides %s", async (_what, values, text, expected) => {
    expect(await mask(values, text)).toBe(expected)
  })

  test("is undefined without secrets", async () => {
    const text = "some text".repeat(10)
    expect(await mask({}, text)).toBe(text)
    expect(await mask({ EMPTY: "" }, text)).toBe(text)
  })

  const cuts: [string, string, number, string][] = [
    ["ends before the border", "ab-hunter22-cd", 12, "ab-[secret KEY]-"],
    ["ends at the border", "ab-hunter22-cd", 11, "ab-[secret KEY]"],
    ["stands across the border", "ab-hunter22-cd", 5, "ab-[secret KEY]"],
    ["begins with the last character", "ab-hunter22-cd", 4, "ab-[secret KEY]"],
    ["begins after the border", "ab-hunter22-cd", 3, "ab-"],
  ]
  test.each(cuts)(
    "truncates a text without showing part of a value that %s",
    async (_what, text, charsMax, expected) => {
      expect(await mask({ KEY: "hunter22" }, text, charsMax)).toBe(expected)
    },
  )

  test("shows no part of any value at any truncation", async () => {
    const values = { A: "aabbccdd", B: `${"xyz".repeat(60)}!`, C: 'q"uote\n"' }
    const text = `1${values.A}2${values.B}3${JSON.stringify(values.C)}4${values.B}5${values.A}`
    const secretMask = await createMask(new Map(Object.entries(values)))
    for (let charsMax = 0; charsMax <= text.length; charsMax++) {
      const shown = secretMask.hide(text, charsMax).replaceAll(/\[secret [ABC]\]/g, "|")
      expect(shown).toMatch(/^[1-5|"]*$/)
    }
  })

  test("masks a truncated long value once enough of its beginning matches", async () => {
    const value = Array.from({ length: 500 }, (_, index) =>
      String.fromCharCode(97 + (index % 26), 48 + (index % 10)),
    ).join("")
    expect(await mask({ KEY: value }, `<${value}>`)).toBe("<[secret KEY]>")
    expect(await mask({ KEY: value }, `<${value.slice(0, 300)}>`)).toBe("<[secret KEY]>")
    expect(await mask({ KEY: value }, `<${value.slice(0, 128)}`)).toBe("<[secret KEY]")
    expect(await mask({ KEY: value }, `<${value.slice(0, 127)}>`)).toBe(`<${value.slice(0, 127)}>`)
  })

  test("replaces the same as one replacement per value, when no two overlap", async () => {
    const units = fc.constantFrom("a", "b", '"', "\\", "é")
    const value = fc.string({ unit: units, minLength: 6, maxLength: 9 })
    const values = fc.uniqueArray(value, { maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(values, fc.array(fc.nat({ max: 4 })), async (secrets, picks) => {
        const named = Object.fromEntries(secrets.map((secret, index) => [`S${index}`, secret]))
        const chosen = picks.filter((pick) => pick < secrets.length)
        const text = chosen.map((pick) => `|${secrets[pick]}|`).join("-")
        const expected = chosen.map((pick) => `|[secret S${pick}]|`).join("-")
        // A value may occur inside another or begin it; then the longer one is what is left.
        const isApart = secrets.every((one) =>
          secrets.every((other) => one === other || !other.includes(one)),
        )
        const escaped = secrets.map((secret) => JSON.stringify(secret).slice(1, -1))
        const isPlain = escaped.every((one) =>
          secrets.every((other) => one === other || !other.includes(one)),
        )
        fc.pre(isApart && isPlain)
        expect(await mask(named, text)).toBe(expected)
      }),
    )
  })

  test("never shows a complete value, for any values and text", async () => {
    const units = fc.constantFrom("a", "b")
    const value = fc.string({ unit: units, minLength: 6, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(value, { minLength: 1, maxLength: 6 }),
        fc.string({ unit: units, maxLength: 60 }),
        async (secrets, text) => {
          const left = await mask(
            Object.fromEntries(secrets.map((secret, index) => [`S${index}`, secret])),
            text,
          )
          const shown = left.replaceAll(/\[secret S\d\]/g, "|")
          for (const secret of secrets) expect(shown).not.toContain(secret)
        },
      ),
    )
  })

  test("hides the longest of many long values with a common start", async () => {
    const common = "ab".repeat(2_000)
    const values = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`S${index}`, `${common}${"c".repeat(index)}!`]),
    )
    expect(await mask(values, `<${common}ccccc!>`)).toMatch(/^<\[secret S\d+\]>$/)
    expect(await mask(values, `<${common}cccccd>`)).toMatch(/^<\[secret S\d+\]d>$/)
  })

  // What takes longest: to go back as far as possible at each character; to find as much as
  // possible; to begin again and again.
  const slow: [string, Record<string, string>, string][] = [
    ["a value that differs in its last character", { A: `${"a".repeat(127)}b` }, "a"],
    ["a value that matches everywhere", { A: `${"a".repeat(127)}b`, B: "aaaaaa" }, "a"],
    ["many values with a long common start", manyAlike(), `${"ab".repeat(60)}!`],
    ["long values that begin everywhere", manyAfter("a".repeat(128)), "a"],
  ]
  test.each(slow)("takes time proportional to the text for %s", async (_what, values, part) => {
    const secretMask = await createMask(new Map(Object.entries(values)))
    const [short, long] = [part.repeat(100_000 / part.length), part.repeat(2_000_000 / part.length)]
    const words = "lorem ipsum ".repeat(2_000_000 / 12)
    secretMask.hide(short)
    // Measured against work that is known to be linear, in time of the processor: a busy machine
    // slows down both.
    const plain = leastCpuMs(() => words.toUpperCase().toLowerCase().split(" ").join("_"))
    expect(leastCpuMs(() => secretMask.hide(long))).toBeLessThan(50 * plain)
  })
})

function manyAlike(): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [`S${index}`, `${"ab".repeat(16_000)}${index}`]),
  )
}

function manyAfter(start: string): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [`S${index}`, `${start}b${index}`]),
  )
}

/** The least of a few attempts: compilation and garbage collection add to the others. */
function leastCpuMs(work: () => unknown): number {
  return Math.min(...Array.from({ length: 3 }, () => cpuMs(work)))
}

function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
