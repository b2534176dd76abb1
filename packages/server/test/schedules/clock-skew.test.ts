import { afterAll, describe, expect, test } from "bun:test"
import { createClient } from "@hamlet/contract/client"
import { databases, notRun } from "../support/databases.ts"
import { chosenToken, openServerFixture } from "../support/server-fixture.ts"
import { removeFaketimeMemory } from "./faketime-memory.ts"

const library = process.env.HAMLET_TEST_LIBFAKETIME
const server = databases.find(({ name }) => name === "PostgreSQL")
if (library === undefined || server === undefined)
  notRun("a node whose clock is wrong", "libfaketime or PostgreSQL is missing")

describe.if(library !== undefined && server !== undefined)("a node whose clock is wrong", () => {
  afterAll(removeFaketimeMemory)

  test.each([
    ["+60s", /is \d+ s ahead of the database's/, 50],
    ["-60s", /is \d+ s behind the database's/, -50],
    ["+0s", undefined, 0],
  ])("by %s says so in its log, in /readyz and in a gauge", async (skew, warning, secondsMin) => {
    await using fixture = await openServerFixture(server?.open)
    const { hamlet, baseUrl } = await fixture.serve({
      LD_PRELOAD: library ?? "",
      FAKETIME: skew,
      // Otherwise its timers are wrong too.
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      HAMLET_ISOLATION: "deno",
    })
    const client = createClient({ baseUrl, token: chosenToken })
    const { warnings } = await client.getReadiness()
    const [, seconds] = /^hamlet_clock_skew_seconds (\S+)$/m.exec(await client.getMetrics()) ?? []
    if (warning) {
      expect(warnings.join("\n")).toMatch(warning)
      expect(Math.sign(secondsMin) * Number(seconds)).toBeGreaterThan(Math.abs(secondsMin))
      await hamlet.waitFor("stderr", /"level":"warn","event":"clock_skew","seconds":-?\d/)
    } else {
      expect(warnings.join("\n")).not.toContain("clock")
      expect(Math.abs(Number(seconds))).toBeLessThan(5)
      expect(hamlet.stderr).not.toContain("clock_skew")
    }
  })
})
