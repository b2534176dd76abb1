import { expect, test } from "bun:test"
import fc from "fast-check"
import { fromBase32, toBase32 } from "./base32.ts"

test("toBase32 encodes the vectors of RFC 4648", () => {
  const texts = ["", "f", "fo", "foo", "foob", "fooba", "foobar"]
  expect(texts.map((text) => toBase32(Buffer.from(text)))).toEqual([
    "",
    "my",
    "mzxq",
    "mzxw6",
    "mzxw6yq",
    "mzxw6ytb",
    "mzxw6ytboi",
  ])
})

test("fromBase32 decodes what toBase32 encodes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      expect([...fromBase32(toBase32(bytes))]).toEqual([...bytes])
    }),
  )
})
