import { expect, test } from "bun:test"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import { migrate } from "../database/migrate.ts"
import { sql } from "../database/sql.ts"
import { references } from "./0005-references.ts"
import { migrations } from "./index.ts"

const [ada, bob] = [Bun.randomUUIDv7(), Bun.randomUUIDv7()]

describeEachDatabase("migration 5", (open) => {
  test("makes references follow what runs", async () => {
    const { db } = await open({ isEmpty: true })
    await migrate(db, migrations.slice(0, migrations.indexOf(references)))
    const ids = { archive: "", library: "", own: "", pinned: "", named: "", lost: "" }
    for (const name of Object.keys(ids) as (keyof typeof ids)[]) ids[name] = Bun.randomUUIDv7()
    await db.write(function* () {
      for (const [id, name] of [
        [ada, "ada"],
        [bob, "bob"],
      ] as const)
        yield sql`insert into users (id, username, username_key, created_at) values (${id}, ${name}, ${name}, 1)`
      for (const [name, id] of Object.entries(ids)) {
        const owner = ["pinned", "named", "lost"].includes(name) ? bob : ada
        yield sql`insert into vals (id, owner_id, name, name_key, privacy, type, version, version_last, created_at, updated_at)
          values (${id}, ${owner}, ${name}, ${name}, 'public', 'script', 2, 2, 1, 1)`
        for (const version of [1, 2])
          yield sql`insert into versions (val_id, version, created_at, code) values (${id}, ${version}, ${version * 10}, '1')`
      }
      // The val that was called "library" when these were saved is called "archive" now, and another
      // val is called "library".
      const addImport = (val: string, version: number, pin: string | null) =>
        sql`insert into imports (val_id, version, username_key, name_key, pinned_val_id, pinned_version)
          values (${val}, ${version}, 'ada', 'library', ${pin}, ${pin === null ? null : 1})`
      yield addImport(ids.pinned, 2, ids.archive)
      yield addImport(ids.named, 2, null)
      yield addImport(ids.own, 2, null)
      yield addImport(ids.lost, 1, ids.archive)
      yield addImport(ids.lost, 2, Bun.randomUUIDv7())
      for (const from of [ids.pinned, ids.named, ids.own, ids.lost])
        yield sql`insert into dependencies (from_val_id, to_val_id, to_owner_id, created_at) values (${from}, ${ids.library}, ${ada}, 5)`
      yield sql`update vals set reference_count = 4 where id = ${ids.library}`
    })
    await migrate(db, migrations)
    const names = new Map(Object.entries(ids).map(([name, id]) => [id, name]))
    const found = await db.read<{ from_val_id: string; to_val_id: string; created_at: number }>(
      sql`select from_val_id, to_val_id, created_at from dependencies`,
    )
    const links = found.map(
      (row) => `${names.get(row.from_val_id)} → ${names.get(row.to_val_id)} ${row.created_at}`,
    )
    expect(links.sort()).toEqual(["named → library 5", "own → library 5", "pinned → archive 20"])
    const counts = await db.read<{ name: string; reference_count: number }>(
      sql`select name, reference_count from vals where reference_count > 0`,
    )
    expect(Object.fromEntries(counts.map((row) => [row.name, row.reference_count]))).toEqual({
      archive: 1,
      library: 2,
    })
  })
})
