import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { ByteBudget, type ByteBudgetLimits, type HeldBytes } from "./byte-budget.ts"

const createBudget = (limits: Partial<ByteBudgetLimits> = {}) =>
  new ByteBudget({ bytesMax: 100, bytesPerOwnerMax: 60, ...limits }, () => new Error("full"))

/** Acquires, and notes the name when it has the bytes. */
function createRecorder(budget: ByteBudget) {
  const order: string[] = []
  const held = new Map<string, HeldBytes>()
  return {
    order,
    held,
    acquire: async (owner: string, bytes: number, name = owner) => {
      held.set(name, await budget.acquire(owner, bytes))
      order.push(name)
    },
  }
}

describe("ByteBudget", () => {
  test("acquire waits until enough bytes are released, and release counts once", async () => {
    const budget = createBudget()
    const first = await budget.acquire("ada", 60)
    const { acquire, order, held } = createRecorder(budget)
    const waiting = acquire("bob", 50)
    expect([budget.heldBytes, budget.waiting, order]).toEqual([60, 1, []])
    first.release()
    first.release()
    await waiting
    expect([budget.heldBytes, budget.heldBytesOf("ada"), order]).toEqual([50, 0, ["bob"]])
    held.get("bob")?.release()
    expect(budget.heldBytes).toBe(0)
  })

  test("an owner that holds its share waits for itself, and no other waits for it", async () => {
    const budget = createBudget()
    const first = await budget.acquire("ada", 60)
    const { acquire, order } = createRecorder(budget)
    const own = acquire("ada", 1, "ada again")
    await acquire("bob", 40)
    expect(order).toEqual(["bob"])
    first.release()
    await own
    expect(order).toEqual(["bob", "ada again"])
  })

  test("an owner gets bytes that are free, however many of others wait for their own shares", async () => {
    const budget = createBudget({ bytesMax: 160, waitingMax: 2, waitingPerKeyMax: 2 })
    await budget.acquire("ada", 60)
    const waiting = [1, 2].map(() => budget.acquire("ada", 50).catch(String))
    expect(budget.waiting).toBe(2)
    expect(budget.tryAcquire("bob", 40)?.bytes).toBe(40)
    expect((await budget.acquire("cyd", 60)).bytes).toBe(60)
    expect(waiting.length).toBe(2)
  })

  test("those behind one that leaves do not wait for what it would have taken", async () => {
    const budget = createBudget()
    await budget.acquire("ada", 60)
    const { acquire, order } = createRecorder(budget)
    const abort = new AbortController()
    const large = budget.acquire("bob", 60, abort.signal).catch(String)
    const small = acquire("cyd", 20)
    expect(order).toEqual([])
    abort.abort()
    await Promise.all([large, small])
    expect(order).toEqual(["cyd"])
  })

  test("those that are small do not pass one that waits for the bytes of others", async () => {
    const budget = createBudget()
    const held = [await budget.acquire("ada", 50), await budget.acquire("bob", 40)]
    const { acquire, order } = createRecorder(budget)
    const all = [acquire("cem", 50), acquire("dan", 20), acquire("cem", 5, "cem again")]
    expect(budget.tryAcquire("eve", 1)).toBeUndefined()
    expect(budget.waiting).toBe(3)
    held[0]?.release()
    await all[0]
    expect(order).toEqual(["cem"])
    held[1]?.release()
    await Promise.all(all)
    expect(order).toEqual(["cem", "dan", "cem again"])
  })

  test("resize gives back what is too much, and takes more without waiting", async () => {
    const budget = createBudget()
    const held = await budget.acquire("ada", 60)
    const { acquire, order } = createRecorder(budget)
    const waiting = acquire("bob", 60)
    held.resize(10)
    await waiting
    expect(order).toEqual(["bob"])
    held.resize(55)
    expect([held.bytes, budget.heldBytes]).toEqual([55, 115])
    held.release()
    held.resize(20)
    expect([held.bytes, budget.heldBytes]).toEqual([0, 60])
  })

  test("more than the share of an owner counts as that share", async () => {
    const budget = createBudget()
    const held = await budget.acquire("ada", 1_000)
    expect(held.bytes).toBe(60)
    held.resize(2_000)
    expect(budget.heldBytes).toBe(60)
  })

  test("acquire rejects when the signal aborts, when too much waits, and after the time limit", async () => {
    const budget = createBudget({ waitingBytesMax: 100, waitMsMax: 5 })
    const held = await budget.acquire("ada", 60)
    expect((await budget.acquire("bob", 40)).bytes).toBe(40)
    const abort = new AbortController()
    const waiting = budget.acquire("cem", 60, abort.signal)
    expect(await budget.acquire("dan", 60).catch(String)).toBe("Error: full")
    abort.abort(new Error("gone"))
    expect(await waiting.catch(String)).toBe("Error: gone")
    expect(await budget.acquire("cem", 1, abort.signal).catch(String)).toBe("Error: gone")
    expect(await budget.acquire("eve", 1).catch(String)).toBe("Error: full")
    expect([budget.waiting, budget.heldBytes]).toEqual([0, 100])
    held.release()
  })

  test("whatever is acquired, the limits hold, and all are served in the end", async () => {
    const step = fc.record({
      owner: fc.constantFrom("ada", "bob", "cem"),
      bytes: fc.integer({ min: 0, max: 150 }),
      releases: fc.nat(3),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const budget = createBudget()
        const held: HeldBytes[] = []
        let served = 0
        for (const { owner, bytes, releases } of steps) {
          void budget.acquire(owner, bytes).then((one) => {
            served += 1
            held.push(one)
          })
          await Promise.resolve()
          for (const one of held.splice(0, releases)) one.release()
          await Promise.resolve()
          expect(budget.heldBytes).toBeLessThanOrEqual(100)
          for (const name of ["ada", "bob", "cem"])
            expect(budget.heldBytesOf(name)).toBeLessThanOrEqual(60)
        }
        while (served < steps.length || held.length > 0) {
          for (const one of held.splice(0)) one.release()
          await Promise.resolve()
        }
        expect([budget.heldBytes, budget.waiting]).toEqual([0, 0])
      }),
    )
  })
})
