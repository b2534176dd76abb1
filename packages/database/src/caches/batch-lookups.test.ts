import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { createBatchLookup } from "./batch-lookups.ts"

/** Responds when the test calls `respond`, so that the test controls what overlaps. */
function createSource() {
  const calls: { readonly keys: readonly string[]; respond(): void; fail(error: Error): void }[] =
    []
  const fetchMany = (keys: readonly string[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<ReadonlyMap<string, string>>()
    calls.push({
      keys,
      respond: () => resolve(new Map(keys.map((key) => [key, `value of ${key}`]))),
      fail: reject,
    })
    return promise
  }
  return { calls, fetchMany }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

describe("createBatchLookup", () => {
  test("fetches the keys of one turn together, each key once", async () => {
    const { calls, fetchMany } = createSource()
    const find = createBatchLookup(fetchMany, { keysMax: 10 })

    const found = Promise.all([find("a"), find("b"), find("a")])
    await nextTurn()
    calls[0]?.respond()

    expect(await found).toEqual(["value of a", "value of b", "value of a"])
    expect(calls.map(({ keys }) => keys)).toEqual([["a", "b"]])
  })

  test("gathers keys while the maximum of batches is in flight", async () => {
    const { calls, fetchMany } = createSource()
    const find = createBatchLookup(fetchMany, { keysMax: 10, batchesMax: 1 })
    const first = find("a")
    await nextTurn()

    const later = [find("b")]
    await nextTurn()
    later.push(find("c"))
    await nextTurn()
    expect(calls.length).toBe(1)
    calls[0]?.respond()
    await first
    await nextTurn()
    calls[1]?.respond()

    expect(await Promise.all(later)).toEqual(["value of b", "value of c"])
    expect(calls.map(({ keys }) => keys)).toEqual([["a"], ["b", "c"]])
  })

  test("fetches a key again that is in flight, because its value may be older than the request", async () => {
    const { calls, fetchMany } = createSource()
    const find = createBatchLookup(fetchMany, { keysMax: 10, batchesMax: 2 })
    const first = find("a")
    await nextTurn()

    const second = find("a")
    await nextTurn()

    expect(calls.map(({ keys }) => keys)).toEqual([["a"], ["a"]])
    for (const call of calls) call.respond()
    await Promise.all([first, second])
  })

  test("returns undefined for a key that was not found", async () => {
    const find = createBatchLookup(async () => new Map<string, string>(), { keysMax: 10 })

    expect(await find("a")).toBeUndefined()
  })

  test("rejects each caller of a failed batch, and continues", async () => {
    const { calls, fetchMany } = createSource()
    const find = createBatchLookup(fetchMany, { keysMax: 10, batchesMax: 1 })
    const failing = Promise.allSettled([find("a"), find("b")])
    await nextTurn()
    const next = find("c")

    calls[0]?.fail(new Error("gone"))
    expect((await failing).map((outcome) => outcome.status)).toEqual(["rejected", "rejected"])
    await nextTurn()
    calls[1]?.respond()

    expect(await next).toBe("value of c")
  })

  test("rejects with an error that is thrown synchronously", async () => {
    const find = createBatchLookup<string, string>(
      () => {
        throw new Error("at once")
      },
      { keysMax: 10 },
    )

    await expect(find("a")).rejects.toThrow("at once")
  })

  test("keeps its limits and never returns a state older than the request", async () => {
    const script = fc.array(fc.array(fc.constantFrom("a", "b", "c", "d", "e"), { maxLength: 6 }), {
      maxLength: 12,
    })
    await fc.assert(
      fc.asyncProperty(
        script,
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 3 }),
        async (turns, keysMax, batchesMax) => {
          let clock = 0
          let inFlight = 0
          const fetchMany = async (keys: readonly string[]) => {
            const startedAt = clock
            inFlight += 1
            expect(inFlight).toBeLessThanOrEqual(batchesMax)
            expect(keys.length).toBeLessThanOrEqual(keysMax)
            expect(new Set(keys).size).toBe(keys.length)
            for (let turn = 0; turn < 1 + (startedAt % 3); turn += 1) await nextTurn()
            inFlight -= 1
            return new Map(keys.map((key) => [key, { key, startedAt }]))
          }
          const find = createBatchLookup(fetchMany, { keysMax, batchesMax })

          const lookups: Promise<void>[] = []
          for (const keys of turns) {
            for (const key of keys) {
              const requestedAt = clock
              lookups.push(
                find(key).then((found) => {
                  expect(found?.key).toBe(key)
                  expect(found?.startedAt).toBeGreaterThanOrEqual(requestedAt)
                }),
              )
            }
            clock += 1
            await nextTurn()
          }
          await Promise.all(lookups)
        },
      ),
    )
  })
})
