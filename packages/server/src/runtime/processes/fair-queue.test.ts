import { describe, expect, test } from "bun:test"
import { FairQueue } from "./fair-queue.ts"

const toItem = (name: string) => ({ accountId: name.slice(0, 3), name })

function fill(...names: string[]): FairQueue<ReturnType<typeof toItem>> {
  const queue = new FairQueue<ReturnType<typeof toItem>>()
  for (const name of names) queue.push(toItem(name))
  return queue
}

function drain(queue: FairQueue<ReturnType<typeof toItem>>): (string | undefined)[] {
  return Array.from({ length: queue.size }, () => queue.shift()?.name)
}

describe("FairQueue", () => {
  test("lets accounts take turns, each in its own order", () => {
    expect(drain(fill("ada 1", "ada 2", "ada 3", "bob 1", "bob 2"))).toEqual([
      "ada 1",
      "bob 1",
      "ada 2",
      "bob 2",
      "ada 3",
    ])
    expect(fill().shift()).toBeUndefined()
  })

  test("lets an account that comes late overtake one with many entries", () => {
    const queue = fill(...Array.from({ length: 100 }, (_, index) => `ada ${index}`))
    for (let turn = 0; turn < 50; turn++) queue.shift()
    queue.push(toItem("bob 1"))
    expect([queue.shift()?.name, queue.shift()?.name]).toContain("bob 1")
  })

  test("keeps no account waiting for ever while new ones come", () => {
    const queue = fill("ada 1", "ada 2", "ada 3")
    const served: (string | undefined)[] = []
    for (let number = 100; number < 120; number++) {
      queue.push(toItem(`${number} new`))
      queue.push(toItem(`${number + 100} new`))
      served.push(queue.shift()?.name, queue.shift()?.name)
    }
    expect(served.filter((name) => name?.startsWith("ada"))).toEqual(["ada 1", "ada 2", "ada 3"])
  })

  test("forgets what is deleted", () => {
    const queue = fill("ada 1", "bob 1")
    const [first] = queue.items
    expect([first && queue.delete(first), first && queue.delete(first)]).toEqual([true, false])
    expect(drain(queue)).toEqual(["bob 1"])
    expect(fill("ada 1", "bob 1").clear()).toHaveLength(2)
  })
})
