import { expect, test } from "bun:test"
import { sql } from "../sql.ts"
import { describeEachDatabase } from "../testing/empty-databases.ts"
import { openAgain } from "../testing/test-databases.ts"
import { migrate } from "./migrate.ts"
import { guardSchema, NewerSchema } from "./schema-guard.ts"

const newestKnown = 1
const notes = {
  version: newestKnown,
  name: "notes",
  statements: () => ["create table notes (name text)"],
}

describeEachDatabase("guardSchema", (open) => {
  test("refuses writes once another node has migrated the database, reports it once, and still reads", async () => {
    const database = await open()
    const other = await openAgain(database)
    const said: string[] = []
    await migrate(database.db, [notes])
    const { db, check } = guardSchema(database.db, newestKnown, (problem) => said.push(problem))
    // The verbs of stores write through the guard too.
    const note = (name: string) => db.run`insert into notes (name) values (${name})`
    const names = async () =>
      (await db.read<{ name: string }>`select name from notes order by name`).map(
        ({ name }) => name,
      )
    try {
      await check()
      await note("before")
      await other.write(function* () {
        yield sql`insert into schema_migrations (version, name, applied_at) values (${newestKnown + 2}, 'beside', 1)`
        yield sql`insert into schema_compatibility (version, works_with) values (${newestKnown + 2}, ${newestKnown})`
      })
      await check()
      await note("beside")
      await other.write(function* () {
        yield sql`insert into schema_migrations (version, name, applied_at) values (${newestKnown + 1}, 'later', 1)`
      })
      const refusal = {
        code: "database_unavailable",
        message:
          "Cannot write to the database: a newer version of Hamlet has migrated it " +
          `(its schema is ${newestKnown + 1} "later", this one knows up to ${newestKnown}); upgrade this node`,
      }
      for (let beat = 0; beat < 2; beat++) await expect(check()).rejects.toMatchObject(refusal)
      await expect(note("after")).rejects.toMatchObject(refusal)
      await expect(note("after")).rejects.toBeInstanceOf(NewerSchema)
      expect(said).toEqual([refusal.message])
      expect(await names()).toEqual(["before", "beside"])
    } finally {
      await other.stop()
    }
  })
})
