import { expect, test } from "bun:test"
import { createChatAllowance } from "./openai.ts"

const unlimited = { requestsPerMinute: undefined, requestsPerDay: undefined, bodyBytesMax: 1 }
const dayMs = 86_400_000

test("createChatAllowance limits the requests of an account per minute and per day", () => {
  let nowMs = 0
  const limits = { ...unlimited, requestsPerMinute: 2, requestsPerDay: 3 }
  const allowance = createChatAllowance(limits, () => nowMs)
  const take = (userId = "ada") => allowance.take(userId)()
  take()
  take()
  expect(() => take()).toThrow("for this minute")
  take("bob")
  nowMs += 60_000
  take()
  expect(() => take()).toThrow(/for this day; try again in \d{5} s/)
  nowMs += dayMs
  take()
})

test("createChatAllowance limits the open requests of an account", () => {
  const allowance = createChatAllowance(unlimited, () => 0)
  const ends = Array.from({ length: 16 }, () => allowance.take("ada"))
  expect(() => allowance.take("ada")).toThrow("maximum number of open requests")
  allowance.take("bob")
  // A request that ends twice frees one place.
  ends[0]?.()
  ends[0]?.()
  allowance.take("ada")
  expect(() => allowance.take("ada")).toThrow("maximum number of open requests")
})
