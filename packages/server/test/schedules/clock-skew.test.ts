import { afterAll, describe, expect, test } from "bun:test"
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createClient } from "@hamlet/contract/client"
import { notRun } from "@hamlet/kit/testing"
import { databases } from "../support/databases.ts"
import { chosenToken, openServerFixture } from "../support/server-fixture.ts"
import { removeFaketimeMemory } from "./faketime-memory.ts"

const library = process.env.HAMLET_TEST_LIBFAKETIME
const server = databases.find(({ name }) => name === "PostgreSQL")
if (library === undefined || server === undefined)
  notRun("a node whose clock is wrong", "libfaketime or PostgreSQL is missing")

/** A file that sets the clock of a process while it runs. */
async function openFolder() {
  const folder = await mkdtemp(join(tmpdir(), "hamlet-clock-"))
  const file = join(folder, "clock")
  return {
    file,
    /** At once: the process may read it at any time. */
    async setClock(skew: string) {
      await writeFile(`${file}.new`, `${skew}\n`)
      await rename(`${file}.new`, file)
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}

describe.if(library !== undefined && server !== undefined)("a node whose clock is wrong", () => {
  afterAll(removeFaketimeMemory)

  test.each([
    ["+60s", /is \d+ s ahead of the database's/, 50],
    ["-60s", /is \d+ s behind the database's/, -50],
    ["+0s", undefined, 0],
  ])(
    "by %s says so in its log, in /readyz, in a gauge and to administrators, until it is set",
    async (skew, warning, secondsMin) => {
      await using fixture = await openServerFixture(server?.open)
      await using folder = await openFolder()
      await folder.setClock(skew)
      const { hamlet, baseUrl } = await fixture.serve({
        LD_PRELOAD: library ?? "",
        FAKETIME_TIMESTAMP_FILE: folder.file,
        FAKETIME_CACHE_DURATION: "1",
        // Otherwise its timers are wrong too.
        FAKETIME_DONT_FAKE_MONOTONIC: "1",
        HAMLET_ISOLATION: "deno",
      })
      const client = createClient({ baseUrl, token: chosenToken })
      const readSeconds = async () => {
        const [, text] = /^hamlet_clock_skew_seconds (\S+)$/m.exec(await client.getMetrics()) ?? []
        return Number(text)
      }
      const { warnings } = await client.getReadiness()
      const seconds = await readSeconds()
      const [node] = (await client.listNodes()).data
      expect(node?.report?.isClockWrong).toBe(warning !== undefined)
      if (warning) {
        expect(warnings.join("\n")).toMatch(warning)
        expect(Math.sign(secondsMin) * seconds).toBeGreaterThan(Math.abs(secondsMin))
        await hamlet.waitFor("stderr", /"level":"warn","event":"clock_skew","seconds":-?\d/)
        await folder.setClock("+0s")
        await hamlet.waitFor("stderr", /"level":"info","event":"clock_in_step","seconds":/)
        expect(Math.abs(await readSeconds())).toBeLessThan(5)
        expect((await client.getReadiness()).warnings.join("\n")).not.toContain("clock")
        // Each once.
        expect(hamlet.stderr.match(/"event":"clock_\w+"/g)).toHaveLength(2)
      } else {
        expect(warnings.join("\n")).not.toContain("clock")
        expect(Math.abs(seconds)).toBeLessThan(5)
        expect(hamlet.stderr).not.toContain("clock_skew")
      }
    },
  )
})
