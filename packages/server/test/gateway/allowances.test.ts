import { afterEach, beforeEach, expect, setSystemTime, test } from "bun:test"
import { describeSqlite } from "../support/databases.ts"
import { openGatewayFixture } from "./support/gateway-fixture.ts"

const runsMax = 2

describeSqlite("HAMLET_RUNS_PER_MINUTE, at vals' own addresses,", (open) => {
  // Allowances refill with time.
  beforeEach(() => void setSystemTime(new Date()))
  afterEach(() => void setSystemTime())

  test("limits runs per owner of the vals, and sends retry-after to visitors", async () => {
    await using fixture = await openGatewayFixture(open, {
      HAMLET_RUNS_PER_MINUTE: String(runsMax),
    })
    await fixture.addVal("one")
    await fixture.addVal("two")
    for (const name of ["one", "two"]) expect((await fixture.request(name)).status).toBe(200)
    for (const name of ["one", "two"]) {
      const refused = await fixture.request(name, "/", { headers: { accept: "application/json" } })
      expect(refused.status).toBe(429)
      const seconds = Number(refused.headers.get("retry-after"))
      expect(seconds).toBeGreaterThanOrEqual(1)
      expect(seconds).toBeLessThanOrEqual(60 / runsMax)
      // No run was begun.
      expect(refused.headers.get("x-run-id")).toBeNull()
      expect(await refused.json()).toMatchObject({
        code: "rate_limited",
        message: expect.stringContaining("runs for this minute"),
      })
    }
    const { runs } = await fixture.hamlet.nouns.allowances.usedBy(fixture.ada.id)
    expect(runs).toEqual({ lastMinute: runsMax, sinceStart: runsMax })
  })

  test("does not count requests that are refused: unknown val, no access, invalid method", async () => {
    await using fixture = await openGatewayFixture(open, {
      HAMLET_RUNS_PER_MINUTE: String(runsMax),
    })
    await fixture.addVal("hidden", undefined, { privacy: "private" })
    await fixture.addVal("script", undefined, { type: "script" })
    for (const name of ["hidden", "script", "nothing"])
      expect((await fixture.request(name)).status).toBe(404)
    const { runs } = await fixture.hamlet.nouns.allowances.usedBy(fixture.ada.id)
    expect(runs.sinceStart).toBe(0)
  })
})
