import { expect, test } from "bun:test"
import { insertValRows } from "../../../test/support/data/insert-val-rows.ts"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import { migrate } from "../database/migrate.ts"
import { sql } from "../database/sql.ts"
import { createValSecretStore } from "../vals/val-secrets.ts"
import { migrations } from "./index.ts"

describeEachDatabase("secretDescriptions", (open) => {
  test("keeps secrets, which have no description", async () => {
    const { db } = await open({ isEmpty: true })
    const [ownerId, id] = [Bun.randomUUIDv7(), Bun.randomUUIDv7()]
    await migrate(
      db,
      migrations.filter(({ version }) => version < 33),
    )
    await db.write(function* () {
      yield sql`insert into users (id, username, username_key, created_at) values (${ownerId}, 'ada', 'ada', 1)`
      yield* insertValRows({ id, ownerId, name: "hello" })
      yield sql`insert into val_secrets (val_id, name, key_id, sealed, created_at, updated_at)
        values (${id}, 'A', 'k', ${Uint8Array.of(1)}, 2, 3)`
    })
    await migrate(db, migrations)
    expect(await createValSecretStore(db).list(id, { limit: 1, offset: 0 })).toMatchObject({
      items: [{ name: "A", hosts: null, description: null, createdAt: 2, updatedAt: 3 }],
    })
  })
})
