import { expect, test } from "bun:test"
import { createChatAllowance } from "./openai.ts"

const unlimited = { requestsPerMinute: undefined, requestsPerDay: undefined, bodyBytesMax: 1 }
const dayMs = 86_400_000

test("createChatAllowance limits the requests of an account per minute and per day", async () => {
  let nowMs = 0
  const limits = { ...unlimited, requestsPerMinute: 2, requestsPerDay: 3 }
  const allowance = createChatAllowance(limits, () => nowMs)
  const take = async (userId = "ada") => (await allowance.take(userId))()
  await take()
  await take()
  await expect(take()).rejects.toThrow("for this minute")
  await take("bob")
  nowMs += 60_000
  await take()
  await expect(take()).rejects.toThrow(/for this day; try again in \d{5} s/)
  nowMs += dayMs
  await take()
})

test("createChatAllowance limits the open requests of an account", async () => {
  const allowance = createChatAllowance(unlimited, () => 0)
  const ends = await Promise.all(Array.from({ length: 16 }, () => allowance.take("ada")))
  await expect(allowance.take("ada")).rejects.toThrow("maximum number of open requests")
  await allowance.take("bob")
  // A request that ends twice frees one place.
  ends[0]?.()
  ends[0]?.()
  await allowance.take("ada")
  await expect(allowance.take("ada")).rejects.toThrow("maximum number of open requests")
})
