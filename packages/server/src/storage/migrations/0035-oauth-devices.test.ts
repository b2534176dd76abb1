import { expect, test } from "bun:test"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import { commandLine } from "../../domain/oauth/oauth.ts"
import { migrate } from "../database/migrate.ts"
import { sql } from "../database/sql.ts"
import { createOAuthStore } from "../oauth/oauth.ts"
import { migrations } from "./index.ts"

const id = "00000000-0000-7000-8000-000000000001"

describeEachDatabase("oauth-devices", (open) => {
  test("lets devices wait beside the clients that exist", async () => {
    const { db } = await open({ isEmpty: true })
    await migrate(
      db,
      migrations.filter(({ version }) => version < 35),
    )
    await db.writeOne(
      sql`insert into oauth_clients (id, name, redirect_uris, created_at) values (${id}, 'editor', '["http://localhost/"]', 1)`,
    )

    await migrate(db, migrations)

    const store = createOAuthStore(db)
    const hash = "ab".repeat(32)
    const device = { hash, userCode: "BCDFGHJK", scope: "project_rw", expiresAt: 100 }
    const client = { ...commandLine, redirectUris: [], createdAt: 2 }
    expect(await store.addDevice(device, client, 2, 10)).toBe(true)
    expect(await store.findDevice("BCDFGHJK", 3)).toEqual(device)
    expect([await store.isWaiting(hash, 99), await store.isWaiting(hash, 100)]).toEqual([
      true,
      false,
    ])
    expect(await store.findClient(id)).toMatchObject({ name: "editor" })
  })
})
