import { expect, test } from "bun:test"
import { Watchdog } from "./watchdog.ts"

test("Watchdog checks each item until it has ended", async () => {
  const watchdog = new Watchdog(1)
  const done = Promise.withResolvers<void>()
  let checks = 0
  watchdog.add({ check: () => ++checks === 3 })
  watchdog.add({
    check() {
      if (checks >= 3) done.resolve()
      return checks >= 3
    },
  })
  await done.promise
  expect([checks, watchdog.size]).toEqual([3, 0])
  const again = Promise.withResolvers<void>()
  watchdog.add({
    check() {
      again.resolve()
      return true
    },
  })
  await again.promise
  watchdog.stop()
})

test("Watchdog does not check removed items", () => {
  const watchdog = new Watchdog(1_000_000)
  const overseen = { check: () => true }
  watchdog.add(overseen)
  watchdog.remove(overseen)
  expect(watchdog.size).toBe(0)
  watchdog.stop()
})

test("Watchdog with too many items checks them in turn, and none that was removed", async () => {
  const watchdog = new Watchdog(1, 2)
  const done = Promise.withResolvers<void>()
  const checked: string[] = []
  const add = (name: string, onCheck = () => {}) => {
    const item = {
      check() {
        checked.push(name)
        onCheck()
        if (checked.length === 7) done.resolve()
        return checked.length >= 7
      },
    }
    watchdog.add(item)
    return item
  }
  add("a", () => watchdog.remove(removed))
  const removed = add("removed")
  add("b")
  add("c")
  await done.promise
  watchdog.stop()
  expect(checked.join(" ")).toBe("a b c a b c a")
})
