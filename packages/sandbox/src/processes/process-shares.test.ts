import { describe, expect, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import { ProcessShares } from "./process-shares.ts"
import { runnerLimits } from "./runner-limits.ts"

const limits = {
  ...runnerLimits,
  processesMax: 8,
  processesPerAccountMax: 6,
  memoryBytesMax: 800,
  shareWaitMsMax: 60_000,
}

function takeAll(shares: ProcessShares, accountId: string): number {
  let count = 0
  while (shares.tryAcquire(accountId)) count++
  return count
}

/** The state of a wait: pending, or how it ended. */
function outcomeOf(wait: Promise<void>): { text: string } {
  const outcome = { text: "waiting" }
  wait.then(
    () => {
      outcome.text = "entered"
    },
    ({ code, message }: { code: string; message: string }) => {
      outcome.text = `${code}: ${message}`
    },
  )
  return outcome
}

describe("ProcessShares", () => {
  test("gives one account no more than its limit, and another account a share at once", () => {
    const shares = new ProcessShares(limits)
    expect(takeAll(shares, "ada")).toBe(6)
    expect(shares.tryAcquire("bob")).toBe(true)
    expect(shares.tryAcquire("cleo")).toBe(true)
    expect(shares.tryAcquire("dan")).toBe(false)
  })

  for (const { processesMax, processesPerAccountMax, ada } of [
    { processesMax: 1, processesPerAccountMax: 1, ada: 1 },
    { processesMax: 2, processesPerAccountMax: 1, ada: 1 },
    { processesMax: 3, processesPerAccountMax: 2, ada: 2 },
    { processesMax: 4, processesPerAccountMax: 3, ada: 3 },
    { processesMax: 192, processesPerAccountMax: 144, ada: 144 },
    { processesMax: 192, processesPerAccountMax: 192, ada: 192 },
    { processesMax: 8, processesPerAccountMax: 100, ada: 8 },
  ])
    test(`gives one account ${ada} of ${processesMax} when its limit is ${processesPerAccountMax}`, () => {
      const shares = new ProcessShares({ ...limits, processesMax, processesPerAccountMax })
      expect(takeAll(shares, "ada")).toBe(ada)
    })

  test("divides the processes between accounts that all take what they can", () => {
    const shares = new ProcessShares({ ...limits, processesMax: 192, processesPerAccountMax: 144 })
    const taken = ["ada", "bob", "cleo", "dan"].map((accountId) => takeAll(shares, accountId))
    expect(taken).toEqual([144, 36, 9, 2])
    expect(shares.tryAcquire("eve")).toBe(true)
  })

  test("findAccountToReduce returns the largest account when one without a process has waited", () => {
    const shares = new ProcessShares({ ...limits, processesMax: 3, processesPerAccountMax: 3 })
    for (const accountId of ["ada", "ada", "bob"]) shares.tryAcquire(accountId)
    const later = () => performance.now() + 5_000
    outcomeOf(shares.acquire("ada"))
    expect(shares.findAccountToReduce(later())).toBeUndefined()
    const beforeMs = performance.now()
    outcomeOf(shares.acquire("cleo"))
    expect(shares.findAccountToReduce(beforeMs)).toBeUndefined()
    expect(shares.findAccountToReduce(later())).toBe("ada")
  })

  test("findAccountToReduce returns none when every account has one process", () => {
    const shares = new ProcessShares({ ...limits, processesMax: 2, processesPerAccountMax: 2 })
    for (const accountId of ["ada", "bob"]) shares.tryAcquire(accountId)
    outcomeOf(shares.acquire("cleo"))
    expect(shares.findAccountToReduce(performance.now() + 5_000)).toBeUndefined()
  })

  test("counts the memory of processes at work, each only against its own account", () => {
    const shares = new ProcessShares(limits)
    for (const accountId of ["ada", "ada", "bob"]) shares.tryAcquire(accountId)
    shares.noteMemory(new Map(Object.entries({ ada: 650, bob: 10 })))
    expect(shares.tryAcquire("ada")).toBe(false)
    expect(shares.tryAcquire("bob")).toBe(true)
    shares.noteMemory(new Map(Object.entries({ ada: 300, bob: 10 })))
    expect(shares.tryAcquire("ada")).toBe(true)
  })

  test("gives free shares to waiting accounts, the one with the fewest processes first", async () => {
    const shares = new ProcessShares({ ...limits, processesMax: 3, processesPerAccountMax: 3 })
    for (const accountId of ["ada", "ada", "bob"]) shares.tryAcquire(accountId)
    const ada = outcomeOf(shares.acquire("ada"))
    const cleo = outcomeOf(shares.acquire("cleo"))
    expect(shares.waiting).toBe(2)
    shares.release("bob")
    await Bun.sleep(0)
    expect([ada.text, cleo.text]).toEqual(["waiting", "entered"])
    shares.release("cleo")
    await Bun.sleep(0)
    expect(ada.text).toBe("entered")
    expect([shares.waiting, shares.countOf("ada")]).toEqual([0, 3])
  })

  test("gives shares to waiting accounts when memory becomes free", async () => {
    const shares = new ProcessShares(limits)
    shares.tryAcquire("ada")
    shares.noteMemory(new Map([["ada", 700]]))
    const ada = outcomeOf(shares.acquire("ada"))
    shares.noteMemory(new Map([["ada", 100]]))
    await Bun.sleep(0)
    expect(ada.text).toBe("entered")
  })

  test("rejects waits that take too long, and all waits when it stops", async () => {
    const shares = new ProcessShares({ ...limits, shareWaitMsMax: 20 })
    takeAll(shares, "ada")
    const first = outcomeOf(shares.acquire("ada"))
    const second = outcomeOf(shares.acquire("ada"))
    await waitUntil(() => shares.waiting === 0)
    const third = outcomeOf(shares.acquire("ada"))
    shares.stop()
    await Bun.sleep(0)
    const late =
      "too_many_runs: Cannot run the program: its account has as many processes at work as its share allows"
    expect([first.text, second.text]).toEqual([late, late])
    expect(third.text).toBe("overloaded: Cannot run the program: the server is stopping")
    expect(shares.waiting).toBe(0)
  })
})
