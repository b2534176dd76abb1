import { expect, test } from "bun:test"
import { migrate, sql } from "@hamlet/database"
import { insertValRows } from "../../../test/support/data/insert-val-rows.ts"
import {
  describeEachDatabase,
  describePostgres,
  openAgain,
  type TestDatabase,
} from "../../../test/support/databases.ts"
import { toEndedRun } from "../../../test/support/fakes/ended-run.ts"
import { asOwner } from "../../domain/access/rights.ts"
import { createRunStore } from "../runs/runs.ts"
import { migrations } from "./index.ts"

const user = Bun.randomUUIDv7()
const val = Bun.randomUUIDv7()
const everything = { error: undefined, sources: undefined, since: undefined, until: undefined }
const toRun = (startedAt: number) =>
  toEndedRun({
    valId: val,
    ownerId: user,
    startedAt,
    source: "email",
    id: Bun.randomUUIDv7("hex", startedAt),
    logs: [],
  })

/** A database with the schema before, and runs with mails and responses. */
async function setUp({ db }: TestDatabase) {
  await migrate(
    db,
    migrations.filter(({ version }) => version < 43),
  )
  const made = [1_000, Date.now() - 1_000, Date.now()].map(toRun)
  const runs = createRunStore(db)
  await db.write(function* () {
    yield sql`insert into users (id, username, username_key, created_at) values (${user}, 'ada', 'ada', 1)`
    yield* insertValRows({ id: val, ownerId: user, name: "hello" })
  })
  await runs.record(made)
  await db.write(function* () {
    for (const { id } of made) {
      yield sql`insert into incoming_mails (run_id, email) values (${id}, '{}')`
      yield sql`insert into run_responses (run_id, response) values (${id}, 'null')`
    }
  })
  return { runs, made }
}

describeEachDatabase("run-partitions", (open) => {
  test("leaves runs as they were, and their mails are deleted with them", async () => {
    const database = await open({ isEmpty: true })
    const { db } = database
    const { runs, made } = await setUp(database)
    const list = async () =>
      (await runs.listOfVal(val, undefined, everything, { limit: 10, offset: 0 })).items
    const before = await list()
    expect(before).toHaveLength(3)

    await migrate(db, migrations)

    expect(await list()).toEqual(before)
    const [old] = made
    if (!old) throw new Error("there is no run")
    await runs.record([{ ...old, status: "failed" }])
    expect(await runs.find(asOwner(user), old.id)).toMatchObject({ status: "failed" })
    await db.write(function* () {
      yield sql`delete from runs where id = ${old.id}`
    })
    expect(await list()).toEqual(before.slice(0, 2))
    expect(await db.read(sql`select run_id from incoming_mails`)).toHaveLength(2)
  })
})

describePostgres("run-partitions", (open) => {
  const parts = sql`
    select relname::text as name from pg_class where relispartition and relkind = 'r' order by 1`

  test("continues after a process that was killed in the preparation", async () => {
    const database = await open({ isEmpty: true })
    const { db } = database
    await setUp(database)
    const bound = "01ffffff-ffff-0000-0000-000000000000"
    await db.write(function* () {
      yield sql`alter table runs add constraint runs_bound check (id < '01ffffff-ffff-0000-0000-000000000000') not valid`
      yield sql`alter table run_responses add constraint run_responses_bound check (run_id < '01ffffff-ffff-0000-0000-000000000000') not valid`
    })
    await migrate(db, migrations)
    const [before] = await db.read<{ bound: string }>(
      sql`select pg_get_expr(relpartbound, oid) as bound from pg_class where relname = 'runs_before'`,
    )
    expect(before?.bound).toContain(bound)
    expect(
      await db.read(sql`select conname from pg_constraint where conname like '%\\_bound'`),
    ).toEqual([])
  })

  test("takes its promise back where a run contradicts it, and makes another at the next start", async () => {
    const database = await open({ isEmpty: true })
    const { db } = database
    const { runs } = await setUp(database)
    await runs.record([toRun(Date.parse("2040-01-01"))])
    await db.write(function* () {
      yield sql`alter table runs add constraint runs_bound check (id < '01ffffff-ffff-0000-0000-000000000000') not valid`
      yield sql`alter table run_responses add constraint run_responses_bound check (run_id < '01ffffff-ffff-0000-0000-000000000000') not valid`
    })
    await expect(migrate(db, migrations)).rejects.toThrow()
    expect(
      await db.read(sql`select conname from pg_constraint where conname like '%\\_bound'`),
    ).toEqual([])
    await migrate(db, migrations)
    expect(await db.read(parts)).toHaveLength(4)
    expect(await db.read(sql`select count(*)::int as count from runs_before`)).toEqual([
      { count: 4 },
    ])
  })

  test("waits for a transaction without making others wait for it", async () => {
    const database = await open({ isEmpty: true })
    const { runs } = await setUp(database)
    const other = await openAgain(database)
    const isOpen = Promise.withResolvers<void>()
    const mayEnd = Promise.withResolvers<void>()
    const client = new Bun.SQL(database.url ?? "", { max: 1 })
    const transaction = client.begin(async (it) => {
      await it`select * from runs`
      isOpen.resolve()
      await mayEnd.promise
    })
    await isOpen.promise
    let isMigrated = false
    const migrating = migrate(other, migrations).then(() => {
      isMigrated = true
    })
    // More of them than attempts of the migration to get the lock.
    for (let turn = 0; turn < 50; turn += 1) await runs.record([toRun(Date.now())])
    expect(isMigrated).toBe(false)
    mayEnd.resolve()
    await transaction
    await client.close()
    await migrating
    await other.stop()
    await runs.record([toRun(Date.now())])
    expect(await database.db.read(parts)).toHaveLength(4)
    expect(await database.db.read(sql`select count(*)::int as count from runs`)).toEqual([
      { count: 54 },
    ])
  })
})
