import { describe, expect, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import type { Claim, ClaimQueue } from "../domain/claims.ts"
import { ClaimWorker } from "./claim-worker.ts"

/** Messages in memory. */
class Messages implements ClaimQueue {
  readonly waiting: Claim[] = []
  readonly givenBack: Claim[] = []
  readonly failed: [Claim, delayMs: number][] = []
  /** Being sent by a node that is gone. */
  readonly lost: Claim[] = []
  isAway = false

  add(count: number, ownerId = "ada", attempts = 1): void {
    for (let index = 0; index < count; index++)
      this.waiting.push({ id: crypto.randomUUID(), ownerId, fence: attempts, attempts })
  }

  async claim(countMax: number) {
    if (this.isAway) throw new Error("away")
    return this.waiting.splice(0, countMax)
  }

  async takeOver() {
    this.waiting.push(...this.lost.splice(0))
  }

  async giveBack(claim: Claim) {
    this.givenBack.push(claim)
  }

  async fail(claim: Claim, delayMs: number) {
    this.failed.push([claim, delayMs])
  }

  async nextDueMs() {
    return this.waiting.length > 0 ? 0 : undefined
  }

  listen() {
    return () => {}
  }
}

const settings = { concurrencyMax: 3, pollMs: 5, stopMs: 1 }

describe("ClaimWorker", () => {
  test("sends all messages, never more than the limit at the same time", async () => {
    const claims = new Messages()
    claims.add(20)
    let [now, most, sent] = [0, 0, 0]
    const work = async () => {
      most = Math.max(most, ++now)
      await Bun.sleep(1)
      now -= 1
      sent += 1
    }
    const worker = new ClaimWorker({ ...settings, claims, work, onError() {} })
    worker.start()
    await waitUntil(() => sent === 20)
    claims.add(1)
    worker.wake()
    await waitUntil(() => sent === 21)
    await worker.stop()

    expect(most).toBe(3)
  })

  test("takes messages of nodes that are gone, at its start and later", async () => {
    const claims = new Messages()
    const lose = () => claims.lost.push({ id: "x", ownerId: "ada", fence: 1, attempts: 1 })
    lose()
    let sent = 0
    const work = async () => {
      sent += 1
    }
    const worker = new ClaimWorker({ ...settings, claims, work, onError() {} })
    worker.start()
    await waitUntil(() => sent === 1)
    lose()
    await waitUntil(() => sent === 2)
    await worker.stop()
  })

  test("reports what fails, lets it wait longer after each attempt, and goes on", async () => {
    const claims = new Messages()
    const errors: unknown[] = []
    const work = () => Promise.reject(new Error("broken"))
    const worker = new ClaimWorker({
      ...settings,
      claims,
      work,
      onError: (error) => errors.push(error),
    })
    claims.add(1)
    claims.add(1, "bob", 4)
    worker.start()
    await waitUntil(() => errors.length === 2)
    claims.isAway = true
    worker.wake()
    worker.wake()
    await waitUntil(() => errors.length === 3)
    await worker.stop()

    expect(errors.map(String)).toEqual(["Error: broken", "Error: broken", "Error: away"])
    expect(claims.givenBack).toEqual([])
    // By chance up to a fifth more or less.
    const shares = claims.failed.map(
      ([{ attempts }, delayMs]) => delayMs / 5_000 / 2 ** (attempts - 1),
    )
    expect(shares.map((share) => Math.abs(share - 1) <= 0.2)).toEqual([true, true])
  })

  test("loseAll aborts what other nodes may do now, without giving it back", async () => {
    const claims = new Messages()
    claims.add(1)
    let ended = 0
    const work = (_: Claim, signal: AbortSignal) =>
      new Promise<void>((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          ended += 1
          reject(signal.reason)
        })
      })
    const errors: unknown[] = []
    const worker = new ClaimWorker({
      ...settings,
      claims,
      work,
      onError: (error) => errors.push(error),
    })
    worker.start()
    await waitUntil(() => claims.waiting.length === 0)
    worker.loseAll()
    await waitUntil(() => ended === 1)
    await worker.stop()

    expect(claims.givenBack).toEqual([])
    expect(errors).toEqual([])
  })

  test("starts nothing that it claimed before loseAll", async () => {
    const claims = new Messages()
    claims.add(1)
    const claimed = Promise.withResolvers<void>()
    const claim = claims.claim.bind(claims)
    let asked = 0
    claims.claim = async (countMax) => {
      const found = await claim(countMax)
      if (++asked === 1) await claimed.promise
      return found
    }
    const sent: Claim[] = []
    const work = async (one: Claim) => void sent.push(one)
    const worker = new ClaimWorker({ ...settings, claims, work, onError() {} })
    worker.start()
    await waitUntil(() => asked === 1)
    worker.loseAll()
    claimed.resolve()
    claims.add(1, "bob")
    worker.wake()
    await waitUntil(() => sent.length > 0)
    await worker.stop()

    expect(sent.map(({ ownerId }) => ownerId)).toEqual(["bob"])
  })

  test("stop aborts messages that take long, and gives them back", async () => {
    const claims = new Messages()
    claims.add(2)
    let started = 0
    const work = (_: Claim, signal: AbortSignal) =>
      new Promise<void>((_resolve, reject) => {
        started += 1
        signal.addEventListener("abort", () => reject(signal.reason))
      })
    const worker = new ClaimWorker({ ...settings, claims, work, onError() {} })
    worker.start()
    await waitUntil(() => started === 2)
    await worker.stop()
    claims.add(1)
    worker.wake()

    expect([claims.givenBack.length, claims.failed.length]).toEqual([2, 0])
    expect(claims.waiting.length).toBe(1)
  })
})
