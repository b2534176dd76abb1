import { expect, test } from "bun:test"
import { createAllowances } from "../limits/allowances.ts"
import { createQueueRoom, takeQueuedRun } from "./run-queue.ts"

test("takeQueuedRun uses up no allowance while the queue of the account is full", async () => {
  const clock = { at: 0 }
  let waiting = 2
  const room = createQueueRoom({ countWaiting: async () => waiting }, 2, { now: () => clock.at })
  const perMinute = {
    runsPerMinute: 3,
    egressBytesPerMinute: undefined,
    storageRequestsPerMinute: undefined,
  }
  const allowances = createAllowances(perMinute, () => clock.at)
  for (let attempt = 0; attempt < 10; attempt++) {
    await expect(takeQueuedRun(allowances, room, "ada")).rejects.toMatchObject({
      code: "queue_full",
    })
    clock.at += 200
  }
  expect((await allowances.usedBy("ada")).runs.sinceStart).toBe(0)
  waiting = 0
  await takeQueuedRun(allowances, room, "ada")
  expect((await allowances.usedBy("ada")).runs.sinceStart).toBe(1)
})
