import { expect, test } from "bun:test"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import { migrate } from "../database/migrate.ts"
import { sql } from "../database/sql.ts"
import { migrations } from "./index.ts"

const toId = (number: number) => `00000000-0000-7000-8000-${String(number).padStart(12, "0")}`
const [owner, val, branch] = [toId(1), toId(2), toId(3)]

describeEachDatabase("merges", (open) => {
  test("finds the files that those of branches are copies of", async () => {
    const { db } = await open({ isEmpty: true })
    await migrate(
      db,
      migrations.filter(({ version }) => version < 39),
    )
    await db.write(function* () {
      yield sql`insert into users (id, username, username_key, created_at) values (${owner}, 'ada', 'ada', 1)`
      yield sql`insert into vals (id, owner_id, name, name_key, privacy, created_at, updated_at)
        values (${val}, ${owner}, 'hello', 'hello', 'public', 1, 1)`
      for (const [id, name, from] of [
        [val, "main", null],
        [branch, "try", val],
      ] as const)
        yield sql`insert into branches (id, val_id, name, name_key, version, version_last, forked_from_id, forked_from_version, created_at, updated_at)
          values (${id}, ${val}, ${name}, ${name}, 3, 3, ${from}, ${from && 2}, 1, 1)`
      const state = function* (branchId: string, path: string, since: number, fileId: string) {
        yield sql`insert into states (branch_id, path, since, file_id, type, created_at, content)
          values (${branchId}, ${path}, ${since}, ${fileId}, 'script', 1, '')`
      }
      for (const [id, branchId, path] of [
        [val, val, "moved.ts"],
        [toId(10), val, "b.ts"],
        [branch, branch, "a.ts"],
        [toId(11), branch, "b.ts"],
        [toId(12), branch, "new.ts"],
      ] as const)
        yield sql`insert into files (id, branch_id, path) values (${id}, ${branchId}, ${path})`
      // Another file is at the path of the first one, after the branch was made.
      yield* state(val, "a.ts", 1, val)
      yield* state(val, "a.ts", 3, toId(10))
      yield* state(val, "b.ts", 1, toId(10))
      yield* state(val, "b.ts", 2, toId(10))
      yield* state(branch, "a.ts", 0, branch)
      yield* state(branch, "b.ts", 0, toId(11))
      yield* state(branch, "b.ts", 2, toId(11))
      yield* state(branch, "new.ts", 1, toId(12))
    })

    await migrate(db, migrations)

    expect(await db.read(sql`select id, origin_id from files order by id`)).toEqual([
      { id: val, originId: null },
      { id: branch, originId: val },
      { id: toId(10), originId: null },
      { id: toId(11), originId: toId(10) },
      { id: toId(12), originId: null },
    ])
    expect(await db.read(sql`select base_id, base_version from branches`)).toEqual([
      { baseId: null, baseVersion: null },
      { baseId: null, baseVersion: null },
    ])
  })
})
