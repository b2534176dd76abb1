import { describe, expect, test } from "bun:test"
import { waitUntil } from "../../test/support/wait-until.ts"
import type { OutboxClaim, OutboxQueue } from "../domain/outbox.ts"
import { OutboxWorker } from "./outbox-worker.ts"

/** An outbox in memory. */
class Messages implements OutboxQueue {
  readonly waiting: OutboxClaim[] = []
  readonly givenBack: OutboxClaim[] = []
  isAway = false
  isLost = false

  add(count: number, ownerId = "ada"): void {
    for (let index = 0; index < count; index++)
      this.waiting.push({ id: crypto.randomUUID(), ownerId, fence: 1, attempts: 1 })
  }

  async claim(countMax: number) {
    if (this.isAway) throw new Error("away")
    return this.waiting.splice(0, countMax)
  }

  async renew() {
    return !this.isLost
  }

  async giveBack(claim: OutboxClaim) {
    this.givenBack.push(claim)
  }

  async nextDueMs() {
    return this.waiting.length > 0 ? 0 : undefined
  }

  listen() {
    return () => {}
  }

  async stats() {
    return { waiting: this.waiting.length, oldestMs: 0 }
  }
}

const settings = { concurrencyMax: 3, pollMs: 5, renewMs: 1, stopMs: 1 }

describe("OutboxWorker", () => {
  test("sends all messages, never more than the limit at the same time", async () => {
    const outbox = new Messages()
    outbox.add(20)
    let [now, most, sent] = [0, 0, 0]
    const send = async () => {
      most = Math.max(most, ++now)
      await Bun.sleep(1)
      now -= 1
      sent += 1
    }
    const worker = new OutboxWorker({ ...settings, outbox, send, onError() {} })
    worker.start()
    await waitUntil(() => sent === 20)
    outbox.add(1)
    worker.wake()
    await waitUntil(() => sent === 21)
    await worker.stop()

    expect(most).toBe(3)
  })

  test("finds messages without being woken", async () => {
    const outbox = new Messages()
    let sent = 0
    const send = async () => void sent++
    const worker = new OutboxWorker({ ...settings, outbox, send, onError() {} })
    worker.start()
    outbox.add(1)
    await waitUntil(() => sent === 1)
    await worker.stop()
  })

  test("reports what fails, and goes on", async () => {
    const outbox = new Messages()
    const errors: unknown[] = []
    const send = () => Promise.reject(new Error("broken"))
    const worker = new OutboxWorker({
      ...{ ...settings, outbox, send },
      onError: (error) => errors.push(error),
    })
    outbox.add(2)
    worker.start()
    await waitUntil(() => errors.length === 2)
    outbox.isAway = true
    worker.wake()
    worker.wake()
    await waitUntil(() => errors.length === 3)
    await worker.stop()

    expect(errors.map(String)).toEqual(["Error: broken", "Error: broken", "Error: away"])
    expect(outbox.givenBack).toEqual([])
  })

  test("aborts a message whose lease was lost, without giving it back", async () => {
    const outbox = new Messages()
    outbox.add(1)
    let ended = 0
    const send = (_: OutboxClaim, signal: AbortSignal) =>
      new Promise<void>((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          ended += 1
          reject(signal.reason)
        })
      })
    const errors: unknown[] = []
    const worker = new OutboxWorker({
      ...{ ...settings, outbox, send },
      onError: (error) => errors.push(error),
    })
    worker.start()
    outbox.isLost = true
    await waitUntil(() => ended === 1)
    await worker.stop()

    expect(outbox.givenBack).toEqual([])
    expect(errors).toEqual([])
  })

  test("stop aborts messages that take long, and gives them back", async () => {
    const outbox = new Messages()
    outbox.add(2)
    let started = 0
    const send = (_: OutboxClaim, signal: AbortSignal) =>
      new Promise<void>((_resolve, reject) => {
        started += 1
        signal.addEventListener("abort", () => reject(signal.reason))
      })
    const worker = new OutboxWorker({ ...settings, outbox, send, onError() {} })
    worker.start()
    await waitUntil(() => started === 2)
    await worker.stop()
    outbox.add(1)
    worker.wake()

    expect(outbox.givenBack.length).toBe(2)
    expect(outbox.waiting.length).toBe(1)
  })
})
