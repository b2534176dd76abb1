import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { RecentMap } from "./recent-map.ts"

describe("RecentMap", () => {
  test("drops the entry that was set or read longest ago", () => {
    const map = new RecentMap<string, number>(2)
    map.set("a", 1).set("b", 2)
    map.get("a")
    map.set("c", 3)
    expect([...map.values()]).toEqual([1, 3])
    map.set("a", 4)
    expect([...map.values()]).toEqual([3, 4])
    map.get("c")
    map.delete("a")
    expect([[...map.values()], map.has("a"), map.has("c")]).toEqual([[3], false, true])
    map.clear()
    expect([map.sizes, [...map.values()]]).toEqual([0, []])
    expect([...map.set("d", 5).values()]).toEqual([5])
  })

  test("keeps values that are undefined", () => {
    const map = new RecentMap<string, number | undefined>(2)
    map.set("a", undefined).set("b", 1).set("a", undefined)
    expect([map.has("a"), map.sizes, map.delete("a"), map.sizes]).toEqual([true, 2, true, 1])
  })

  test("tells which values it drops, but not which the caller takes out", () => {
    const dropped: number[] = []
    const map = new RecentMap<string, number>(1, { onDrop: (value) => dropped.push(value) })
    map.set("a", 1).set("a", 1)
    expect(dropped).toEqual([])
    map.set("a", 2).set("b", 3)
    map.delete("b")
    expect(dropped).toEqual([1, 2])
  })

  test("does not keep an entry that is too large, and drops the one it replaces", () => {
    const map = new RecentMap<string, number>(10, { sizeOf: (value) => value })
    map.set("a", 5).set("a", 11)
    expect([map.get("a"), map.sizes]).toEqual([undefined, 0])
  })

  test("never exceeds its limit, and always has the latest entry", () => {
    const puts = fc.array(fc.record({ key: fc.string({ maxLength: 1 }), size: fc.nat(120) }))
    fc.assert(
      fc.property(puts, (all) => {
        const map = new RecentMap<string, { size: number }>(100, { sizeOf: ({ size }) => size })
        for (const { key, size } of all) {
          map.set(key, { size })
          expect(map.sizes).toBe([...map.values()].reduce((sum, one) => sum + one.size, 0))
          expect(map.sizes).toBeLessThanOrEqual(100)
          expect(map.get(key)?.size).toBe(size <= 100 ? size : undefined)
        }
      }),
    )
  })
})
