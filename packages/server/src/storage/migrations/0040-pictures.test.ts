import { expect, test } from "bun:test"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import { migrate } from "../database/migrate.ts"
import { sql } from "../database/sql.ts"
import { migrations } from "./index.ts"

const id = "00000000-0000-7000-8000-000000000001"

describeEachDatabase("pictures", (open) => {
  test("gives the vals that exist no picture", async () => {
    const { db } = await open({ isEmpty: true })
    await migrate(
      db,
      migrations.filter(({ version }) => version < 40),
    )
    await db.write(function* () {
      yield sql`insert into users (id, username, username_key, created_at) values (${id}, 'ada', 'ada', 1)`
      yield sql`insert into vals (id, owner_id, name, name_key, privacy, created_at, updated_at)
        values (${id}, ${id}, 'hello', 'hello', 'public', 1, 1)`
    })

    await migrate(db, migrations)

    expect(await db.read(sql`select name, image_url from vals`)).toEqual([
      { name: "hello", imageUrl: null },
    ])
  })
})
