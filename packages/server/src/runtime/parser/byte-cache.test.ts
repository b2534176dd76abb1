import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { createByteCache } from "./byte-cache.ts"

describe("createByteCache", () => {
  test("returns what was stored", () => {
    const cache = createByteCache<number>(100)
    cache.set("a", 1, 10)
    expect(cache.get("a")).toBe(1)
    expect(cache.get("b")).toBeUndefined()
    expect(cache.bytes()).toBe(11)
  })

  test("drops the least recently used value", () => {
    const cache = createByteCache<number>(22)
    cache.set("a", 1, 10)
    cache.set("b", 2, 10)
    cache.get("a")
    cache.set("c", 3, 10)
    expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual([1, undefined, 3])
  })

  test("counts a replaced value once", () => {
    const cache = createByteCache<number>(100)
    cache.set("a", 1, 10)
    cache.set("a", 2, 20)
    expect([cache.get("a"), cache.bytes()]).toEqual([2, 21])
  })

  test("does not store a value larger than the cache, and drops the one it replaces", () => {
    const cache = createByteCache<number>(10)
    cache.set("a", 1, 5)
    cache.set("a", 2, 10)
    expect([cache.get("a"), cache.bytes()]).toEqual([undefined, 0])
  })

  test("never exceeds its limit, and always has the latest value", () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ key: fc.string({ maxLength: 2 }), bytes: fc.nat(120) })),
        (puts) => {
          const cache = createByteCache<number>(100)
          for (const [index, { key, bytes }] of puts.entries()) {
            cache.set(key, index, bytes)
            expect(cache.bytes()).toBeLessThanOrEqual(100)
            expect(cache.get(key)).toBe(bytes + key.length <= 100 ? index : undefined)
          }
        },
      ),
    )
  })
})
