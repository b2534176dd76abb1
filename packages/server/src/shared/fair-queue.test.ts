import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { FairQueue } from "./fair-queue.ts"

const toKey = (item: string) => item.slice(0, 3)

function fill(...items: string[]): FairQueue<string> {
  const queue = new FairQueue<string>()
  for (const item of items) queue.push(toKey(item), item)
  return queue
}

function shiftAll(queue: FairQueue<string>): (string | undefined)[] {
  return Array.from({ length: queue.size }, () => queue.shift())
}

describe("FairQueue", () => {
  test("shift alternates between keys and keeps the order within a key", () => {
    expect(shiftAll(fill("ada 1", "ada 2", "ada 3", "bob 1", "bob 2"))).toEqual([
      "ada 1",
      "bob 1",
      "ada 2",
      "bob 2",
      "ada 3",
    ])
    expect(fill().shift()).toBeUndefined()
  })

  test("shift returns the item of a late key before the rest of a key with many items", () => {
    const queue = fill(...Array.from({ length: 100 }, (_, index) => `ada ${index}`))
    for (let count = 0; count < 50; count++) queue.shift()
    queue.push("bob", "bob 1")
    expect([queue.shift(), queue.shift()]).toContain("bob 1")
  })

  test("shift returns the items of a key while new keys keep arriving", () => {
    const queue = fill("ada 1", "ada 2", "ada 3")
    const shifted: (string | undefined)[] = []
    for (let number = 100; number < 120; number++) {
      queue.push(`${number}`, `${number} new`)
      queue.push(`${number + 100}`, `${number + 100} new`)
      shifted.push(queue.shift(), queue.shift())
    }
    expect(shifted.filter((item) => item?.startsWith("ada"))).toEqual(["ada 1", "ada 2", "ada 3"])
  })

  test("shift gives no key a second turn before every waiting key has had one", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("ada", "bob", "cem"), { maxLength: 30 }), (keys) => {
        const queue = fill(...keys.map((key, index) => `${key} ${index}`))
        const waiting = new Set<string>(keys)
        while (waiting.size > 0) {
          const turn = Array.from(waiting, () => toKey(queue.shift() ?? ""))
          expect(new Set(turn)).toEqual(waiting)
          for (const key of turn) if (!queue.keys.includes(key)) waiting.delete(key)
        }
        expect(queue.size).toBe(0)
      }),
    )
  })

  test("push refuses items beyond the limit, and beyond a quarter of it for one key", () => {
    const queue = new FairQueue<number>(8)
    expect([1, 2, 3].map((item) => queue.push("ada", item))).toEqual([true, true, false])
    for (const key of ["bob", "cem", "dan"]) for (const item of [1, 2]) queue.push(key, item)
    expect([queue.size, queue.push("eve", 1)]).toEqual([8, false])
    queue.shift()
    expect(queue.push("eve", 1)).toBe(true)
  })

  test("delete and clear remove items", () => {
    const queue = fill("ada 1", "bob 1")
    expect([queue.delete("ada", "ada 1"), queue.delete("ada", "ada 1")]).toEqual([true, false])
    expect([queue.keys, queue.size]).toEqual([["bob"], 1])
    expect(shiftAll(queue)).toEqual(["bob 1"])
    const other = fill("ada 1", "bob 1", "ada 2")
    expect(other.clear()).toEqual(["ada 1", "ada 2", "bob 1"])
    expect([other.size, other.shift()]).toEqual([0, undefined])
  })
})
