import { expect, test } from "bun:test"
import { FairSlots } from "./fair-slots.ts"

const createSlots = (waitingPerKeyMax = 10) =>
  new FairSlots(1, { waitingPerKeyMax }, () => new Error("full"))

test("FairSlots lets keys take turns, also when an action begins as one ends", async () => {
  const slots = createSlots()
  const order: string[] = []
  const running: Promise<void>[] = []
  const add = (name: string, then = () => {}) =>
    running.push(
      slots.run(name.charAt(0), async () => {
        order.push(name)
        then()
      }),
    )
  for (const name of ["a1", "a2", "a3"]) add(name)
  add("b1", () => add("a4"))
  add("c1")
  for (const one of running) await one
  expect(order).toEqual(["a1", "a2", "b1", "c1", "a3", "a4"])
})

test("FairSlots refuses what waits beyond the share of a key, and not that of others", async () => {
  const slots = createSlots(2)
  const { promise, resolve } = Promise.withResolvers<void>()
  const all = ["a", "a", "a", "a", "b"].map((owner) => slots.run(owner, () => promise))
  resolve()
  const results = await Promise.allSettled(all)
  expect(results.map(({ status }) => status === "fulfilled")).toEqual([
    true,
    true,
    true,
    false,
    true,
  ])
  expect(results[3]).toMatchObject({ reason: { message: "full" } })
})

test("FairSlots gives the slot of an aborted action to the next one", async () => {
  const slots = createSlots()
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = slots.run("a", () => promise)
  const aborted = new AbortController()
  const waiting = slots.run("b", async () => "b", { signal: aborted.signal })
  const last = slots.run("c", async () => "c")
  aborted.abort()
  resolve()
  const results = await Promise.allSettled([first, waiting, last])
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"])
  expect(await slots.run("d", async () => "d")).toBe("d")
  await slots.whenIdle()
})

/** Actions that run until they are let go, by their names. */
function createActions(slots: FairSlots) {
  const ends = new Map<string, () => void>()
  const start = (key: string, name: string, alone?: string) =>
    slots.run(
      key,
      async () => {
        const { promise, resolve } = Promise.withResolvers<void>()
        ends.set(name, resolve)
        await promise
        ends.delete(name)
        return name
      },
      { alone },
    )
  return { start, end: (name: string) => ends.get(name)?.(), running: () => [...ends.keys()] }
}

test("FairSlots never gives all slots to one key", async () => {
  const slots = new FairSlots(3, { runningPerKeyMax: () => 2 }, () => new Error("full"))
  const { start, end, running } = createActions(slots)
  const all = ["a1", "a2", "a3", "a4"].map((name) => start("a", name))
  expect(running()).toEqual(["a1", "a2"])
  expect([slots.isAtShare("a"), slots.isAtShare("b"), slots.waiting]).toEqual([true, false, 2])
  expect([slots.isBusy("a"), slots.isBusy("b")]).toEqual([true, false])
  all.push(start("b", "b1"))
  expect(running()).toEqual(["a1", "a2", "b1"])
  end("b1")
  await all.at(-1)
  expect(running()).toEqual(["a1", "a2"])
  for (const name of ["a1", "a2", "a3", "a4"]) {
    while (!running().includes(name)) await Promise.resolve()
    end(name)
  }
  expect(await Promise.all(all)).toEqual(["a1", "a2", "a3", "a4", "b1"])
})

test("FairSlots runs actions alone that name the same, and keeps no slot for those that wait", async () => {
  const slots = new FairSlots(3, {}, () => new Error("full"))
  const { start, end, running } = createActions(slots)
  const all = [start("a", "a1", "x"), start("a", "a2", "x"), start("b", "b1", "x")]
  all.push(start("a", "a3", "y"), start("a", "a4"))
  expect(running()).toEqual(["a1", "a3", "a4"])
  for (const name of ["a1", "a2", "b1", "a3", "a4"]) {
    while (!running().includes(name)) await Promise.resolve()
    expect(running().filter((one) => /a1|a2|b1/.test(one)).length).toBeLessThan(2)
    end(name)
  }
  expect(await Promise.all(all)).toEqual(["a1", "a2", "b1", "a3", "a4"])
})

test("FairSlots refuses those that have waited too long", async () => {
  const slots = new FairSlots(1, { waitMsMax: 1 }, (key) => new Error(`${key} is late`))
  const { start, end } = createActions(slots)
  const first = start("a", "a1")
  const late = await start("b", "b1").catch(({ message }: Error) => message)
  expect(late).toBe("b is late")
  end("a1")
  expect(await first).toBe("a1")
})
