import { beforeEach, expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import { insertValRows } from "../../../test/support/data/insert-val-rows.ts"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import type { VersionFileStore } from "../../domain/modules/graph/version-files.ts"
import { createVersionFileStore } from "./version-files.ts"

describeEachDatabase("findPath", (open) => {
  const [user, val, file] = [Bun.randomUUIDv7(), Bun.randomUUIDv7(), Bun.randomUUIDv7()]
  let files: VersionFileStore

  /** The file is at `a.ts` in version 2, at `b.ts` from version 3 on, and is deleted in version 5. */
  beforeEach(async () => {
    const { db } = await open()
    files = createVersionFileStore(db)
    const states = [
      ["a.ts", 2, "script"],
      ["a.ts", 3, null],
      ["b.ts", 3, "script"],
      ["b.ts", 5, null],
    ] as const
    await db.write(function* () {
      yield sql`insert into users (id, username, username_key, created_at) values (${user}, 'ada', 'ada', 1)`
      yield* insertValRows({ id: val, ownerId: user, name: "hello" })
      yield sql`insert into files (id, branch_id, path) values (${file}, ${val}, 'b.ts')`
      for (const [path, since, type] of states)
        yield sql`insert into states (branch_id, path, since, file_id, type, created_at, content)
          values (${val}, ${path}, ${since}, ${file}, ${type}, 1, ${type === null ? null : "1"})`
    })
  })

  test("finds where a file was in a version, and nothing where it was not", async () => {
    const paths = await Promise.all(
      [1, 2, 3, 4, 5, 6].map((version) => files.findPath(val, version, file)),
    )
    expect(paths).toEqual([undefined, "a.ts", "b.ts", "b.ts", undefined, undefined])
  })

  test("finds no file of another branch", async () => {
    expect(await files.findPath(Bun.randomUUIDv7(), 4, file)).toBeUndefined()
  })
})
