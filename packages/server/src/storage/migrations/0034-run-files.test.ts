import { expect, test } from "bun:test"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import { migrate } from "../database/migrate.ts"
import { sql } from "../database/sql.ts"
import { createRunStore } from "../runs/runs.ts"
import { migrations } from "./index.ts"

const id = "00000000-0000-7000-8000-000000000001"
const owner = "00000000-0000-7000-8000-000000000002"

describeEachDatabase("run-files", (open) => {
  test("lets the runs that exist mean the first file of their val, on main", async () => {
    const { db } = await open({ isEmpty: true })
    await migrate(
      db,
      migrations.filter(({ version }) => version < 34),
    )
    await db.write(function* () {
      yield sql`insert into users (id, username, username_key, created_at) values (${owner}, 'ada', 'ada', 1)`
      yield sql`insert into vals (id, owner_id, name, name_key, privacy, created_at, updated_at)
        values (${id}, ${owner}, 'hello', 'hello', 'public', 1, 1)`
      yield sql`insert into branches (id, val_id, name, name_key, version, version_last, created_at, updated_at)
        values (${id}, ${id}, 'main', 'main', 1, 1, 1, 1)`
      yield sql`insert into files (id, branch_id, path) values (${id}, ${id}, 'main.tsx')`
      yield sql`insert into runs (id, val_id, version, account_id, owner_id, source, status, started_at)
        values (${id}, ${id}, 1, ${owner}, ${owner}, 'api', 'succeeded', 1)`
    })

    await migrate(db, migrations)

    expect(await createRunStore(db).find(owner, id)).toMatchObject({
      val: { id, version: 1 },
      file: { id, path: "main.tsx" },
      branch: { id, name: "main" },
    })
  })
})
