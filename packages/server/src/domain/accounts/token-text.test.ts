import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { hasTokenShape, makeTokenText, tokenPattern } from "./token-text.ts"

const tokenPrefix = "hamlet_"
const sessionPrefix = "hamlet_session_"
const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const random = fc.uint8Array({ minLength: 32, maxLength: 32 })
const token = random.map((bytes) => makeTokenText(bytes))
const session = random.map((bytes) => makeTokenText(bytes, "session"))
const place = fc.integer({ min: 0, max: sessionPrefix.length + 48 })
const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code))

describe("makeTokenText", () => {
  test("keeps all 256 bits of a session", () => {
    fc.assert(
      fc.property(
        fc.oneof(random, fc.constantFrom(new Uint8Array(32), new Uint8Array(32).fill(255))),
        (bytes) => {
          expect(toBytes(makeTokenText(bytes, "session").slice(sessionPrefix.length, -6))).toEqual(
            Buffer.from(bytes),
          )
        },
      ),
    )
  })

  test("keeps 178 bits of a token", () => {
    fc.assert(
      fc.property(random, (bytes) => {
        const secret = makeTokenText(bytes).slice(tokenPrefix.length, -6)
        const bits = BigInt(`0x${Buffer.from(bytes).toString("hex")}`)
        expect(toNumber(secret)).toBe(bits % 62n ** 30n)
      }),
    )
  })

  test("returns texts of one length that scanners for leaked tokens recognize", () => {
    fc.assert(fc.property(token, (text) => expect(text).toMatch(/^hamlet_[0-9A-Za-z]{36}$/)))
  })

  test("returns tokens with as many characters as clients for Val Town store", () => {
    fc.assert(fc.property(token, (text) => expect(text).toHaveLength(43)))
  })

  test("returns the same text for the same bits in every release, since only hashes are stored", () => {
    const bits = new Uint8Array(32)
    expect(makeTokenText(bits)).toBe(`hamlet_${"0".repeat(30)}${checksumOf("0".repeat(30))}`)
    expect(makeTokenText(bits, "session")).toBe(
      `hamlet_session_${"0".repeat(43)}${checksumOf("0".repeat(43))}`,
    )
  })
})

describe("tokenPattern", () => {
  test("matches every secret string of this release and of earlier ones", () => {
    const kinds = ["token", "session", "link", "invitation", "code", "refresh"] as const
    const texts = kinds.map((kind) => makeTokenText(new Uint8Array(32).fill(7), kind))
    for (const text of [...texts, `hamlet_${"A".repeat(49)}`])
      expect(tokenPattern.exec(text)?.[0]).toBe(text)
    expect(`hamlet_${"A".repeat(35)}`).not.toMatch(tokenPattern)
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
  return Buffer.from(toNumber(text).toString(16).padStart(64, "0"), "hex")
}

function toNumber(text: string): bigint {
  return [...text].reduce((sum, digit) => sum * 62n + BigInt(digits.indexOf(digit)), 0n)
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
