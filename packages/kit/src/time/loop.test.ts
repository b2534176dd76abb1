import { expect, test } from "bun:test"
import { AsyncLocalStorage } from "node:async_hooks"
import { waitUntil } from "../testing/wait-until.ts"
import { Loop } from "./loop.ts"

const longMs = 3_600_000

/** A loop whose rounds the test ends. */
function createLoop(pollMs = longMs, failedMs = pollMs) {
  const rounds: PromiseWithResolvers<number>[] = []
  const errors: string[] = []
  const loop = new Loop({
    round() {
      const round = Promise.withResolvers<number>()
      rounds.push(round)
      return round.promise
    },
    pollMs,
    failedMs,
    onError: (error) => errors.push(String(error)),
  })
  const end = (index: number) => rounds[index]?.resolve(longMs)
  const fail = (index: number, message: string) => rounds[index]?.reject(new Error(message))
  return { loop, rounds, errors, end, fail }
}

test("Loop begins when it is started, sleeps as long as a round says, and polls", async () => {
  const { loop, rounds, end } = createLoop(1)
  loop.wake()
  expect(rounds.length).toBe(0)
  loop.start()
  rounds[0]?.resolve(0)
  await waitUntil(() => rounds.length === 2)
  end(1)
  await waitUntil(() => rounds.length === 3)
  end(2)
  await loop.stop()
})

test("Loop has one round at a time, and one more for all calls of wake during a round", async () => {
  const { loop, rounds, end } = createLoop()
  loop.start(longMs)
  for (let count = 0; count < 3; count++) loop.wake()
  expect(rounds.length).toBe(1)
  end(0)
  await waitUntil(() => rounds.length === 2)
  end(1)
  await Bun.sleep(0)
  expect(rounds.length).toBe(2)
  await loop.stop()
})

test("Loop sleeps after a failed round although it was woken, and reports an error once", async () => {
  const { loop, rounds, errors, end, fail } = createLoop(1, longMs)
  loop.start()
  loop.wake()
  fail(0, "away")
  await Bun.sleep(0)
  expect(rounds.length).toBe(1)
  for (const [index, message] of ["away", "full"].entries()) {
    loop.wake()
    fail(index + 1, message)
    await waitUntil(() => rounds.length === index + 2)
    await Bun.sleep(0)
  }
  expect(errors).toEqual(["Error: away", "Error: full"])
  loop.wake()
  rounds[3]?.resolve(0)
  await waitUntil(() => rounds.length === 5)
  fail(4, "away")
  end(4)
  await loop.stop()
  expect(errors).toEqual(["Error: away", "Error: full", "Error: away"])
})

test("Loop.wakeIn begins a round after the first delay, also after a round that goes on", async () => {
  const { loop, rounds } = createLoop(Number.POSITIVE_INFINITY, longMs)
  loop.start(Number.POSITIVE_INFINITY)
  loop.wakeIn(longMs)
  expect(rounds.length).toBe(0)
  loop.wakeIn(1)
  loop.wakeIn(longMs)
  await waitUntil(() => rounds.length === 1)
  loop.wakeIn(1)
  rounds[0]?.resolve(longMs)
  await waitUntil(() => rounds.length === 2)
  rounds[1]?.reject(new Error("away"))
  await Bun.sleep(0)
  loop.wakeIn(0)
  await Bun.sleep(5)
  expect(rounds.length).toBe(2)
  await loop.stop()
})

test("a Loop that does not poll has no round before it is woken, and needs no start", async () => {
  let rounds = 0
  const round = async () => {
    rounds += 1
  }
  const loop = new Loop({ round, onError() {} })
  await Bun.sleep(2)
  expect(rounds).toBe(0)
  loop.wakeIn(1)
  await waitUntil(() => rounds === 1)
  await loop.stop()
})

test("a Loop that does not poll has its next round as usual after one that failed", async () => {
  let rounds = 0
  const round = async () => {
    rounds += 1
    if (rounds === 1) throw new Error("away")
  }
  const errors: unknown[] = []
  const loop = new Loop({ round, onError: (error) => errors.push(error) })
  loop.wakeIn(1)
  await waitUntil(() => errors.length === 1)
  loop.wakeIn(1)
  await waitUntil(() => rounds === 2)
  await loop.stop()
})

test("Loop.wakeIn has an effect at every moment of a round's end", async () => {
  for (let ticks = 0; ticks < 10; ticks++) {
    let rounds = 0
    const round = async () => {
      rounds += 1
    }
    const loop = new Loop({ round, onError() {} })
    loop.wake()
    for (let tick = 0; tick < ticks; tick++) await null
    loop.wakeIn(1)
    await waitUntil(() => rounds === 2)
    await loop.stop()
  }
})

test("Loop begins at once what is overdue, without a warning", async () => {
  const warnings: string[] = []
  const note = (warning: Error) => warnings.push(warning.name)
  process.on("warning", note)
  const { loop, rounds } = createLoop()
  loop.start(longMs)
  loop.wakeIn(-1_000.5)
  await waitUntil(() => rounds.length === 1)
  await Bun.sleep(0)
  process.off("warning", note)
  expect(warnings).toEqual([])
})

test("Loop runs its rounds outside of the request that wakes it", async () => {
  const depths: (number | undefined)[] = []
  const depth = new AsyncLocalStorage<number>()
  const loop = depth.run(0, () => {
    const round = async () => {
      depths.push(depth.getStore())
    }
    return new Loop({ round, pollMs: 1, onError() {} })
  })
  depth.run(1, () => loop.start())
  await waitUntil(() => depths.length >= 3)
  depth.run(2, () => loop.wake())
  const { length } = depths
  await waitUntil(() => depths.length >= length + 3)
  await loop.stop()
  expect(new Set(depths)).toEqual(new Set([0]))
})

test("Loop.stop waits for the round, after which nothing begins", async () => {
  const { loop, rounds, end } = createLoop()
  loop.start()
  loop.wake()
  let isStopped = false
  const stopped = loop.stop().then(() => {
    isStopped = true
  })
  await Bun.sleep(0)
  expect([isStopped, await loop.attempt("step", async () => 1)]).toEqual([false, undefined])
  end(0)
  await stopped
  loop.wake()
  expect(rounds.length).toBe(1)
})

test("Loop.attempt names the step that failed, and goes on", async () => {
  const errors: unknown[] = []
  const loop = new Loop({
    async round() {
      await loop.attempt("first", () => Promise.reject(new Error("away")))
      await loop.attempt("second", () => Promise.reject(new Error("away")))
      await loop.attempt("third", () => Promise.reject(new Error("full")))
      throw new Error("round")
    },
    pollMs: longMs,
    onError: (error, step) => errors.push([String(error), step]),
  })
  loop.start()
  await waitUntil(() => errors.length === 3)
  await loop.stop()
  expect(errors).toEqual([
    ["Error: away", "first"],
    ["Error: full", "third"],
    ["Error: round", undefined],
  ])
})

test("Loop ends a pause within a round when it is stopped", async () => {
  const loop = new Loop({ round: () => loop.rest(longMs), pollMs: longMs, onError() {} })
  loop.start()
  await loop.stop()
  await loop.rest(longMs)
})
