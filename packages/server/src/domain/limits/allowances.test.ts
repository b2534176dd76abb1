import { describe, expect, test } from "bun:test"
import { createAllowances } from "./allowances.ts"

const start = Date.parse("2026-01-01T00:00:00.000Z")
const none = {
  runsPerMinute: undefined,
  egressBytesPerMinute: undefined,
  storageRequestsPerMinute: undefined,
}

describe("createAllowances", () => {
  test("counts runs, traffic and storage separately, and names the one that is used up", async () => {
    const limits = { runsPerMinute: 1, egressBytesPerMinute: 60, storageRequestsPerMinute: 2 }
    const allowances = createAllowances(limits, () => start)
    void allowances.takeRun("ada")
    allowances.takeBytes("ada", 60)
    void allowances.takeStorageRequest("ada")
    void allowances.takeStorageRequest("ada")
    expect(() => allowances.takeRun("ada")).toThrow(
      "the account has used up its runs for this minute; try again in 60 s",
    )
    expect(() => allowances.takeBytes("ada", 1)).toThrow(
      "the account has used up its outgoing traffic for this minute; try again in 1 s",
    )
    expect(() => allowances.takeStorageRequest("ada")).toThrow(
      "the account has used up its requests to them for this minute; try again in 30 s",
    )
    void allowances.takeRun("bob")
    expect(await allowances.usedBy("ada")).toEqual({
      runs: { lastMinute: 1, sinceStart: 1 },
      egressBytes: { lastMinute: 60, sinceStart: 60 },
      storageRequests: { lastMinute: 2, sinceStart: 2 },
    })
    expect(allowances.limitsOf("ada")).toEqual(limits)
  })

  test("allows everything without a limit", () => {
    const allowances = createAllowances({ ...none, runsPerMinute: 1 }, () => start)
    for (let count = 0; count < 1_000; count++) {
      allowances.takeBytes("ada", 1_000_000)
      void allowances.takeStorageRequest("ada")
    }
    void allowances.takeRun("ada")
    expect(() => allowances.takeRun("ada")).toThrow("used up its runs")
  })

  test("hasRun says whether a run is left, and countRun counts one that starts anyway", async () => {
    const clock = { at: start }
    const allowances = createAllowances({ ...none, runsPerMinute: 2 }, () => clock.at)
    expect(allowances.hasRun("ada")).toBe(true)
    for (let count = 0; count < 3; count++) allowances.countRun("ada")
    expect(allowances.hasRun("ada")).toBe(false)
    expect(allowances.hasRun("bob")).toBe(true)
    expect(() => allowances.takeRun("ada")).toThrow("try again in 60 s")
    expect((await allowances.usedBy("ada")).runs).toEqual({ lastMinute: 3, sinceStart: 3 })
    clock.at += 60_000
    expect(allowances.hasRun("ada")).toBe(true)
    expect(createAllowances(none, () => start).hasRun("ada")).toBe(true)
  })
})
