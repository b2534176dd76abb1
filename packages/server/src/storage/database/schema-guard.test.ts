import { expect, test } from "bun:test"
import { describeEachDatabase, openAgain } from "../../../test/support/databases.ts"
import { migrations } from "../migrations/index.ts"
import { guardSchema, NewerSchema } from "./schema-guard.ts"
import { sql } from "./sql.ts"

describeEachDatabase("guardSchema", (open) => {
  test("refuses writes once another node has migrated the database, reports it once, and still reads", async () => {
    const database = await open()
    const other = await openAgain(database)
    const said: string[] = []
    const newestKnown = migrations.at(-1)?.version ?? 0
    const { db, check } = guardSchema(database.db, newestKnown, (problem) => said.push(problem))
    // The verbs of stores write through the guard too.
    const note = (name: string) =>
      db.run`insert into users (id, username, username_key, created_at) values (${Bun.randomUUIDv7()}, ${name}, ${name}, 1)`
    const names = async () =>
      (await db.read<{ username: string }>(sql`select username from users order by id`)).map(
        ({ username }) => username,
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
