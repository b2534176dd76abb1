import { afterEach, describe, expect, test } from "bun:test"
import { waitUntil } from "../testing/index.ts"
import { type BudgetStore, Budgets, toBudgetKey } from "./budgets.ts"
import { sumCounts } from "./minute-counts.ts"
import { type Budget, type BudgetAsk, isSlotAsk, settleRate, settleSlots } from "./settle-budget.ts"
import { SharedRates } from "./shared-rates.ts"
import { SharedSlots } from "./shared-slots.ts"
import { createUsageMeter } from "./usage-meter.ts"

const minuteMs = 60_000
const opened: Budgets[] = []

afterEach(async () => {
  for (const budgets of opened.splice(0)) await budgets.stop()
})

/** Nodes that share a store in memory, with one clock that stands still. */
function openNodes(count: number, capacity: number) {
  const clock = { at: Date.parse("2026-01-01T00:00:00.000Z") }
  const store = new MemoryStore(() => clock.at)
  const nodes = Array.from({ length: count }, (_, index) => {
    const budgets = new Budgets(store, `node ${index}`, () => {})
    opened.push(budgets)
    budgets.setNodeCount(count)
    const rates = new SharedRates("rate", minuteMs, () => clock.at, budgets)
    const take = async (key = "ada") => (await rates.take(key, capacity)) === 0
    return { budgets, rates, take }
  })
  const takeMany = async (tries: number, pick: (index: number) => number, batch = tries) => {
    let taken = 0
    for (let from = 0; from < tries; from += batch) {
      const results = await Promise.all(
        Array.from({ length: Math.min(batch, tries - from) }, (_, index) =>
          nodes[pick(from + index) % count]?.take(),
        ),
      )
      taken += results.filter(Boolean).length
    }
    return taken
  }
  return { clock, store, nodes, takeMany }
}

describe("SharedRates", () => {
  const ways: [title: string, pick: (index: number) => number, batch: number][] = [
    ["all on one node, at once", () => 0, 5_000],
    ["all on one node, one after the other", () => 0, 1],
    ["evenly on all, at once", (index) => index, 5_000],
    ["evenly on all, one after the other", (index) => index, 1],
    ["on one node after the other, in blocks", (index) => Math.floor(index / 400), 40],
  ]
  for (const nodeCount of [2, 3])
    for (const capacity of [7, 400])
      test.each(ways)(
        `take on ${nodeCount} nodes with ${capacity} tokens, %s: the limit within a tenth`,
        async (_title, pick, batch) => {
          const { clock, store, takeMany } = openNodes(nodeCount, capacity)
          const tries = 2 * capacity + 100
          const isNearly = (taken: number, tokens: number) => {
            expect(taken).toBeGreaterThanOrEqual(Math.floor(tokens * 0.9))
            expect(taken).toBeLessThanOrEqual(Math.ceil(tokens * 1.1))
          }
          const first = await takeMany(tries, pick, batch)
          isNearly(first, capacity)
          clock.at += 30_000
          isNearly(first + (await takeMany(tries, pick, batch)), capacity * 1.5)
          // A transaction for each part that a node is trusted with, not for each token.
          const trusted = Math.max(1, Math.floor((capacity * 0.05) / nodeCount))
          expect(store.settled).toBeLessThanOrEqual((3 * capacity) / trusted + 4 * nodeCount)
        },
      )

  test("take asks nothing while tokens are used up, however often it is called", async () => {
    const { store, nodes, takeMany } = openNodes(2, 100)
    await takeMany(400, (index) => index, 20)
    const [first] = nodes
    const before = store.settled
    const waits = Array.from({ length: 100_000 }, () => first?.rates.take("ada", 100))
    expect(waits.every((wait) => typeof wait === "number" && wait > 0)).toBe(true)
    expect(store.settled).toBe(before)
  })

  test("take asks nothing for keys that are used seldom, and each node knows a bounded number", async () => {
    const { store, nodes } = openNodes(2, 1_000)
    const waits = Array.from({ length: 120_000 }, (_, index) =>
      nodes[0]?.rates.take(`address ${index}`, 1_000),
    )
    expect(waits.every((wait) => wait === 0)).toBe(true)
    expect([store.settled, store.size]).toEqual([0, 0])
  })

  test("a node that is no longer alone tells the others what it has used", async () => {
    const { store, nodes, takeMany } = openNodes(2, 100)
    const [first, second] = nodes
    first?.budgets.setNodeCount(1)
    expect(await takeMany(90, () => 0)).toBe(90)
    expect(store.settled).toBe(0)
    first?.budgets.setNodeCount(2)
    await waitUntil(() => store.settled > 0)
    const more = await takeMany(100, () => 1, 5)
    expect(more).toBeGreaterThanOrEqual(9)
    expect(more).toBeLessThanOrEqual(15)
    expect(await second?.take()).toBe(false)
  })

  test("take allows each node its part while the database does not answer, and the limit afterwards", async () => {
    const { clock, store, nodes, takeMany } = openNodes(2, 100)
    store.isAway = true
    // With what each was trusted with before it knew.
    expect(await takeMany(200, () => 0)).toBeOneOf([50, 51, 52])
    expect(await takeMany(200, () => 1)).toBeOneOf([50, 51, 52])
    expect(nodes.map(({ budgets }) => budgets.isCut)).toEqual([true, true])
    store.isAway = false
    clock.at += 6_000
    expect(await takeMany(200, (index) => index)).toBeLessThanOrEqual(10)
    await waitUntil(() => nodes.every(({ budgets }) => !budgets.isCut))
    clock.at += minuteMs
    const taken = await takeMany(300, (index) => index, 30)
    expect(taken).toBeGreaterThanOrEqual(90)
    expect(taken).toBeLessThanOrEqual(110)
  })

  test("take lets requests wait only for a moment for a database that is silent", async () => {
    const { store, nodes, takeMany } = openNodes(2, 10)
    const { promise, resolve } = Promise.withResolvers<void>()
    store.silence = promise
    const first = takeMany(20, () => 0)
    // More than one transaction takes, while that of the first ones is silent.
    await waitUntil(() => store.asked > 0)
    const others = Array.from({ length: 1_200 }, (_, index) => nodes[0]?.take(`other ${index}`))
    expect(await first).toBe(5)
    expect((await Promise.all(others)).every(Boolean)).toBe(true)
    resolve()
  })

  test("take counts once what the database has noted too late", async () => {
    const { clock, store, nodes, takeMany } = openNodes(2, 100)
    const { promise, resolve } = Promise.withResolvers<void>()
    store.silence = promise
    expect(await takeMany(6, () => 0)).toBe(6)
    expect(nodes[0]?.budgets.isCut).toBe(true)
    store.silence = undefined
    resolve()
    for (let turn = 0; turn < 4; turn++) {
      clock.at += 1
      await nodes[0]?.take()
    }
    await waitUntil(() => !nodes[0]?.budgets.isCut)
    expect(await takeMany(200, () => 1, 5)).toBeGreaterThanOrEqual(85)
  })

  test("take stores keys of any length", async () => {
    const { store, takeMany } = openNodes(2, 10)
    await takeMany(1, () => 0)
    expect(store.keys()).toEqual(["rate:ada"])
    expect(toBudgetKey("rate", "a".repeat(300))).toMatch(/^rate:[0-9a-f]{64}$/)
  })

  test("take shares in equal parts what the database may not store", async () => {
    const { store, nodes } = openNodes(2, 10)
    store.isFull = true
    const results = await Promise.all(Array.from({ length: 20 }, () => nodes[0]?.take("new")))
    expect(results.filter(Boolean)).toHaveLength(5)
    const before = store.settled
    for (let index = 0; index < 1_000; index++) await nodes[0]?.take("new")
    expect(store.settled).toBe(before)
  })

  test("hasToken and charge count for all nodes", async () => {
    const { nodes } = openNodes(2, 4)
    const [first, second] = nodes
    for (let index = 0; index < 4; index++) {
      const rates = index % 2 === 0 ? first?.rates : second?.rates
      expect(await rates?.hasToken("ada", 4)).toBe(true)
      rates?.charge("ada", 4)
      await waitUntil(() => first?.rates.msUntilDue() === second?.rates.msUntilDue())
    }
    await waitUntil(async () => !(await first?.rates.hasToken("ada", 4)))
    await waitUntil(async () => !(await second?.rates.hasToken("ada", 4)))
  })
})

describe("createUsageMeter on several nodes", () => {
  function openMeters(perMinute: number | undefined) {
    const { clock, store, nodes } = openNodes(2, 1)
    const meters = nodes.map(({ budgets }) => {
      const rates = new SharedRates("runs", minuteMs, () => clock.at, budgets)
      const meter = createUsageMeter(
        () => perMinute,
        "no",
        rates,
        () => clock.at,
      )
      const read = async () => {
        const key = meter.sharedKeyOf("ada")
        const reported = key === undefined ? undefined : await budgets.readRates([key])
        return meter.usedBy("ada", reported?.get(key ?? "")).lastMinute
      }
      return { budgets, meter, read }
    })
    const [first, second] = meters
    if (!first || !second) throw new Error("a node is missing")
    const readBoth = async () => [await first.read(), await second.read()]
    return { clock, store, first, second, readBoth }
  }

  test("usedBy counts what both nodes used in the last minute, and asks nothing for it", async () => {
    const { clock, store, first, second, readBoth } = openMeters(10)
    for (let count = 0; count < 4; count++) await first.meter.take("ada")
    for (let count = 0; count < 3; count++) await second.meter.take("ada")
    const { settled } = store
    expect(await readBoth()).toEqual([7, 7])
    // All tokens but one are there again; the minute is not over.
    clock.at += 40_000
    await first.meter.take("ada")
    expect(await readBoth()).toEqual([8, 8])
    clock.at += 20_000
    expect(await readBoth()).toEqual([1, 1])
    clock.at += 60_000
    expect(await readBoth()).toEqual([0, 0])
    expect(store.settled).toBe(settled + 1)
  })

  test("usedBy adds what this node has not reported, and misses that of the other", async () => {
    const { store, first, second, readBoth } = openMeters(1_000)
    // A node is trusted with 25, and reports 13 of them.
    for (let count = 0; count < 12; count++) await first.meter.take("ada")
    expect(store.settled).toBe(0)
    expect(await readBoth()).toEqual([12, 0])
    await first.meter.take("ada")
    await waitUntil(() => store.settled === 1)
    for (let count = 0; count < 5; count++) await second.meter.take("ada")
    expect(await readBoth()).toEqual([13, 18])
  })

  test("usedBy knows what this node has used while it was alone, or has no limit", async () => {
    const { clock, store, first, second, readBoth } = openMeters(100)
    first.budgets.setNodeCount(1)
    for (let count = 0; count < 90; count++) {
      clock.at += 400
      await first.meter.take("ada")
    }
    first.budgets.setNodeCount(2)
    for (let count = 0; count < 3; count++) await second.meter.take("ada")
    await waitUntil(async () => (await second.read()) > 3)
    const [ofFirst, ofSecond] = await readBoth()
    expect(ofFirst).toBeOneOf([93, 92, 91, 90])
    expect(ofSecond).toBeLessThanOrEqual(93)
    // What is older is not of the last minute, whenever it is reported.
    for (const pauseMs of [minuteMs, 60 * minuteMs]) {
      first.budgets.setNodeCount(1)
      for (let count = 0; count < 200; count++) {
        clock.at += minuteMs
        await first.meter.take("ada")
      }
      clock.at += pauseMs
      const { settled } = store
      first.budgets.setNodeCount(2)
      await waitUntil(() => store.settled > settled)
      expect(await readBoth()).toEqual([0, 0])
    }
    const unlimited = openMeters(undefined)
    await unlimited.first.meter.take("ada")
    expect(await unlimited.readBoth()).toEqual([1, 0])
  })
})

describe("SharedSlots", () => {
  function openSlots(max: number) {
    const { store, nodes } = openNodes(2, 1)
    return {
      store,
      nodes: nodes.map(({ budgets }) => {
        const waiting = { count: 0, started: 0 }
        const slots: SharedSlots = new SharedSlots(
          "slots",
          {
            maxOf: () => max,
            waitingOf: () => waiting.count,
            onRoom() {
              while (waiting.count > 0 && slots.tryOpen("ada")) {
                waiting.count -= 1
                waiting.started += 1
              }
            },
          },
          budgets,
        )
        const start = (count: number) => {
          for (let index = 0; index < count; index++)
            if (slots.tryOpen("ada")) waiting.started += 1
            else waiting.count += 1
        }
        const end = (count: number) => {
          for (let index = 0; index < count; index++) slots.close("ada")
          waiting.started -= count
        }
        return { budgets, slots, waiting, start, end }
      }),
    }
  }

  test.each([4, 200])(
    "hold %i for both nodes together, and move to the one that needs them",
    async (max) => {
      const { nodes } = openSlots(max)
      const [first, second] = nodes
      if (!first || !second) throw new Error("a node is missing")
      first.start(max + 5)
      await waitUntil(() => first.waiting.started >= max)
      second.start(max / 2)
      await waitUntil(() => first.slots.hasRoom("ada") === false)
      expect(first.waiting.started + second.waiting.started).toBeLessThanOrEqual(max * 1.1)
      // Both wait: what ends on the first goes to the second, up to its part.
      first.end(max / 2)
      await waitUntil(() => second.waiting.started >= max * 0.4)
      expect(first.waiting.started + second.waiting.started).toBeLessThanOrEqual(max * 1.1)
      second.end(second.waiting.started)
      await waitUntil(() => first.waiting.started >= Math.min(max, max / 2 + 5))
    },
  )

  test("costs no transaction for each slot, and nothing is held for ever", async () => {
    const { store, nodes } = openSlots(4)
    const [first] = nodes
    first?.start(1)
    await waitUntil(() => first?.waiting.started === 1)
    const before = store.settled
    for (let index = 0; index < 10_000; index++) {
      first?.end(1)
      first?.start(1)
    }
    expect(first?.waiting.started).toBe(1)
    expect(store.settled - before).toBeLessThanOrEqual(1)
    first?.end(1)
    await waitUntil(() => store.holdersOf("slots:ada") === 0)
  })

  test("tells a second node what is open already", async () => {
    const { store, nodes } = openSlots(4)
    const [first, second] = nodes
    first?.budgets.setNodeCount(1)
    first?.start(4)
    expect(first?.waiting.started).toBe(4)
    first?.budgets.setNodeCount(2)
    await waitUntil(() => store.holdersOf("slots:ada") === 1)
    second?.start(4)
    await waitUntil(() => (second?.slots.hasRoom("ada") ?? true) === false)
    expect(second?.waiting.started).toBe(0)
  })

  test("gives each node its part while the database does not answer", async () => {
    const { store, nodes } = openSlots(4)
    store.isAway = true
    for (const { start } of nodes) start(4)
    await waitUntil(() => nodes.every(({ waiting }) => waiting.started === 2))
    expect(nodes.map(({ waiting }) => waiting.count)).toEqual([2, 2])
  })
})

const allLive = { isLive: () => true, unknownCount: 1 }

/** The rules of the database without one. */
class MemoryStore implements BudgetStore {
  readonly #now: () => number
  readonly #rows = new Map<string, Budget>()
  /** Transactions that have begun, and that have ended. */
  asked = 0
  settled = 0
  isAway = false
  isFull = false
  silence: Promise<void> | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  get size(): number {
    return this.#rows.size
  }

  keys(): string[] {
    return [...this.#rows.keys()]
  }

  holdersOf(key: string): number {
    return Object.keys(this.#rows.get(key)?.holders ?? {}).length
  }

  async settle(nodeId: string, asks: readonly BudgetAsk[]) {
    this.asked += 1
    await this.silence
    if (this.isAway) throw new Error("away")
    this.settled += 1
    const answers = asks.map((ask) => {
      const row = this.#rows.get(ask.key)
      if (!row && this.isFull) return undefined
      const now = this.#now()
      const { budget, answer } = isSlotAsk(ask)
        ? settleSlots(ask, nodeId, row?.holders ?? {}, allLive, now)
        : settleRate(ask, row?.fullAt, now, row?.recent)
      this.#rows.set(ask.key, budget)
      return answer
    })
    return { answers, added: 0 }
  }

  async readRates(keys: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return new Map(
      keys.flatMap((key) => {
        const recent = this.#rows.get(key)?.recent
        return recent ? [[key, sumCounts(recent, this.#now())] as const] : []
      }),
    )
  }

  async readSlots(): Promise<number> {
    return 0
  }

  async purge(): Promise<number> {
    return this.#rows.size
  }
}
