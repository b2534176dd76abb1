import { expect, test } from "bun:test"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import { sql } from "../database/sql.ts"
import { LinksMoved, writeLinks } from "./row-locks.ts"

describeEachDatabase("writeLinks", (open) => {
  test("begins again when the links have moved", async () => {
    const { db } = await open()
    let runs = 0

    const written = writeLinks(db, function* () {
      yield sql`select 1`
      runs += 1
      if (runs < 10) throw new LinksMoved()
      return "written"
    })

    expect(await written).toBe("written")
  })

  test("gives up when they move every time, and says that it may be tried later", async () => {
    const { db } = await open()
    let runs = 0

    const written = writeLinks(db, function* () {
      yield sql`select 1`
      runs += 1
      throw new LinksMoved()
    })

    await expect(written).rejects.toMatchObject({ code: "database_unavailable" })
    // On SQLite a script that fails is run once more in a savepoint.
    expect(runs).toBeGreaterThanOrEqual(50)
    expect(runs).toBeLessThanOrEqual(100)
  })
})
