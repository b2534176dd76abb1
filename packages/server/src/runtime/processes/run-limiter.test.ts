import { describe, expect, test } from "bun:test"
import { Turnstile } from "./run-limiter.ts"

const limits = { runsPerValMax: 2, runsPerAccountMax: 3, runsWaitingMax: 8, waitMsMax: 1000 }

describe("Turnstile", () => {
  test("lets runs in at once while there is room", () => {
    const turnstile = new Turnstile(limits)
    expect(turnstile.enter("hello", "ada")).toBeUndefined()
    expect(turnstile.enter("hello", "ada")).toBeUndefined()
    expect(turnstile.inside).toBe(2)
    expect(turnstile.waiting).toBe(0)
  })

  test("lets runs of a full val wait, and others pass", async () => {
    const turnstile = new Turnstile(limits)
    for (let run = 0; run < 2; run++) void turnstile.enter("hello", "ada")
    const turn = turnstile.enter("hello", "ada")
    expect(turn).toBeInstanceOf(Promise)
    expect(turnstile.enter("other", "ada")).toBeUndefined()

    turnstile.leave("hello", "ada")

    await turn
    expect(turnstile.inside).toBe(3)
    expect(turnstile.waiting).toBe(0)
  })

  test("counts the runs of an account over all its vals", async () => {
    const turnstile = new Turnstile(limits)
    for (const val of ["a", "b", "c"]) void turnstile.enter(val, "ada")
    const turn = turnstile.enter("d", "ada")
    expect(turn).toBeInstanceOf(Promise)
    expect(turnstile.enter("d", "bob")).toBeUndefined()
    turnstile.leave("a", "ada")
    await turn
  })

  test("refuses more than may wait, and more than one account may let wait", async () => {
    const turnstile = new Turnstile(limits)
    for (let run = 0; run < 2; run++) void turnstile.enter("hello", "ada")
    const waiting = [turnstile.enter("hello", "ada"), turnstile.enter("hello", "ada")]
    expect(() => turnstile.enter("hello", "ada")).toThrow("as many as may wait are waiting already")
    // Somebody else is not kept from waiting by that.
    waiting.push(turnstile.enter("hello", "bob"))
    turnstile.stop()
    for (const turn of waiting) expect(await Promise.resolve(turn).catch((error) => error.code)).toBe("overloaded")
  })

  test("refuses those who have waited too long, in their turn", async () => {
    const turnstile = new Turnstile(limits)
    for (let run = 0; run < 2; run++) void turnstile.enter("hello", "ada")
    const turn = Promise.resolve(turnstile.enter("hello", "ada")).catch((error) => error.code)
    turnstile.sweep(performance.now() + limits.waitMsMax + 1)
    expect(await turn).toBe("too_many_runs")
    expect(turnstile.waiting).toBe(0)
    turnstile.leave("hello", "ada")
    expect(turnstile.enter("hello", "ada")).toBeUndefined()
  })

  test("forgets those who have gone", async () => {
    const turnstile = new Turnstile(limits)
    for (let run = 0; run < 2; run++) void turnstile.enter("hello", "ada")
    const client = new AbortController()
    const turn = Promise.resolve(turnstile.enter("hello", "ada", client)).catch((error) => error.name)
    client.abort()
    expect(await turn).toBe("AbortError")
    turnstile.leave("hello", "ada")
    expect(turnstile.inside).toBe(1)
  })
})
