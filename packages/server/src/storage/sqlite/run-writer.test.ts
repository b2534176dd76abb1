import { Database as Connection } from "bun:sqlite"
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { waitUntil } from "@hamlet/kit/testing"
import { insertValRows } from "../../../test/support/data/insert-val-rows.ts"
import { toEndedRun } from "../../../test/support/fakes/ended-run.ts"
import type { RunRecord } from "../../domain/runs/runs.ts"
import { type Database, type RunWrite, rows } from "../database/database.ts"
import { migrate } from "../database/migrate.ts"
import { sql } from "../database/sql.ts"
import { migrations } from "../migrations/index.ts"
import { toRunValues } from "../runs/record-runs.ts"
import { createRunStore } from "../runs/runs.ts"
import { openSqlite } from "./open.ts"
import { SqliteRunWriter } from "./run-writer.ts"

const limits = { preparedMax: 100, openMsMax: 1_000, threadRunsMin: 2, threadBytesMin: 50_000 }
const user = Bun.randomUUIDv7()
const val = Bun.randomUUIDv7()
let folder: string
let path: string
let db: Database
let writer: SqliteRunWriter
let notices: string[]

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "hamlet-test-"))
  path = join(folder, "hamlet.db")
  db = openSqlite(path, limits)
  await migrate(db, migrations)
  await db.write(function* () {
    yield sql`insert into users (id, username, username_key, created_at) values (${user}, 'ada', 'ada', 1)`
    yield* insertValRows({ id: val, ownerId: user, name: "hello", type: "http" })
  })
  notices = []
  writer = new SqliteRunWriter(path, limits, (channel) => void notices.push(channel))
})

afterEach(async () => {
  await writer.stop()
  await db.stop()
  // The last connection that closes removes the WAL: its absence shows that none was left open.
  expect(readdirSync(folder)).toEqual(["hamlet.db"])
  rmSync(folder, { recursive: true })
})

const toRun = (more: Partial<RunRecord> = {}) =>
  toEndedRun({ valId: val, ownerId: user, source: "http", ...more })

const toRuns = (count: number, more: Partial<RunRecord> = {}) =>
  Array.from({ length: count }, () => toRun(more))
const toWrite = (runs: readonly RunRecord[]): RunWrite => ({
  kind: "record",
  runs: runs.map(toRunValues),
})
const toWriteOf = (count: number, more: Partial<RunRecord> = {}) => toWrite(toRuns(count, more))
const done = { value: false }
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
const countRuns = async () =>
  (await db.read<{ n: number }>(sql`select count(*) as n from runs`))[0]?.n ?? 0

/** The first call returns false and starts the thread. */
async function ready(write: RunWrite): Promise<void> {
  await waitUntil(() => writer.canWrite(write))
}

describe("SqliteRunWriter", () => {
  test("starts for a batch that is large enough, and takes every batch once it is ready", async () => {
    for (let turn = 0; turn < 50; turn++) {
      expect(writer.canWrite(toWriteOf(1))).toBe(false)
      await nextTurn()
    }
    expect(writer.isReady).toBe(false)
    expect(writer.canWrite(toWriteOf(2))).toBe(false)
    await ready(toWriteOf(2))
    expect(writer.canWrite(toWriteOf(1))).toBe(true)
  })

  test("starts for a single large run too", async () => {
    const large = toWriteOf(1, { returnValue: "x".repeat(limits.threadBytesMin) })
    expect(writer.canWrite(large)).toBe(false)
    await waitUntil(() => writer.isReady)
    expect(writer.canWrite(toWriteOf(1))).toBe(true)
  })

  test("writes runs that other connections then read unchanged", async () => {
    const odd = {
      error: { name: "Error", message: 'no\u0000\ud800"\\' },
      request: { method: "GET", url: "http://x/\u2028", status: 200 },
    }
    const runs = toRuns(150, odd)
    await ready(toWrite(runs))
    expect(await writer.write(toWrite(runs))).toMatchObject(done)
    expect(await countRuns()).toBe(150)
    expect(await createRunStore(db).find(user, runs[149]?.id ?? "")).toMatchObject({
      ...odd,
      args: [],
      startedAt: 1,
      endedAt: 2,
    })
    expect(
      await db.read(sql`select run_started_at, run_ended_at from vals where id = ${val}`),
    ).toEqual([{ runStartedAt: 1, runEndedAt: 2 }])
  })

  test("tells of messages to webhooks that its runs have caused", async () => {
    await ready(toWriteOf(2))
    await writer.write(toWriteOf(2))
    expect(notices).toEqual([])
    await db.write(function* () {
      yield sql`insert into webhooks (id, owner_id, url, events, has_run_events, status, key_id, sealed, created_at, updated_at)
        values (${Bun.randomUUIDv7()}, ${user}, 'https://x.example/', '["run.succeeded"]', 1, 'active', 'k', ${Buffer.of(1)}, 1, 1)`
    })
    await writer.write(toWriteOf(2))
    expect(notices).toEqual(["hamlet_webhook_deliveries"])
  })

  test("deletes old runs", async () => {
    await ready(toWriteOf(2))
    const runs = toRuns(5).map((run, at) => ({ ...run, startedAt: at, endedAt: at }))
    await writer.write(toWrite(runs))
    const purge: RunWrite = { kind: "purge_beyond", valId: val, keptMax: 2, runsMax: 2 }
    expect(await writer.write(purge)).toMatchObject({ value: true })
    expect(await writer.write(purge)).toMatchObject({ value: false })
    expect(await db.read(sql`select started_at from runs order by started_at`)).toEqual([
      { startedAt: 3 },
      { startedAt: 4 },
    ])
  })

  test("writes nothing while another process writes, and never a part of a batch", async () => {
    await ready(toWriteOf(2))
    const other = new Connection(path)
    other.run("begin immediate")
    expect(await writer.write(toWriteOf(2))).toBe("failed")
    other.run("rollback")
    other.close()
    const bad = toRun({ source: "nobody" as RunRecord["source"] })
    expect(await writer.write(toWrite([...toRuns(100), bad]))).toBe("failed")
    expect(await countRuns()).toBe(0)
    expect(await writer.write(toWriteOf(2))).toMatchObject(done)
  })

  test("writes nothing to a file that it cannot open", async () => {
    const lost = new SqliteRunWriter(join(folder, "missing", "hamlet.db"), limits, () => {})
    expect(lost.canWrite(toWriteOf(2))).toBe(false)
    await lost.stop()
    expect(lost.canWrite(toWriteOf(2))).toBe(false)
    expect(await lost.write(toWriteOf(2))).toBe("failed")
  })

  test("can be stopped before it is ready", async () => {
    writer.canWrite(toWriteOf(2))
    await writer.stop()
    expect(await writer.write(toWriteOf(2))).toBe("failed")
  })
})

describe("openSqlite with a run writer", () => {
  const record = (runs: readonly RunRecord[]) => createRunStore(db).record(runs)

  /** Until the thread is ready, the main thread writes runs. */
  async function warmUp(): Promise<void> {
    await record(toRuns(2))
    await waitUntil(() => db.stats().connections >= 3)
  }

  test("keeps the order of writes, whichever connection does them", async () => {
    await warmUp()
    const runs = toRuns(200, { status: "running", startedAt: 2, endedAt: null })
    const ended = runs.map((run) => ({ ...run, status: "succeeded" as const, endedAt: 3 }))
    const all: Promise<unknown>[] = []
    for (const write of [
      () => record(runs),
      () => db.write(() => changeStatus("running", "queued")),
      () => record(ended),
      () => db.write(() => changeStatus("succeeded", "crashed")),
      () => db.write(() => changeStatus("crashed", "failed")),
    ]) {
      all.push(write())
      // Some arrive while the thread is writing.
      await nextTurn()
    }
    expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual(
      all.map(() => "fulfilled"),
    )
  })

  /** Fails unless all runs are as expected. */
  function* changeStatus(from: string, to: string) {
    const changed = yield* rows(
      sql`update runs set status = ${to} where status = ${from} and started_at = ${2} returning id`,
    )
    if (changed.length !== 200) throw new Error(`${changed.length} runs are ${from}`)
  }

  test("changes the change count before a write is acknowledged", async () => {
    await warmUp()
    let isOver = false
    // Reads the change count at the beginning of a turn, before the reply of the thread arrives.
    const ask = () => {
      if (isOver) return
      db.changeCount?.()
      setImmediate(ask)
    }
    ask()
    for (let round = 0; round < 50; round++) {
      const before = db.changeCount?.()
      await record(toRuns(2))
      expect(db.changeCount?.()).not.toBe(before)
    }
    isOver = true
  })

  test("writes runs itself that the thread could not write, and reports the error", async () => {
    await warmUp()
    const before = await countRuns()
    const bad = toRun({ source: "nobody" as RunRecord["source"] })
    expect(await record([...toRuns(2), bad]).catch((error: Error) => error.name)).toBe(
      "ConstraintError",
    )
    expect(await countRuns()).toBe(before)
    const other = new Connection(path)
    other.run("begin immediate")
    const waiting = record(toRuns(2))
    await nextTurn()
    other.run("rollback")
    other.close()
    await waiting
    expect(await countRuns()).toBe(before + 2)
  })

  test("returns what the thread has found", async () => {
    await warmUp()
    const { purgeBeyond } = createRunStore(db)
    const count = await countRuns()
    expect(await purgeBeyond(val, 0, count)).toBe(true)
    expect(await purgeBeyond(val, 0, count)).toBe(false)
    expect(await countRuns()).toBe(0)
  })

  test("finishes earlier writes before it stops", async () => {
    await warmUp()
    const before = await countRuns()
    const writing = [record(toRuns(200)), record(toRuns(200))]
    await Promise.resolve()
    await db.stop()
    await Promise.all(writing)
    db = openSqlite(path, limits)
    expect(await countRuns()).toBe(before + 400)
  })
})
