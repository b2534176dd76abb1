import { expect, test } from "bun:test"
import { migrate, sql } from "@hamlet/database"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import { migrations } from "./index.ts"

describeEachDatabase("budgets", (open) => {
  test("adds an empty table, and touches no other", async () => {
    const { db } = await open({ isEmpty: true })
    const before = migrations.filter(({ version }) => version < 42)
    await migrate(db, before)
    const columns = await db.read<{ tableName: string }>(db.dialect.columns)

    await migrate(
      db,
      migrations.filter(({ version }) => version <= 42),
    )

    const after = await db.read<{ tableName: string }>(db.dialect.columns)
    expect(after.filter(({ tableName }) => tableName !== "budgets")).toEqual([...columns])
    expect(await db.read(sql`select key, full_at, holders from budgets`)).toEqual([])
  })
})
