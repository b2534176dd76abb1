import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { hasTokenShape, makeTokenText } from "./token-text.ts"

const tokenPrefix = "hamlet_"
const sessionPrefix = "hamlet_session_"
const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const random = fc.uint8Array({ minLength: 32, maxLength: 32 })
const token = random.map((bytes) => makeTokenText(bytes))
const session = random.map((bytes) => makeTokenText(bytes, "session"))
const place = fc.integer({ min: 0, max: sessionPrefix.length + 48 })
const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code))

describe("makeTokenText", () => {
  test("keeps all 256 bits", () => {
    fc.assert(
      fc.property(
        fc.oneof(random, fc.constantFrom(new Uint8Array(32), new Uint8Array(32).fill(255))),
        (bytes) => {
          expect(toBytes(makeTokenText(bytes).slice(tokenPrefix.length, -6))).toEqual(
            Buffer.from(bytes),
          )
        },
      ),
    )
  })

  test("returns texts of one length that scanners for leaked tokens recognize", () => {
    fc.assert(fc.property(token, (text) => expect(text).toMatch(/^hamlet_[0-9A-Za-z]{49}$/)))
  })

  test("returns the same text for the same bits in every release, since only hashes are stored", () => {
    expect(makeTokenText(new Uint8Array(32))).toBe(
      `hamlet_${"0".repeat(43)}${checksumOf("0".repeat(43))}`,
    )
  })
})

describe("hasTokenShape", () => {
  test("tells sessions, links and tokens apart", () => {
    const kinds = ["session", "link"] as const
    fc.assert(
      fc.property(
        random,
        fc.constantFrom("token" as const, ...kinds),
        fc.constantFrom(...kinds),
        (bytes, kind, other) => {
          expect(hasTokenShape(makeTokenText(bytes, kind), other)).toBe(kind === other)
        },
      ),
    )
    for (const kind of ["session", "link"] as const)
      expect(hasTokenShape("x".repeat(40), kind)).toBe(false)
  })

  test("accepts every token that it created", () => {
    fc.assert(fc.property(token, (text) => expect(hasTokenShape(text)).toBe(true)))
  })

  test("refuses a session with one changed character", () => {
    fc.assert(
      fc.property(session, visible, (text, other) => {
        for (let index = 0; index < text.length; index++) {
          if (text[index] !== other)
            expect(
              hasTokenShape(text.slice(0, index) + other + text.slice(index + 1), "session"),
            ).toBe(false)
        }
      }),
    )
  })

  test("refuses a session with one character removed, doubled or inserted", () => {
    fc.assert(
      fc.property(session, place, visible, (text, index, other) => {
        expect(hasTokenShape(text.slice(0, index) + text.slice(index + 1), "session")).toBe(false)
        expect(hasTokenShape(text.slice(0, index) + other + text.slice(index), "session")).toBe(
          false,
        )
        expect(hasTokenShape(text + other, "session")).toBe(false)
      }),
    )
  })

  test("refuses a session with two neighbouring characters swapped", () => {
    fc.assert(
      fc.property(
        session,
        fc.integer({ min: 0, max: sessionPrefix.length + 47 }),
        (text, index) => {
          const swapped = `${text.slice(0, index)}${text[index + 1]}${text[index]}${text.slice(index + 2)}`
          expect(hasTokenShape(swapped, "session")).toBe(swapped === text)
        },
      ),
    )
  })

  test("accepts 32 to 200 visible ASCII characters of an operator", () => {
    const chosen = fc.string({ unit: visible, minLength: 32, maxLength: 193 })
    fc.assert(
      fc.property(chosen, fc.constantFrom("", tokenPrefix), (text, prefix) =>
        expect(hasTokenShape(prefix + text)).toBe(true),
      ),
    )
  })

  const refused = [
    "",
    "x".repeat(31),
    "x".repeat(201),
    `${"x".repeat(32)} `,
    ` ${"x".repeat(32)}`,
    `${"x".repeat(16)} ${"x".repeat(16)}`,
    `${"x".repeat(32)}\n`,
    `${"x".repeat(32)}\0`,
    `${"x".repeat(32)}\x7f`,
    `${"x".repeat(32)}é`,
    tokenPrefix,
    tokenPrefix + "0".repeat(194),
  ]
  test.each(refused)("refuses %j", (text) => {
    expect(hasTokenShape(text)).toBe(false)
  })

  test.each([
    sessionPrefix + "0".repeat(49),
    sessionPrefix + "0".repeat(42) + checksumOf("0".repeat(42)),
    sessionPrefix + "0".repeat(44) + checksumOf("0".repeat(44)),
  ])("refuses %j as a session", (text) => {
    expect(hasTokenShape(text, "session")).toBe(false)
  })
})

function toBytes(text: string): Buffer {
  const number = [...text].reduce((sum, digit) => sum * 62n + BigInt(digits.indexOf(digit)), 0n)
  return Buffer.from(number.toString(16).padStart(64, "0"), "hex")
}

/** CRC-32, written out bit by bit so as not to trust what makes the tokens. */
function checksumOf(secret: string): string {
  let crc = 0xffffffff
  for (const byte of Buffer.from(secret)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  let rest = (crc ^ 0xffffffff) >>> 0
  let text = ""
  for (let index = 0; index < 6; index++) {
    text = (digits[rest % 62] ?? "") + text
    rest = Math.floor(rest / 62)
  }
  return text
}
