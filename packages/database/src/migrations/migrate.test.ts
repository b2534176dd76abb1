import { expect, test } from "bun:test"
import { SQL } from "bun"
import type { Database } from "../database.ts"
import { sql } from "../sql.ts"
import { describeEachDatabase, describePostgres } from "../testing/empty-databases.ts"
import { openAgain, type TestDatabase } from "../testing/test-databases.ts"
import { type Migration, migrate } from "./migrate.ts"

const program = new URL("../testing/migrating-child.ts", import.meta.url).pathname

function spawnMigration(database: TestDatabase, isToStop: boolean) {
  const args = [database.url ?? "", database.path ?? "", isToStop ? "stop" : ""]
  return Bun.spawn([process.execPath, program, ...args], { stdout: "pipe", stderr: "inherit" })
}

const migration = (version: number, ...statements: string[]): Migration => ({
  version,
  name: `step ${version}`,
  statements: () => statements,
})

const appliedIn = async (db: Database) =>
  (
    await db.read<{ version: number }>(sql`select version from schema_migrations order by version`)
  ).map(({ version }) => version)

const first = migration(1, "create table one (a integer)")
const second = migration(2, "create table two (a integer)", "insert into two values (2)")

describeEachDatabase("migrate", (open) => {
  test("applies missing migrations in order, and returns the versions before and after", async () => {
    const { db } = await open()

    expect(await migrate(db, [first])).toEqual({ from: 0, to: 1 })
    expect(await migrate(db, [first, second])).toEqual({ from: 1, to: 2 })
    expect(await migrate(db, [first, second])).toEqual({ from: 2, to: 2 })

    expect(await db.read(sql`select a from two`)).toEqual([{ a: 2 }])
    expect(
      await db.read(sql`select version, name from schema_migrations order by version`),
    ).toEqual([
      { version: 1, name: "step 1" },
      { version: 2, name: "step 2" },
    ])
  })

  test("keeps the migrations before one that fails, and nothing of that one", async () => {
    const { db } = await open()
    const broken = migration(2, "create table two (a integer)", "create table two (a integer)")

    await expect(migrate(db, [first, broken])).rejects.toThrow(/two.*already exists/)

    expect(await appliedIn(db)).toEqual([1])
    await expect(db.read(sql`select a from two`)).rejects.toThrow()
    expect(await migrate(db, [first, second])).toEqual({ from: 1, to: 2 })
  })

  test("refuses a database that is older than the base, and does not change it", async () => {
    const { db } = await open()
    await migrate(db, [first, second])

    await expect(
      migrate(db, [{ ...migration(3, "create table three (a integer)"), release: "0.2.0" }]),
    ).rejects.toMatchObject({
      code: "database_unavailable",
      message:
        "Cannot use the database: its schema is 2, and this version of Hamlet needs 3 or newer; start Hamlet 0.2.0 on it once, then this version",
    })
    expect(await appliedIn(db)).toEqual([1, 2])
    await expect(db.read(sql`select a from three`)).rejects.toThrow()
  })

  test("refuses a database that a newer version has written", async () => {
    const { db } = await open()
    await migrate(db, [first, second, migration(3)])

    await expect(migrate(db, [first, second])).rejects.toMatchObject({
      code: "database_unavailable",
      message:
        'Cannot use the database: a newer version of Hamlet has written it (its schema is 3 "step 3", this version knows up to 2)',
    })
    expect(await appliedIn(db)).toEqual([1, 2, 3])
  })

  test("starts on a newer schema that works with the one it knows, and on no other", async () => {
    const { db } = await open()
    const third: Migration = { ...migration(3), worksWith: 2 }
    await migrate(db, [first, second, third, { ...migration(4), worksWith: 2 }])

    expect(await migrate(db, [first, second])).toEqual({ from: 4, to: 2 })
    await expect(migrate(db, [first])).rejects.toThrow(
      '(its schema is 4 "step 4", this version knows up to 1)',
    )
    await migrate(db, [first, second, third, migration(4), migration(5)])
    await expect(migrate(db, [first, second])).rejects.toThrow('its schema is 5 "step 5"')
    expect(await appliedIn(db)).toEqual([1, 2, 3, 4, 5])
  })

  test("refuses migrations that are not in order", async () => {
    const { db } = await open()

    await expect(migrate(db, [second, first])).rejects.toThrow(
      "Cannot migrate: version 1 is out of order",
    )
  })

  test("lets processes that start together take turns", async () => {
    const database = await open()

    const children = [1, 2, 3].map(() => spawnMigration(database, false))
    const outputs = await Promise.all(children.map((child) => new Response(child.stdout).text()))
    const exits = await Promise.all(children.map((child) => child.exited))

    expect(exits).toEqual([0, 0, 0])
    expect(outputs.map((output) => output.endsWith(" 2\n"))).toEqual([true, true, true])
    expect(await database.db.read(sql`select a from whole`)).toEqual([{ a: 1 }])
  })

  test("prepares each migration before it applies it, also when another node is faster", async () => {
    const { db } = await open()
    const steps: string[] = []
    const overtaken: Migration = {
      ...first,
      async prepare() {
        await migrate(db, [first])
      },
    }
    const last: Migration = {
      ...second,
      async prepare() {
        steps.push("prepared")
      },
      statements: (dialect) => {
        steps.push("applied")
        return second.statements(dialect)
      },
    }

    expect(await migrate(db, [overtaken, last])).toEqual({ from: 0, to: 2 })

    expect(steps).toEqual(["prepared", "applied"])
  })

  test("leaves the previous schema when it is killed in the middle", async () => {
    const database = await open()
    const child = spawnMigration(database, true)

    let output = ""
    for await (const chunk of child.stdout) {
      output += new TextDecoder().decode(chunk)
      if (output.includes("half-way")) child.kill("SIGKILL")
    }
    await child.exited

    expect(child.signalCode).toBe("SIGKILL")
    expect(await appliedIn(database.db)).toEqual([1])
    const again = await openAgain(database)
    const applied = await migrate(again, [
      migration(1),
      migration(2, "create table half (a integer)"),
    ])
    await again.stop()
    expect(applied).toEqual({ from: 1, to: 2 })
  })
})

describePostgres("migrate, while a long transaction holds a table,", (open) => {
  test("lets requests go on, says that it waits, and goes on after it", async () => {
    const database = await open()
    const { db } = database
    await migrate(db, [first, second])
    const holder = new SQL(database.url ?? "", { max: 1 })
    const other = await openAgain(database)
    try {
      await holder.unsafe("begin; select a from two")
      const waits: [string, number][] = []
      const third = migration(
        3,
        "alter table one add column b integer",
        "alter table two add column b integer",
      )
      const migrating = migrate(other, [first, second, third], (...wait) => waits.push(wait))
      for (let turn = 1; waits.length < 2; turn += 1) {
        await db.writeOne(sql`insert into one (a) values (${turn})`)
        await db.writeOne(sql`update two set a = ${turn}`)
        await db.read(sql`select a from two`)
      }
      expect(waits.slice(0, 2)).toEqual([
        ["step 3", 1],
        ["step 3", 2],
      ])
      expect(await appliedIn(db)).toEqual([1, 2])
      await holder.unsafe("commit")
      expect(await migrating).toEqual({ from: 2, to: 3 })
    } finally {
      await holder.close()
      await other.stop()
    }
  })
})
