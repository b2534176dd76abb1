import { expect, test } from "bun:test"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import { migrate } from "../database/migrate.ts"
import { sql } from "../database/sql.ts"
import { settingToken } from "./0006-setting-token.ts"
import { migrations } from "./index.ts"

describeEachDatabase("settingToken", (open) => {
  test("adds the scope backup to tokens with admin, and to no others", async () => {
    const { db } = await open({ isEmpty: true })
    await migrate(
      db,
      migrations.filter(({ version }) => version < settingToken.version),
    )
    const userId = Bun.randomUUIDv7()
    const scopes = ["admin", "val:read admin", "admin val:read", "val:read", "val:read val:write"]
    await db.write(function* () {
      yield sql`insert into users (id, username, username_key, created_at) values (${userId}, 'ada', 'ada', 1)`
      for (const [index, text] of scopes.entries())
        yield sql`insert into tokens (id, user_id, hash, name, scopes, created_at)
          values (${Bun.randomUUIDv7()}, ${userId}, ${Buffer.alloc(32, index)}, ${String(index)}, ${text}, 1)`
    })

    await migrate(db, migrations)

    const rows = await db.read<{ scopes: string; is_from_setting: number }>(
      sql`select scopes, is_from_setting from tokens order by name`,
    )
    expect(rows.map((row) => row.scopes)).toEqual([
      "admin backup",
      "val:read admin backup",
      "admin val:read backup",
      ...scopes.slice(3),
    ])
    expect(rows.every((row) => Number(row.is_from_setting) === 0)).toBe(true)
  })
})
