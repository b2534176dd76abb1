import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { settleRate, settleSlots, slotsKeptMs } from "./settle-budget.ts"

const now = Date.parse("2026-01-01T00:00:00.000Z")
const perMinute = { key: "k", periodMs: 60_000, spent: 0, wanted: 0, used: 0 }

describe("settleRate", () => {
  test("grants what is left, and refills evenly by the clock of the database", () => {
    const all = settleRate({ ...perMinute, capacity: 6, wanted: 9 }, undefined, now)
    expect(all).toEqual({
      budget: { fullAt: now + 60_000, holders: null },
      answer: { used: 6, granted: 6 },
    })
    const later = settleRate({ ...perMinute, capacity: 6, wanted: 9 }, now + 60_000, now + 20_000)
    expect(later.answer).toEqual({ used: 6, granted: 2 })
  })

  test("takes the word of the node where nothing is stored", () => {
    const ask = { ...perMinute, capacity: 10, spent: 2, wanted: 5, used: 8 }
    expect(settleRate(ask, undefined, now).answer).toEqual({ used: 10, granted: 2 })
  })

  test("limits the debt to the capacity", () => {
    const ask = { ...perMinute, capacity: 10, spent: 1_000, used: 1_000 }
    expect(settleRate(ask, undefined, now)).toMatchObject({
      budget: { fullAt: now + 120_000 },
      answer: { used: 20 },
    })
  })

  test("never grants more than the capacity and what was refilled, and wastes less than a token", () => {
    const steps = fc.array(fc.record({ ms: fc.nat(20_000), wanted: fc.nat(100) }), { minLength: 1 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), steps, (capacity, all) => {
        let at = now
        let fullAt: number | undefined
        let total = 0
        for (const { ms, wanted } of all) {
          at += ms
          const settled = settleRate({ ...perMinute, capacity, wanted }, fullAt, at)
          fullAt = settled.budget.fullAt
          total += settled.answer.granted
          const refilled = ((at - now) / 60_000) * capacity
          // Each rounding to a millisecond is in favour of the user.
          expect(total).toBeLessThanOrEqual(
            capacity + refilled + (all.length * capacity) / 60_000 + 1e-6,
          )
          if (settled.answer.granted < wanted)
            expect(capacity - settled.answer.used).toBeLessThan(1)
        }
      }),
    )
  })
})

describe("settleSlots", () => {
  const nodes = { isLive: (id: string) => id !== "dead", unknownCount: 1 }
  const ask = (open: number, wanted: number) => ({ key: "k", max: 10, open, wanted })

  test("gives what others do not hold; a node that is gone holds nothing", () => {
    const holders = { b: [3, 0], dead: [7, 0] } as const
    expect(settleSlots(ask(1, 20), "a", holders, nodes, now)).toEqual({
      budget: { fullAt: now + slotsKeptMs, holders: { b: [3, 0], a: [7, 13] } },
      answer: { held: 7, openMax: 7 },
    })
  })

  test("keeps what is open, even where others hold all", () => {
    expect(settleSlots(ask(4, 4), "a", { b: [10, 0] }, nodes, now).answer).toEqual({
      held: 4,
      openMax: 0,
    })
  })

  test("lets a node that holds more than its part open no more while others wait", () => {
    const crowded = settleSlots(ask(9, 12), "a", { b: [1, 6] }, nodes, now)
    expect(crowded.answer).toEqual({ held: 9, openMax: 5 })
    const modest = settleSlots(ask(9, 12), "a", { b: [1, 2] }, nodes, now)
    expect(modest.answer).toEqual({ held: 9, openMax: 7 })
  })

  test("gives what cannot be divided evenly to the node that asks for it", () => {
    const balanced = { b: [3, 5], c: [3, 5] } as const
    expect(settleSlots(ask(3, 8), "a", balanced, nodes, now).answer).toEqual({
      held: 4,
      openMax: 4,
    })
    const owing = { b: [2, 5], c: [3, 5] } as const
    expect(settleSlots(ask(3, 8), "a", owing, nodes, now).answer.held).toBe(4)
    expect(settleSlots(ask(4, 8), "a", owing, nodes, now).answer.held).toBe(4)
  })

  test("gives a node its part while others may hold slots that are not stored", () => {
    const unknown = { ...nodes, unknownCount: 3 }
    expect(settleSlots(ask(1, 8), "a", {}, unknown, now).answer).toEqual({ held: 3, openMax: 3 })
    expect(settleSlots(ask(7, 8), "a", {}, unknown, now).answer).toEqual({ held: 7, openMax: 3 })
    const none = settleSlots(ask(0, 8), "a", { b: [10, 0] }, unknown, now).answer
    expect(none).toEqual({ held: 0, openMax: 0 })
  })

  test("forgets a node that holds and wants nothing", () => {
    const { budget } = settleSlots(ask(0, 0), "a", { a: [4, 0] }, nodes, now)
    expect(budget).toEqual({ fullAt: now, holders: {} })
  })
})
