import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { createCipher, keyBytes, type Sealed } from "./cipher.ts"

const key = fc.uint8Array({ minLength: keyBytes, maxLength: keyBytes })
const text = fc.string({ unit: "binary" })
const toKeyId = (by: Uint8Array) => createCipher([by]).keyId

describe("createCipher", () => {
  test("opens any text that it sealed for the same purpose", () => {
    fc.assert(
      fc.property(key, text, text, (bytes, plain, purpose) => {
        const cipher = createCipher([bytes])
        expect(cipher.open(cipher.seal(plain, purpose), purpose)).toBe(plain)
      }),
    )
  })

  test("refuses to open for another purpose", () => {
    fc.assert(
      fc.property(key, text, text, text, (bytes, plain, purpose, other) => {
        fc.pre(purpose !== other)
        const cipher = createCipher([bytes])
        const sealed = cipher.seal(plain, purpose)
        expect(() => cipher.open(sealed, other)).toThrow()
      }),
    )
  })

  test("refuses to open with another key, even if the id of that key is given", () => {
    fc.assert(
      fc.property(key, key, text, (bytes, other, plain) => {
        fc.pre(toKeyId(bytes) !== toKeyId(other))
        const sealed = createCipher([bytes]).seal(plain, "test")
        const stranger = createCipher([other])
        expect(() => stranger.open(sealed, "test")).toThrow(
          `Cannot decrypt a secret: this server does not have key ${toKeyId(bytes)}`,
        )
        expect(() => stranger.open({ ...sealed, keyId: toKeyId(other) }, "test")).toThrow()
      }),
    )
  })

  test("refuses to open if any byte was changed", () => {
    fc.assert(
      fc.property(
        key,
        fc.string({ unit: "binary", maxLength: 20 }),
        fc.integer({ min: 1, max: 255 }),
        (bytes, plain, mask) => {
          const cipher = createCipher([bytes])
          const sealed = cipher.seal(plain, "test")
          for (let index = 0; index < sealed.bytes.length; index++) {
            const changed = new Uint8Array(sealed.bytes)
            changed[index] = (changed[index] ?? 0) ^ mask
            expect(() => cipher.open({ ...sealed, bytes: changed }, "test")).toThrow()
          }
        },
      ),
      { numRuns: 30 },
    )
  })

  test("opens nothing that was truncated or extended", () => {
    const cipher = createCipher([Buffer.alloc(keyBytes, 1)])
    for (const plain of ["", "a text of some length"]) {
      const sealed = cipher.seal(plain, "test")
      const { bytes } = sealed
      const cuts = Array.from(bytes, (_, index): Uint8Array[] => [
        bytes.subarray(0, index),
        bytes.subarray(index + 1),
      ]).flat()
      for (const changed of [
        ...cuts,
        Buffer.concat([bytes, Buffer.alloc(1)]),
        Buffer.concat([Buffer.alloc(1), bytes]),
      ]) {
        expect(() => cipher.open({ ...sealed, bytes: changed }, "test")).toThrow()
      }
    }
  })

  test("seals as AES-256-GCM: nonce, text, tag, and the purpose as additional data", async () => {
    const bytes = Buffer.alloc(keyBytes, 3)
    const sealed = createCipher([bytes]).seal("plain ✓", "some purpose")

    const opened = await crypto.subtle.decrypt(
      {
        name: "AES-GCM",
        iv: Buffer.from(sealed.bytes.subarray(0, 12)),
        additionalData: Buffer.from("some purpose"),
      },
      await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["decrypt"]),
      Buffer.from(sealed.bytes.subarray(12)),
    )

    expect(new TextDecoder().decode(opened)).toBe("plain ✓")
  })

  test("never seals the same text to the same bytes", () => {
    const cipher = createCipher([Buffer.alloc(keyBytes, 1)])
    const sealed = Array.from({ length: 1000 }, () =>
      Buffer.from(cipher.seal("same", "test").bytes),
    )
    expect(new Set(sealed.map((bytes) => bytes.toString("hex"))).size).toBe(1000)
    expect(new Set(sealed.map((bytes) => bytes.subarray(0, 12).toString("hex"))).size).toBe(1000)
  })

  describe("with several keys", () => {
    const [older, newer, newest] = [1, 2, 3].map((byte) => Buffer.alloc(keyBytes, byte)) as [
      Buffer,
      Buffer,
      Buffer,
    ]
    const sealedWith = (by: Uint8Array): Sealed => createCipher([by]).seal("text", "test")

    test("seals with the first key and opens with all of them", () => {
      const cipher = createCipher([newer, older])
      expect(cipher.keyId).toBe(toKeyId(newer))
      expect(cipher.seal("text", "test").keyId).toBe(toKeyId(newer))
      for (const by of [newer, older]) expect(cipher.open(sealedWith(by), "test")).toBe("text")
    })

    test("seals with the first key of reload as soon as it returns it", () => {
      let keys: readonly Uint8Array[] = [older]
      const cipher = createCipher(keys, () => keys)
      keys = [newer, older]
      expect(cipher.keyId).toBe(toKeyId(newer))
      expect(cipher.seal("text", "test").keyId).toBe(toKeyId(newer))
      expect(cipher.open(sealedWith(newer), "test")).toBe("text")
    })

    test("opens with a key that reload no longer returns, if it had it before", () => {
      const cipher = createCipher([older], () => [newest, newer])
      expect(cipher.open(sealedWith(older), "test")).toBe("text")
    })

    test("does not reload keys to open with a known key", () => {
      const cipher = createCipher([older], () => {
        throw new Error("the file is gone")
      })
      expect(cipher.open(sealedWith(older), "test")).toBe("text")
      expect(() => cipher.open(sealedWith(newer), "test")).toThrow("the file is gone")
      expect(() => cipher.seal("text", "test")).toThrow("the file is gone")
    })

    test("refuses to seal without a key", () => {
      expect(() => createCipher([]).seal("text", "test")).toThrow("Cannot encrypt without a key")
    })
  })

  test("derives the id of a key from the key alone", () => {
    expect(toKeyId(Buffer.alloc(keyBytes))).toBe("273f84ee01741b63")
    fc.assert(
      fc.property(key, key, (left, right) => {
        expect(toKeyId(left)).toMatch(/^[0-9a-f]{16}$/)
        expect(toKeyId(left) === toKeyId(right)).toBe(Buffer.from(left).equals(right))
      }),
    )
  })
})

describe("sign", () => {
  const content = Buffer.from("content")
  const [older, newer] = [Buffer.alloc(keyBytes, 1), Buffer.alloc(keyBytes, 2)]
  const toHex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

  test("is equal for equal input, and differs by content, purpose and key", () => {
    const cipher = createCipher([older])
    const signatures = [
      cipher.sign(content, "a"),
      cipher.sign(content, "b"),
      cipher.sign(Buffer.from("contenT"), "a"),
      createCipher([newer]).sign(content, "a"),
    ]
    expect(new Set(signatures.map(toHex)).size).toBe(4)
    expect(toHex(cipher.sign(content, "a"))).toBe(toHex(signatures[0] ?? content))
    expect(signatures[0]).toHaveLength(32)
  })

  test("uses the newest key at that moment", () => {
    let keys: readonly Uint8Array[] = [older]
    const cipher = createCipher(keys, () => keys)
    keys = [newer, older]
    expect(toHex(cipher.sign(content, "a"))).toBe(toHex(createCipher([newer]).sign(content, "a")))
  })
})
