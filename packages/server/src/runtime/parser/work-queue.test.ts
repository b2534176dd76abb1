import { describe, expect, test } from "bun:test"
import { type WaitingWork, WorkQueue } from "./work-queue.ts"

const limits = {
  waitingMax: 100,
  waitingPerOwnerMax: 50,
  waitingCharsMax: 1_000,
  waitMsMax: 100_000,
}
const toWork = (owner: string | undefined, chars = 1): WaitingWork => ({ owner, chars })
const anybody = () => true

describe("WorkQueue", () => {
  test("lets owners take turns, whoever came first and with however much", () => {
    const queue = new WorkQueue(limits, () => {})
    for (const owner of ["ada", "ada", "ada", "bob", "bob", "eve"]) queue.add(toWork(owner))
    const taken = Array.from({ length: 7 }, () => queue.take(anybody)?.owner)
    expect(taken).toEqual(["ada", "bob", "eve", "ada", "bob", "ada", undefined])
  })

  test("passes over owners whose turn it may not be", () => {
    const queue = new WorkQueue(limits, () => {})
    for (const owner of ["ada", "bob"]) queue.add(toWork(owner))
    expect(queue.take((owner) => owner !== "ada")?.owner).toBe("bob")
    expect(queue.take((owner) => owner !== "ada")).toBeUndefined()
    expect(queue.take(anybody)?.owner).toBe("ada")
  })

  test("has room for so many, for so many of one owner, and for so much code", () => {
    const queue = new WorkQueue({ ...limits, waitingMax: 4, waitingPerOwnerMax: 2 }, () => {})
    expect(
      ["ada", "ada", "ada", undefined, "bob", "eve"].map((owner) => queue.add(toWork(owner))),
    ).toEqual([true, true, false, true, true, false])
    queue.clear()
    expect([2_000, 1].map((chars) => queue.add(toWork("ada", chars)))).toEqual([true, false])
    queue.take(anybody)
    expect([600, 600, 400].map((chars) => queue.add(toWork("ada", chars)))).toEqual([
      true,
      false,
      true,
    ])
    queue.clear()
  })

  test("tells of work that has waited for too long, which nobody takes any more", async () => {
    const late = Promise.withResolvers<WaitingWork>()
    const queue = new WorkQueue({ ...limits, waitMsMax: 1 }, late.resolve)
    const work = toWork("ada")
    queue.add(work)
    expect(await late.promise).toBe(work)
    expect(queue.take(anybody)).toBeUndefined()
    expect(queue.clear()).toEqual([])
  })

  test("keeps the place of work that comes back", () => {
    const queue = new WorkQueue(limits, () => {})
    const [first, second] = [toWork("ada"), toWork("ada")]
    queue.add(first)
    queue.add(second)
    queue.take(anybody)
    queue.addFirst(first)
    expect([queue.take(anybody), queue.take(anybody)]).toEqual([first, second])
  })
})
