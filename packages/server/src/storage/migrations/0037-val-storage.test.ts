import { expect, test } from "bun:test"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import { createTokenStore } from "../accounts/tokens.ts"
import { createBlobStore } from "../blobs/blobs.ts"
import { migrate } from "../database/migrate.ts"
import { sql } from "../database/sql.ts"
import { migrations } from "./index.ts"

describeEachDatabase("val-storage", (open) => {
  test("keeps the blobs of users, and tokens, which belong to no val", async () => {
    const { db } = await open({ isEmpty: true })
    const ownerId = Bun.randomUUIDv7()
    const hash = new Uint8Array(32).fill(7)
    await migrate(
      db,
      migrations.filter(({ version }) => version < 37),
    )
    await db.write(function* () {
      yield sql`insert into users (id, username, username_key, created_at, blob_bytes, blob_count)
        values (${ownerId}, 'ada', 'ada', 1, 3, 1)`
      yield sql`insert into blobs (owner_id, key, size, content_type, modified_at, content)
        values (${ownerId}, 'a', 3, 'x/y', 5, ${Uint8Array.of(1, 2, 3)})`
      yield sql`insert into tokens (id, user_id, hash, name, scopes, created_at)
        values (${Bun.randomUUIDv7()}, ${ownerId}, ${hash}, 'mine', 'blob:read', 1)`
    })

    await migrate(db, migrations)

    const blobs = createBlobStore(db)
    expect(await blobs.find({ ownerId }, "a")).toMatchObject({ size: 3, modifiedAt: 5 })
    expect(await blobs.findUsage(ownerId)).toEqual({ count: 1, bytes: 3 })
    const found = await createTokenStore(db).findHolder(Buffer.from(hash).toString("hex"))
    expect(found).toMatchObject({ userId: ownerId, valId: null })
  })
})
