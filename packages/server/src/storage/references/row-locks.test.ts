import { expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import { LinksMoved, writeLinks } from "./row-locks.ts"

describeEachDatabase("writeLinks", (open) => {
  test("starts again when the links have changed", async () => {
    const { db } = await open()
    let runs = 0

    const written = writeLinks(db, "val", function* () {
      yield sql`select 1`
      runs += 1
      if (runs < 10) throw new LinksMoved()
      return "written"
    })

    expect(await written).toBe("written")
  })

  test("fails with a retryable error when they change every time", async () => {
    const { db } = await open()
    let runs = 0

    const written = writeLinks(db, "val", function* () {
      yield sql`select 1`
      runs += 1
      throw new LinksMoved()
    })

    // Not with `rejects`: bun then runs the event loop itself, and each turn waits for a timer.
    const error = await written.catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: "database_unavailable" })
    // On SQLite a script that fails is run once more in a savepoint.
    expect(runs).toBeGreaterThanOrEqual(50)
    expect(runs).toBeLessThanOrEqual(100)
  })
})
