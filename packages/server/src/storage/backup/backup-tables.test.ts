import { expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import { databases, describeEachDatabase } from "../../../test/support/databases.ts"
import { backupTables } from "./backup-tables.ts"
import { isId } from "./format/row-values.ts"

const server = databases.find(({ name }) => name === "PostgreSQL")

if (server)
  test("isId is true exactly for the uuid columns of PostgreSQL", async () => {
    const { db, close } = await server.open()
    const columns = await db.read<{ name: string; type: string }>(sql`
      select column_name as name, data_type as type from information_schema.columns
      where table_schema = current_schema()`)
    await close()

    expect(columns.length).toBeGreaterThan(50)
    expect(columns.filter(({ name, type }) => isId(name) !== (type === "uuid"))).toEqual([])
  })

describeEachDatabase("backupTables", (open) => {
  test("has an entry for every table, and no others", async () => {
    const { db } = await open()
    const found = await db.read<{ tableName: string }>(db.dialect.columns)
    expect(Object.keys(backupTables).sort()).toEqual(
      [...new Set(found.map((column) => column.tableName))].sort(),
    )
  })

  test("dialect.columns returns the columns of a table in order, with types that both databases share", async () => {
    const { db } = await open()
    const found = await db.read<{ tableName: string; columnName: string; type: string }>(
      db.dialect.columns,
    )
    const columns = found
      .filter((column) => column.tableName === "secrets")
      .map(({ columnName, type }) => `${columnName} ${type}`)
    expect(columns).toEqual([
      "user_id text",
      "name text",
      "key_id text",
      "sealed bytes",
      "hosts text",
      "created_at integer",
      "updated_at integer",
    ])
  })
})
