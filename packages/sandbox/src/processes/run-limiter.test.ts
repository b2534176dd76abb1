import { describe, expect, test } from "bun:test"
import { RunLimiter } from "./run-limiter.ts"
import { runnerLimits } from "./runner-limits.ts"

const limits = {
  ...runnerLimits,
  runsPerGroupMax: 2,
  runsPerAccountMax: 3,
  runsWaitingMax: 8,
  waitMsMax: 1000,
}

describe("RunLimiter", () => {
  test("starts runs at once below the limits", () => {
    const turnstile = new RunLimiter(limits)
    expect(turnstile.acquire("hello", "ada")).toBeUndefined()
    expect(turnstile.acquire("hello", "ada")).toBeUndefined()
    expect(turnstile.active).toBe(2)
    expect(turnstile.waiting).toBe(0)
  })

  test("lets runs of a group at its limit wait, and others start", async () => {
    const turnstile = new RunLimiter(limits)
    for (let run = 0; run < 2; run++) void turnstile.acquire("hello", "ada")
    const turn = turnstile.acquire("hello", "ada")
    expect(turn).toBeInstanceOf(Promise)
    expect(turnstile.acquire("other", "ada")).toBeUndefined()

    turnstile.release("hello", "ada")

    await turn
    expect(turnstile.active).toBe(3)
    expect(turnstile.waiting).toBe(0)
  })

  test("counts the runs of an account over all its groups", async () => {
    const turnstile = new RunLimiter(limits)
    for (const val of ["a", "b", "c"]) void turnstile.acquire(val, "ada")
    const turn = turnstile.acquire("d", "ada")
    expect(turn).toBeInstanceOf(Promise)
    expect(turnstile.acquire("d", "bob")).toBeUndefined()
    turnstile.release("a", "ada")
    await turn
  })

  test("lets accounts that wait take turns, and a run pass others whose group is at its limit", async () => {
    const turnstile = new RunLimiter({ ...limits, runsPerGroupMax: 1, runsPerAccountMax: 1 })
    for (const account of ["ada", "bob"]) void turnstile.acquire(`${account}'s`, account)
    void turnstile.acquire("shared", "cem")
    const started: string[] = []
    const wait = async (val: string, account: string) => {
      await turnstile.acquire(val, account)
      started.push(`${val} ${account}`)
    }
    const waits = [wait("a", "ada"), wait("b", "ada"), wait("shared", "bob"), wait("c", "bob")]
    turnstile.release("ada's", "ada")
    turnstile.release("bob's", "bob")
    await Promise.race(waits)
    expect(started).toEqual(["a ada", "c bob"])
    turnstile.stop()
    await Promise.allSettled(waits)
  })

  test("rejects runs when the queue, or the account's part of it, is full", async () => {
    const turnstile = new RunLimiter(limits)
    for (let run = 0; run < 2; run++) void turnstile.acquire("hello", "ada")
    const waiting = [turnstile.acquire("hello", "ada"), turnstile.acquire("hello", "ada")]
    expect(() => turnstile.acquire("hello", "ada")).toThrow("the queue is full")
    // Other accounts can still wait.
    waiting.push(turnstile.acquire("hello", "bob"))
    turnstile.stop()
    for (const turn of waiting)
      expect(await Promise.resolve(turn).catch((error) => error.code)).toBe("overloaded")
  })

  test("rejects runs that have waited too long", async () => {
    const turnstile = new RunLimiter({ ...limits, waitMsMax: 1 })
    for (let run = 0; run < 2; run++) void turnstile.acquire("hello", "ada")
    const turn = Promise.resolve(turnstile.acquire("hello", "ada")).catch((error) => error.code)
    expect(await turn).toBe("too_many_runs")
    expect(turnstile.waiting).toBe(0)
    turnstile.release("hello", "ada")
    expect(turnstile.acquire("hello", "ada")).toBeUndefined()
  })

  test("drops waiting runs whose clients have disconnected", async () => {
    const turnstile = new RunLimiter(limits)
    for (let run = 0; run < 2; run++) void turnstile.acquire("hello", "ada")
    const client = new AbortController()
    const turn = Promise.resolve(turnstile.acquire("hello", "ada", client)).catch(
      (error) => error.name,
    )
    client.abort()
    expect(await turn).toBe("AbortError")
    turnstile.release("hello", "ada")
    expect(turnstile.active).toBe(1)
  })

  test("gives no place in the queue to a client that has already disconnected", () => {
    const turnstile = new RunLimiter(limits)
    for (let run = 0; run < 2; run++) void turnstile.acquire("hello", "ada")
    const client = { signal: AbortSignal.abort() }
    expect(() => turnstile.acquire("hello", "ada", client)).toThrow("aborted")
    expect(turnstile.waiting).toBe(0)
  })
})
