import { expect, test } from "bun:test"
import type { Cursor } from "@hamlet/contract"
import { type Database, sql } from "@hamlet/database"
import { insertValRows } from "../../../test/support/data/insert-val-rows.ts"
import {
  describeEachDatabase,
  describePostgres,
  openAgain,
} from "../../../test/support/databases.ts"
import { toEndedRun } from "../../../test/support/fakes/ended-run.ts"
import { asOwner } from "../../domain/access/rights.ts"
import { AppError } from "../../domain/app-error.ts"
import type { RunRecord, RunStore } from "../../domain/runs/runs.ts"
import { findPartitionTables } from "./partition-tables.ts"
import { firstIdOf } from "./run-partitions.ts"
import { createRunStore } from "./runs.ts"

const user = Bun.randomUUIDv7()
const val = Bun.randomUUIDv7()
const everything = { error: undefined, sources: undefined, since: undefined, until: undefined }
const dayMs = 86_400_000
const keptMs = 30 * dayMs
const today = Math.floor(Date.now() / dayMs) * dayMs
const daysAgo = (days: number) => today - days * dayMs

async function addVal(db: Database) {
  await db.write(function* () {
    yield sql`insert into users (id, username, username_key, created_at) values (${user}, 'ada', 'ada', 1)`
    yield* insertValRows({ id: val, ownerId: user, name: "hello" })
  })
  return createRunStore(db)
}

const toRun = (startedAt: number, more: Partial<RunRecord> = {}) =>
  toEndedRun({
    valId: val,
    ownerId: user,
    startedAt,
    endedAt: startedAt + 5,
    id: Bun.randomUUIDv7("hex", startedAt),
    ...more,
  })

/** A round of housekeeping waits for the next one where a vacuum has a lock. */
async function keep({ addPartitions, dropPartitions }: RunStore, ms: number) {
  for (;;)
    try {
      await addPartitions(ms)
      return await dropPartitions(ms)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
    }
}

/** Partitions of five days in the past, where the database has any; without the first one. */
async function addPast(db: Database) {
  const tables = findPartitionTables(db.dialect)
  if (!tables) return
  await db.write(() => tables.drop("before"))
  for (const [index, days] of [40, 35, 30, 5, 0, -5].entries())
    await db.write(() =>
      tables.add({
        name: `p${index}`,
        isReserved: false,
        from: firstIdOf(daysAgo(days)),
        to: firstIdOf(daysAgo(days - 5)),
      }),
    )
}

async function listNames(db: Database) {
  const tables = findPartitionTables(db.dialect)
  const found = tables ? await db.read<{ name: string }>(tables.list) : []
  return found.map(({ name }) => name)
}

describeEachDatabase("runs of several partitions", (open) => {
  test("are listed in order, page by page, wherever they are", async () => {
    const { db } = await open()
    const runs = await addVal(db)
    await addPast(db)
    const made = [60, 38, 35.001, 35, 34.999, 10, 4, 0.5, 0, -4.999, -5, -40].map((days) =>
      toRun(daysAgo(days), { source: days > 20 ? "http" : "api", status: "failed" }),
    )
    await runs.record(
      made.toSorted((left, right) => (left.id.slice(-4) < right.id.slice(-4) ? 1 : -1)),
    )
    const newestFirst = made.map(({ id }) => id).reverse()
    for (const filter of [everything, { ...everything, statuses: ["failed"] as const }])
      for (const limit of [1, 5]) {
        const listed: string[] = []
        for (let cursor: Cursor | undefined; ; ) {
          const page = { limit, offset: 0, cursor }
          const { items, next } = await runs.listOfVal(val, undefined, filter, page)
          listed.push(...items.map(({ id }) => id))
          if (next === undefined) break
          cursor = { keys: next }
        }
        expect(listed).toEqual(newestFirst)
      }
    for (const { id, startedAt } of made)
      expect(await runs.find(asOwner(user), id)).toMatchObject({ startedAt })
    const { items } = await runs.listOfAccount(
      asOwner(user),
      { ...everything, since: daysAgo(35), until: daysAgo(-5), sources: ["http", "api"] },
      { limit: 20, offset: 0 },
    )
    expect(items.map(({ id }) => id)).toEqual(newestFirst.slice(1, 8))
  })

  test("expire by age, unless they have not ended", async () => {
    const { db } = await open()
    const runs = await addVal(db)
    await addPast(db)
    const open60 = toRun(daysAgo(60), { status: "running", endedAt: null })
    const open38 = toRun(daysAgo(38), { status: "queued", endedAt: null })
    const [old, young] = [toRun(daysAgo(39)), toRun(daysAgo(29))]
    await runs.record([toRun(daysAgo(60)), open60, old, open38, young])
    await db.write(function* () {
      for (const { id } of [old, open38, young])
        yield sql`insert into incoming_mails (run_id, email) values (${id}, '{}')`
    })
    const expire = async () => {
      await keep(runs, keptMs)
      while (await runs.purgeOlder(Date.now() - keptMs, 10));
      const rows = await db.read<{ id: string }>(sql`select id from runs order by id`)
      return rows.map(({ id }) => id)
    }

    expect(await expire()).toEqual([open60.id, open38.id, young.id])
    expect(await db.read(sql`select run_id from incoming_mails order by run_id`)).toEqual([
      { runId: open38.id },
      { runId: young.id },
    ])

    await runs.record([{ ...open38, status: "succeeded", endedAt: Date.now() }])
    expect(await runs.find(asOwner(user), open38.id)).toMatchObject({ status: "succeeded" })
    expect(await expire()).toEqual([open60.id, young.id])
    expect(await db.read(sql`select run_id from incoming_mails`)).toEqual([{ runId: young.id }])
  })
})

describePostgres("partitions of runs", (open) => {
  const added = (days: number) =>
    new Date(daysAgo(days)).toISOString().slice(0, 10).split("-").join("")

  test("drops exactly the partitions whose runs have all expired", async () => {
    const { db } = await open()
    const runs = await addVal(db)
    await addPast(db)
    const made = [36, 31, 29].map((days) => toRun(daysAgo(days)))
    await runs.record(made)
    await db.write(function* () {
      for (const { id } of made)
        yield sql`insert into run_responses (run_id, response) values (${id}, 'null')`
    })

    await keep(runs, 36 * dayMs)
    expect(await listNames(db)).toEqual(["p0", "p1", "p2", "p3", "p4", "p5", "rest"])
    await keep(runs, 31 * dayMs)
    expect(await listNames(db)).toEqual(["p1", "p2", "p3", "p4", "p5", "rest"])
    const left = made.slice(1).map(({ id }) => id)
    expect(await db.read(sql`select id from runs order by id`)).toEqual(left.map((id) => ({ id })))
    expect(await db.read(sql`select run_id as id from run_responses order by 1`)).toEqual(
      left.map((id) => ({ id })),
    )
  })

  test("leaves each partition with the texts that lists read, and the log lines apart", async () => {
    const { db } = await open()
    const runs = await addVal(db)
    await keep(runs, keptMs)
    const message = "request 1 took 12 ms".repeat(100)
    const logs = Array.from({ length: 5 }, () => ({ at: "", level: "log", message }) as const)
    const made = [daysAgo(0), daysAgo(-9), daysAgo(-900)].map((at) =>
      toRun(at, { logs, lastLine: "x".repeat(400), returnValue: message }),
    )
    await runs.record(made)
    for (const table of ["runs_before", `runs_${added(-8)}`, "runs_rest"]) {
      const [stored] = await db.read<{ apart: number }>(sql`
        select pg_relation_size(reltoastrelid)::int as apart from pg_class where oid = to_regclass(${table})`)
      // Compressed, they would fit into a row of 2 KB.
      expect(stored?.apart).toBeGreaterThan(0)
    }
    for (const { id } of made) expect(await runs.find(asOwner(user), id)).toMatchObject({ logs })
  })

  test("adds the next partitions once, also when nodes do it together", async () => {
    const database = await open()
    const other = await openAgain(database)
    const own = createRunStore(database.db)
    const all = [own, createRunStore(other)]
    await Promise.all([...all, ...all].map((runs) => keep(runs, keptMs)))
    await other.stop()
    const names = await listNames(database.db)
    expect(names).toEqual([added(-8), "before", "rest"])
    await keep(own, keptMs)
    expect(await listNames(database.db)).toEqual(names)
  })

  test("moves the runs of a node whose clock is ahead into their partition", async () => {
    const { db } = await open()
    const runs = await addVal(db)
    const [ahead, far] = [toRun(daysAgo(-9)), toRun(daysAgo(-900))]
    await runs.record([{ ...ahead, status: "running", endedAt: null }, far])
    const tableOf = async ({ id }: RunRecord) =>
      (await db.read(sql`select tableoid::regclass::text as name from runs where id = ${id}`))[0]
    expect(await tableOf(ahead)).toEqual({ name: "runs_rest" })

    await keep(runs, keptMs)
    expect(await tableOf(ahead)).toEqual({ name: `runs_${added(-8)}` })
    expect(await tableOf(far)).toEqual({ name: "runs_rest" })
    await runs.record([ahead])
    expect(await runs.find(asOwner(user), ahead.id)).toMatchObject({ status: "succeeded" })
    expect(await runs.find(asOwner(user), far.id)).toBeDefined()
  })

  test("are added where the rest has too many runs to read or to move while others wait", async () => {
    const { db } = await open()
    const runs = await addVal(db)
    await runs.record([toRun(daysAgo(-900))])
    const days = firstIdOf(daysAgo(-9)).slice(0, 24)
    await db.write(function* () {
      yield sql`insert into runs select made.* from runs_rest one, generate_series(1, 10001) n,
        jsonb_populate_record(null::runs, to_jsonb(one) || jsonb_build_object('id', ${days} || lpad(to_hex(n), 12, '0'))) made`
    })

    await keep(runs, 2 * keptMs)
    // The new partition begins after the newest rows, and none of them are read while others wait.
    expect(await listNames(db)).toEqual([added(-10), "before", "rest"])
    await runs.record([toRun(daysAgo(-10)), toRun(daysAgo(-9)), toRun(daysAgo(-900))])
    const counts = sql`select tableoid::regclass::text as name, count(*)::int as count from runs group by 1 order by 1`
    expect(await db.read(counts)).toEqual([
      { name: `runs_${added(-10)}`, count: 1 },
      { name: "runs_rest", count: 10_004 },
    ])
  })

  test("waits for another round while a transaction reads runs, and lets others read", async () => {
    const database = await open()
    const { db } = database
    const runs = await addVal(db)
    await runs.record([toRun(today)])
    const reading = Promise.withResolvers<void>()
    const hasRead = Promise.withResolvers<void>()
    const client = new Bun.SQL(database.url ?? "", { max: 1 })
    const transaction = client.begin(async (it) => {
      await it`select * from runs`
      hasRead.resolve()
      await reading.promise
    })
    await hasRead.promise
    await expect(runs.addPartitions(keptMs)).rejects.toMatchObject({
      code: "database_unavailable",
    })
    expect(await db.read(sql`select count(*)::int as count from runs`)).toEqual([{ count: 1 }])
    reading.resolve()
    await transaction
    await client.close()
    await keep(runs, keptMs)
    expect(await listNames(db)).toHaveLength(3)
  })
})
