import { expect, test } from "bun:test"
import { Deadlines } from "./deadlines.ts"

test("Deadlines checks each item until it has ended", async () => {
  const deadlines = new Deadlines(1)
  const done = Promise.withResolvers<void>()
  let checks = 0
  deadlines.add({ check: () => ++checks === 3 })
  deadlines.add({
    check() {
      if (checks >= 3) done.resolve()
      return checks >= 3
    },
  })
  await done.promise
  expect([checks, deadlines.size]).toEqual([3, 0])
  const again = Promise.withResolvers<void>()
  deadlines.add({
    check() {
      again.resolve()
      return true
    },
  })
  await again.promise
  deadlines.stop()
})

test("Deadlines does not check removed items", () => {
  const deadlines = new Deadlines(1_000_000)
  const overseen = { check: () => true }
  deadlines.add(overseen)
  deadlines.remove(overseen)
  expect(deadlines.size).toBe(0)
  deadlines.stop()
})
