import { describe, expect, test } from "bun:test"
import { Demand } from "./demand.ts"

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
/** The middle of a minute. */
const start = 20 * day + 30 * second
const countMax = 40
const accountMax = 30

function take(demand: Demand, accountId: string, count: number, nowMs: number): void {
  for (let taken = 0; taken < count; taken++) demand.noteTaken(accountId, nowMs)
}

describe("Demand", () => {
  test("predicts the busiest seconds of the last minutes", () => {
    const demand = new Demand(countMax)
    take(demand, "ada", 3, start)
    take(demand, "ada", 4, start + 4_999)
    take(demand, "ada", 6, start + 5_000)
    expect(demand.predict(start + 5_000)).toEqual({ count: 7, others: 0 })
    expect(demand.predict(start + 5 * minute).count).toBe(7)
    expect(demand.predict(start + 6 * minute).count).toBe(0)
  })

  test("predicts the same minute of the next three hours and seven days, two minutes ahead", () => {
    const demand = new Demand(countMax)
    take(demand, "ada", 9, start)
    const predicted: number[] = []
    for (let now = start + 6 * minute; now < start + 9 * day; now += minute)
      if (demand.predict(now).count === 9) predicted.push((now - start) / minute)
    const times = [1, 2, 3, 24, 48, 72, 96, 120, 144, 168].map((hours) => hours * 60)
    expect(predicted).toEqual(times.flatMap((at) => [at - 2, at - 1, at, at + 1]))
  })

  test("forgets what is older than it can use, also after a long silence", () => {
    const demand = new Demand(countMax)
    take(demand, "ada", 9, start)
    for (const days of [8, 15, 400]) expect(demand.predict(start + days * day).count).toBe(0)
    take(demand, "ada", 2, start + 400 * day)
    expect(demand.predict(start + 400 * day + hour).count).toBe(2)
  })

  test("counts one account only up to its share, beside others", () => {
    const demand = new Demand(countMax)
    take(demand, "eve", 1_000, start)
    take(demand, "ada", 5, start)
    expect(demand.predict(start + hour)).toEqual({ count: accountMax + 5, others: 5 })
  })

  test("does not count what is taken back, up to the last process of the account", () => {
    const demand = new Demand(countMax)
    take(demand, "ada", 5, start - 10 * second)
    take(demand, "ada", 7, start)
    for (let left = 6; left >= 5; left--) {
      demand.uncountLast()
      expect(demand.predict(start).count).toBe(left)
    }
    for (let more = 0; more < 9; more++) demand.uncountLast()
    // The busiest seconds before.
    expect(demand.predict(start).count).toBe(5)
  })

  test("predicts what is expected within a minute, at once and shared between accounts", () => {
    const demand = new Demand(countMax)
    const expectStarts = (accountId: string, count: number, inMs: number) =>
      Array.from({ length: count }, () => ({ accountId, inMs }))
    demand.expect(
      [
        ...expectStarts("eve", 1_000, 90 * second),
        ...expectStarts("ada", 3, 92 * second),
        ...expectStarts("ada", 9, 101 * second),
      ],
      start,
    )
    expect(demand.predict(start + 29 * second).count).toBe(0)
    expect(demand.predict(start + 30 * second)).toEqual({ count: accountMax + 3, others: 3 })
    expect(demand.predict(start + 100 * second)).toEqual({ count: 9, others: 0 })
    expect(demand.predict(start + 110 * second).count).toBe(0)
    demand.expect(expectStarts("ada", 2, 0), start)
    expect(demand.predict(start)).toEqual({ count: 2, others: 0 })
  })

  test("agrees with a plain list of everything that was taken", () => {
    const random = createRandom(7)
    const demand = new Demand(countMax)
    const steps: { at: number; counts: Map<string, number> }[] = []
    let now = 30 * day
    for (let event = 0; event < 3_000; event++) {
      const gaps = [0, 800, 6 * second, minute, 19 * minute, hour, day]
      now += gaps[Math.floor(random() ** 2 * gaps.length)] ?? 0
      const accountId = `user${Math.floor(random() * 3)}`
      const step = steps.at(-1)
      const current = step && now - step.at < 5 * second ? step : { at: now, counts: new Map() }
      if (current !== step) steps.push(current)
      const count = 1 + Math.floor(random() * 20)
      take(demand, accountId, count, now)
      current.counts.set(accountId, (current.counts.get(accountId) ?? 0) + count)
      expect(demand.predict(now)).toEqual(predictPlainly(steps, now))
    }
  })
})

function predictPlainly(
  steps: readonly { readonly at: number; readonly counts: ReadonlyMap<string, number> }[],
  now: number,
) {
  const toMinutes = (ms: number) => Math.floor(ms / minute)
  const isFormer = (at: number) => {
    const ago = toMinutes(now) - toMinutes(at)
    const isNear = (minutes: number) => ago - minutes >= -2 && ago - minutes <= 1
    const hours = [60, 120, 180]
    const days = Array.from({ length: 7 }, (_, index) => (index + 1) * 24 * 60)
    return ago <= 5 || [...hours, ...days].some(isNear)
  }
  const peaks = steps
    .filter(({ at }) => isFormer(at))
    .map(({ counts }) => {
      const shares = [...counts.values()].map((count) => Math.min(count, accountMax))
      const count = shares.reduce((sum, share) => sum + share, 0)
      return { count, others: count - Math.max(...shares) }
    })
  return {
    count: Math.max(0, ...peaks.map(({ count }) => count)),
    others: Math.max(0, ...peaks.map(({ others }) => others)),
  }
}

/** Numbers from 0 to 1, the same for each seed. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}
