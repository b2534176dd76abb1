import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { waitUntil } from "../testing/wait-until.ts"
import { FairQueue, type FairQueueLimits } from "./fair-queue.ts"

const toKey = (name: string) => name.slice(0, 3)

/** A queue of names; the key of each is its first three letters. */
function fill(names: readonly string[], limits: FairQueueLimits = {}): FairQueue<string> {
  const queue = new FairQueue<string>(limits)
  for (const name of names) queue.add(toKey(name), name)
  return queue
}

const takeAll = (queue: FairQueue<string>) =>
  Array.from({ length: queue.size }, () => queue.next()?.about)

describe("FairQueue", () => {
  test("next alternates between keys and keeps the order within a key", () => {
    const queue = fill(["ada 1", "ada 2", "ada 3", "bob 1", "bob 2"])
    expect(takeAll(queue)).toEqual(["ada 1", "bob 1", "ada 2", "bob 2", "ada 3"])
    expect(queue.next()).toBeUndefined()
  })

  test("next serves a late key before the rest of a key with many", () => {
    const queue = fill(Array.from({ length: 100 }, (_, index) => `ada ${index}`))
    for (let count = 0; count < 50; count++) queue.next()
    queue.add("bob", "bob 1")
    expect([queue.next()?.about, queue.next()?.about]).toContain("bob 1")
  })

  test("next serves a key while new keys keep arriving", () => {
    const queue = fill(["ada 1", "ada 2", "ada 3"])
    const served: (string | undefined)[] = []
    for (let number = 100; number < 120; number++) {
      for (const key of [number, number + 100]) queue.add(`${key}`, `${key} new`)
      served.push(queue.next()?.about, queue.next()?.about)
    }
    expect(served.filter((name) => name?.startsWith("ada"))).toEqual(["ada 1", "ada 2", "ada 3"])
  })

  test("next gives no key a second turn before every waiting key has had one", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("ada", "bob", "cem"), { maxLength: 30 }), (keys) => {
        const queue = fill(keys.map((key, index) => `${key} ${index}`))
        const waiting = new Set<string>(keys)
        while (waiting.size > 0) {
          const turn = Array.from(waiting, () => queue.next()?.key ?? "")
          expect(new Set(turn)).toEqual(waiting)
          for (const key of turn) if (!queue.keys.includes(key)) waiting.delete(key)
        }
        expect(queue.size).toBe(0)
      }),
    )
  })

  test("next passes keys that have no turn, and those of a key that are not ready", () => {
    const queue = fill(["ada 1", "bob 1", "bob 2", "bob 3"])
    const notAda = (key: string) => key !== "ada"
    expect(queue.next(notAda, (name) => name === "bob 2")?.about).toBe("bob 2")
    expect(queue.next(notAda, (name) => name === "none")).toBeUndefined()
    expect(takeAll(queue)).toEqual(["ada 1", "bob 1", "bob 3"])
  })

  test("add refuses beyond the limit of all, of one key (a quarter by default), and of bytes", () => {
    const queue = fill(["ada 1", "ada 2", "bob 1", "bob 2", "cem 1", "cem 2"], { waitingMax: 8 })
    expect(queue.add("ada", "ada 3")).toBeUndefined()
    for (const key of ["dan", "eve"]) expect(queue.add(key, key)).toBeDefined()
    expect([queue.size, queue.add("fay", "fay")]).toEqual([8, undefined])
    const bytes = (queue: FairQueue<string>, sizes: readonly number[]) =>
      sizes.map((bytes) => queue.add("ada", "ada", { bytes }) !== undefined)
    expect(bytes(fill([], { waitingBytesMax: 1_000 }), [2_000, 1])).toEqual([true, false])
    expect(bytes(fill([], { waitingBytesMax: 1_000 }), [600, 600, 400])).toEqual([
      true,
      false,
      true,
    ])
  })

  test("putBack lets it wait in front of its key, even when the queue is full", () => {
    const queue = fill(["ada 1", "ada 2"], { waitingMax: 2, waitingPerKeyMax: 2 })
    const first = queue.next()
    queue.add("ada", "ada 3")
    if (first) queue.putBack(first)
    expect(takeAll(queue)).toEqual(["ada 1", "ada 2", "ada 3"])
  })

  test("a signal removes its waiter, unless that had its turn, and one that has aborted adds none", async () => {
    const queue = new FairQueue<string, string>()
    const [one, other] = [new AbortController(), new AbortController()]
    const aborted = queue.add("ada", "ada 1", one)
    const served = queue.add("bob", "bob 1", other)
    one.abort(new Error("gone"))
    expect(await aborted?.promise.catch(String)).toBe("Error: gone")
    queue.next()?.resolve("served")
    other.abort()
    expect([await served?.promise, queue.size]).toEqual(["served", 0])
    expect(() => queue.add("ada", "ada 2", one)).toThrow("gone")
  })

  test("hands over those that have waited too long, also those that came later", async () => {
    const late: string[] = []
    const queue = new FairQueue<string>({ waitMsMax: 5 }, ({ about }) => late.push(about))
    queue.add("ada", "ada 1")
    queue.add("bob", "bob 1")
    queue.next()
    await Bun.sleep(1)
    queue.add("ada", "ada 2")
    await waitUntil(() => late.length === 2)
    expect([late, queue.size]).toEqual([["bob 1", "ada 2"], 0])
  })

  test("clear removes all and returns them", () => {
    const queue = fill(["ada 1", "bob 1", "ada 2"])
    expect(queue.clear().map(({ about }) => about)).toEqual(["ada 1", "ada 2", "bob 1"])
    expect([queue.size, queue.next()]).toEqual([0, undefined])
  })
})
