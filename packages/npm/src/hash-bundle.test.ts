import { describe, expect, test } from "bun:test"
import { hashBundle } from "./hash-bundle.ts"

const hex = (...parts: readonly Uint8Array[]) => Bun.SHA256.hash(Buffer.concat(parts), "hex")
const raw = (bytes: Uint8Array) => Buffer.from(hex(bytes), "hex")

describe("hashBundle", () => {
  test("hashes code of any size as a whole", async () => {
    for (const size of [0, 1, 4 * 1024 ** 2, 9 * 1024 ** 2 + 1]) {
      const code = Buffer.alloc(size, "code")
      expect(await hashBundle(code, null)).toBe(hex(code))
    }
  })

  test("hashes code and files apart", async () => {
    const [code, files] = [Buffer.from("code"), Buffer.from("files")]
    expect(await hashBundle(code, files)).toBe(hex(raw(code), raw(files)))
    expect(await hashBundle(Buffer.from("codefiles"), null)).not.toBe(await hashBundle(code, files))
  })

  test("lets other work go on while it hashes a large bundle", async () => {
    let turns = 0
    const timer = setInterval(() => turns++, 0)
    await hashBundle(Buffer.alloc(40 * 1024 ** 2), Buffer.alloc(40 * 1024 ** 2))
    clearInterval(timer)
    expect(turns).toBeGreaterThan(2)
  })
})
