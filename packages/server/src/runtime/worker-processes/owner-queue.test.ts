import { describe, expect, test } from "bun:test"
import { OwnerQueue, type Waiting } from "./owner-queue.ts"

const limits = {
  waitingMax: 100,
  waitingPerOwnerMax: 50,
  waitingBytesMax: 1_000,
  waitMsMax: 100_000,
}
const createItem = (owner: string, bytes = 1): Waiting => ({ owner, frame: new Uint8Array(bytes) })
const anyOwner = () => true

describe("OwnerQueue", () => {
  test("lets owners take turns, whatever the order and number of their items", () => {
    const queue = new OwnerQueue(limits, () => {})
    for (const owner of ["ada", "ada", "ada", "bob", "bob", "eve"]) queue.push(createItem(owner))
    const owners = Array.from({ length: 7 }, () => queue.shift(anyOwner)?.owner)
    expect(owners).toEqual(["ada", "bob", "eve", "ada", "bob", "ada", undefined])
  })

  test("skips owners that must not have a turn", () => {
    const queue = new OwnerQueue(limits, () => {})
    for (const owner of ["ada", "bob"]) queue.push(createItem(owner))
    expect(queue.shift((owner) => owner !== "ada")?.owner).toBe("bob")
    expect(queue.shift((owner) => owner !== "ada")).toBeUndefined()
    expect(queue.shift(anyOwner)?.owner).toBe("ada")
  })

  test("limits all items, the items of one owner, and the bytes of all items", () => {
    const queue = new OwnerQueue({ ...limits, waitingMax: 4, waitingPerOwnerMax: 2 }, () => {})
    expect(
      ["ada", "ada", "ada", "", "bob", "eve"].map((owner) => queue.push(createItem(owner))),
    ).toEqual([true, true, false, true, true, false])
    queue.clear()
    expect([2_000, 1].map((bytes) => queue.push(createItem("ada", bytes)))).toEqual([true, false])
    queue.shift(anyOwner)
    expect([600, 600, 400].map((bytes) => queue.push(createItem("ada", bytes)))).toEqual([
      true,
      false,
      true,
    ])
    queue.clear()
  })

  test("removes an item that has waited too long, and reports it", async () => {
    const timedOut = Promise.withResolvers<Waiting>()
    const queue = new OwnerQueue({ ...limits, waitMsMax: 1 }, timedOut.resolve)
    const item = createItem("ada")
    queue.push(item)
    expect(await timedOut.promise).toBe(item)
    expect(queue.shift(anyOwner)).toBeUndefined()
    expect(queue.clear()).toEqual([])
  })

  test("unshift puts an item back in front of its owner's others", () => {
    const queue = new OwnerQueue(limits, () => {})
    const [first, second] = [createItem("ada"), createItem("ada")]
    queue.push(first)
    queue.push(second)
    queue.shift(anyOwner)
    queue.unshift(first)
    expect([queue.shift(anyOwner), queue.shift(anyOwner)]).toEqual([first, second])
  })
})
