import { expect, test } from "bun:test"
import { SQL } from "bun"
import {
  describeEachDatabase,
  describePostgres,
  openAgain,
  type TestDatabase,
} from "../../../test/support/databases.ts"
import { waitUntil } from "../../../test/support/wait-until.ts"
import { buildIndex } from "./build-index.ts"
import type { Database } from "./database.ts"
import { sql } from "./sql.ts"

const index = { name: "items_by_a", table: "items", on: "(a) where a > 1" }

async function setUp({ db }: TestDatabase): Promise<void> {
  await db.write(function* () {
    yield sql`create table items (a integer)`
    yield sql`insert into items values (1), (2), (3)`
  })
}

const insert = (db: Database) => db.writeOne(sql`insert into items values (4)`)

describeEachDatabase("buildIndex", (open) => {
  test("builds an index once, however often and on however many nodes it is called", async () => {
    const database = await open({ isEmpty: true })
    await setUp(database)
    const other = await openAgain(database)
    try {
      await Promise.all([database.db, other, other].map((db) => buildIndex(db, index)))
      await buildIndex(database.db, index)
      await expect(database.db.writeOne(sql`create index items_by_a on items (a)`)).rejects.toThrow(
        "already exists",
      )
    } finally {
      await other.stop()
    }
  })
})

describePostgres("buildIndex", (open) => {
  const isValid = async (db: Database) => {
    const [found] = await db.read<{ is_valid: boolean }>(
      sql`select indisvalid as is_valid from pg_index where indexrelid = to_regclass('items_by_a')`,
    )
    return found?.is_valid
  }

  test("builds an index again whose build was killed, while others write", async () => {
    const database = await open({ isEmpty: true })
    const { db } = database
    await setUp(database)
    const other = await openAgain(database)
    const holder = new SQL(database.url ?? "", { max: 1 })
    try {
      // A build waits for the transactions that have written to the table before it.
      await holder.unsafe("begin; insert into items values (5)")
      const killed = buildIndex(other, index)
      await waitUntil(async () => (await isValid(db)) === false)
      await insert(db)
      await db.writeOne(
        sql`select pg_cancel_backend(pid) from pg_stat_progress_create_index where relid = to_regclass('items')`,
      )
      await expect(killed).rejects.toThrow("canceling statement")
      expect(await isValid(db)).toBe(false)

      const built = buildIndex(other, index)
      await insert(db)
      await holder.unsafe("commit")
      await built
      expect(await isValid(db)).toBe(true)
    } finally {
      await holder.close()
      await other.stop()
    }
  })
})
