import { expect, test } from "bun:test"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import { migrate } from "../database/migrate.ts"
import { sql } from "../database/sql.ts"
import { foldBody, foldText } from "../search/fold-text.ts"
import { createValStore } from "../vals/vals.ts"
import { migrations } from "./index.ts"

const toId = (number: number) => `00000000-0000-7000-8000-00000000000${number}`
const [owner, single, folder, branch] = [toId(1), toId(2), toId(3), toId(4)]

describeEachDatabase("searched-files", (open) => {
  test("keeps what is found, leaves the other files to housekeeping, and counts", async () => {
    const { db } = await open({ isEmpty: true })
    await migrate(
      db,
      migrations.filter(({ version }) => version < 38),
    )
    await db.write(function* () {
      yield sql`insert into users (id, username, username_key, created_at) values (${owner}, 'ada', 'ada', 1)`
      for (const [id, name] of [
        [single, "single"],
        [folder, "folder"],
      ] as const) {
        const code = `const needle = "${name}"`
        yield sql`insert into vals (id, owner_id, name, name_key, privacy, created_at, updated_at)
          values (${id}, ${owner}, ${name}, ${name}, 'public', 1, 1)`
        yield sql`insert into branches (id, val_id, name, name_key, version, version_last, created_at, updated_at)
          values (${id}, ${id}, 'main', 'main', 2, 2, 1, 1)`
        for (const version of [1, 2])
          yield sql`insert into versions (branch_id, version, created_at, author_id, entry_path, entry_since)
            values (${id}, ${version}, 1, ${owner}, 'main.tsx', 1)`
        yield sql`insert into files (id, branch_id, path) values (${id}, ${id}, 'main.tsx')`
        yield sql`insert into states (branch_id, path, since, file_id, type, created_at, content)
          values (${id}, 'main.tsx', 1, ${id}, 'script', 1, ${code})`
        yield sql`insert into search_texts (val_id, is_public, name, body)
          values (${id}, 1, ${foldText(name)}, ${foldBody({ code, readme: null })})`
      }
      yield sql`insert into branches (id, val_id, name, name_key, version, version_last, created_at, updated_at)
        values (${branch}, ${folder}, 'try', 'try', 0, 0, 1, 1)`
      for (const [path, since, type, content] of [
        ["lib", 1, "directory", null],
        ["lib/a.ts", 1, "script", "const äther = 1"],
        ["lib/a.ts", 2, "script", "const haystack = 1"],
        ["gone.txt", 1, "file", "gone"],
        ["gone.txt", 2, null, null],
      ] as const) {
        const fileId = Bun.randomUUIDv7()
        yield sql`insert into files (id, branch_id, path) values (${fileId}, ${folder}, ${path})`
        yield sql`insert into states (branch_id, path, since, file_id, type, created_at, content)
          values (${folder}, ${path}, ${since}, ${fileId}, ${type}, 1, ${content})`
      }
    })

    await migrate(db, migrations)

    const vals = createValStore(db)
    const search = async (query: string) => {
      const { items } = await vals.search(undefined, query, { limit: 10, offset: 0 })
      return items.map(({ name, foundPath }) => [name, foundPath])
    }
    expect((await search("needle")).toSorted()).toEqual([
      ["folder", "main.tsx"],
      ["single", "main.tsx"],
    ])
    expect(await search("haystack")).toEqual([])
    const counted = await db.read<{ branchCount: number; fileCount: number; bytes: number }>(
      sql`select branch_count, file_count, bytes from vals v join branches b on b.id = v.id order by v.id`,
    )
    // PostgreSQL returns 64-bit integers as text.
    expect(counted.map((row) => [row.branchCount, row.fileCount, Number(row.bytes)])).toEqual([
      [1, 1, 23],
      [2, 2, 23 + 16 + 18 + 4],
    ])

    expect(await vals.indexBacklog(1)).toBe(false)
    expect(await search("haystack")).toEqual([["folder", "lib/a.ts"]])
    expect([await search("äther"), await search("gone")]).toEqual([[], []])
  })
})
