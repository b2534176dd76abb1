import { expect, test } from "bun:test"
import { type Database, sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import { insertValRows } from "../../../test/support/data/insert-val-rows.ts"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import { LiveRuns } from "../../domain/runs/live-runs.ts"
import type { RunRecord, RunStore, UnrecordedRun } from "../../domain/runs/runs.ts"
import { createNodeStore } from "../nodes.ts"
import { createRunStore } from "../runs/runs.ts"
import { createQueueStore } from "./queue.ts"

const user = Bun.randomUUIDv7()
const val = Bun.randomUUIDv7()
const error = { name: "NotRecorded", message: "lost" }
const about = {
  valId: val,
  version: 1,
  accountId: user,
  ownerId: user,
  parentId: null,
  args: null,
  request: null,
  input: null,
  depth: 0,
}

describeEachDatabase("giveUpRuns", (open) => {
  async function setUp() {
    const { db } = await open()
    await db.write(function* () {
      yield sql`insert into users (id, username, username_key, created_at) values (${user}, 'ada', 'ada', 1)`
      yield* insertValRows({ id: val, ownerId: user, name: "hello" })
    })
    const nodeId = Bun.randomUUIDv7()
    const node = { id: nodeId, host: "here", pid: 1, pidStarted: nodeId }
    await createNodeStore(db).add(node, 60_000)
    return { db, nodeId, runs: createRunStore(db), queue: createQueueStore(db) }
  }

  const readRun = async (db: Database, id: string) => {
    const [row] = await db.read<{
      status: string
      attempt: number
      error: { name: string } | null
      endedAt: number | null
    }>(sql`select status, attempt, error as error_json, ended_at from runs where id = ${id}`)
    return row
  }

  const toRecord = (nodeId: string, more: Partial<RunRecord> = {}): RunRecord => ({
    ...about,
    id: Bun.randomUUIDv7(),
    nodeId,
    source: "http",
    status: "running",
    startedAt: 5,
    endedAt: null,
    error: null,
    returnValue: null,
    logs: [],
    logsTruncated: false,
    ...more,
  })

  const toUnrecorded = (id: string, more: Partial<UnrecordedRun> = {}): UnrecordedRun => ({
    id,
    fence: 0,
    hasStarted: true,
    delayMs: 0,
    ...more,
  })

  test("ends runs of this node that are over, and no others", async () => {
    const { db, nodeId, runs } = await setUp()
    const [mine, others, ended] = [
      toRecord(nodeId),
      toRecord(Bun.randomUUIDv7()),
      toRecord(nodeId, { status: "succeeded", endedAt: 6 }),
    ]
    await runs.record([mine, others, ended])

    const given = [mine, others, ended].map(({ id }) => toUnrecorded(id))
    const failures = await runs.giveUp(nodeId, given, { error, at: 9 })

    expect(failures.size).toBe(0)
    expect(await readRun(db, mine.id)).toMatchObject({ status: "crashed", error, endedAt: 9 })
    expect((await readRun(db, others.id))?.status).toBe("running")
    expect((await readRun(db, ended.id))?.status).toBe("succeeded")
  })

  test("attempts a claimed run again that has retries, and returns one that had not started", async () => {
    const { db, nodeId, runs, queue } = await setUp()
    const add = (retries: number) =>
      queue.enqueue({ ...about, id: Bun.randomUUIDv7(), source: "api", retries })
    const [retried, crashed, unstarted] = [await add(1), await add(0), await add(0)]
    const claimed = await queue.claim({
      nodeId,
      held: [],
      runsMax: 9,
      after: null,
      roomOf: () => 9,
    })
    const fenceOf = (id: string | null) => claimed.runs.find((run) => run.id === id)?.fence ?? 0

    await runs.giveUp(
      nodeId,
      [
        toUnrecorded(retried ?? "", { fence: fenceOf(retried) }),
        toUnrecorded(crashed ?? "", { fence: fenceOf(crashed) }),
        toUnrecorded(unstarted ?? "", { fence: fenceOf(unstarted), hasStarted: false }),
      ],
      { error, at: 9 },
    )

    expect(await readRun(db, retried ?? "")).toMatchObject({ status: "queued", attempt: 2 })
    expect(await readRun(db, crashed ?? "")).toMatchObject({ status: "crashed", error })
    expect(await readRun(db, unstarted ?? "")).toMatchObject({ status: "queued", attempt: 1 })
  })

  test("LiveRuns leaves no run running whose record is discarded, or dropped in an outage", async () => {
    const { db, nodeId, runs } = await setUp()
    let fails = false
    const record: RunStore["record"] = async (records) => {
      // A bug, which no later attempt mends.
      if (fails && records.some(({ endedAt }) => endedAt !== null)) throw new Error("It is a bug")
      return runs.record(records)
    }
    const errors: unknown[] = []
    const live = new LiveRuns(
      { ...runs, record },
      nodeId,
      { now: Date.now },
      (it) => errors.push(it),
      { flushMs: 1, runningAfterMs: 0, updateMs: 1, retryMs: 1 },
    )
    const run = live.open({
      ...about,
      id: Bun.randomUUIDv7(),
      source: "http",
      startedAt: Date.now(),
    })
    await waitUntil(async () => (await readRun(db, run.id))?.status === "running")
    fails = true
    run.finish({ status: "succeeded", error: null })
    await waitUntil(async () => (await readRun(db, run.id))?.status === "crashed")

    expect((await readRun(db, run.id))?.error?.name).toBe("NotRecorded")
    await waitUntil(() => !live.isPending(run.id))
    expect(live.stats()).toMatchObject({ open: 0, dropped: 1 })
    expect(errors).toHaveLength(1)
    await live.stop()
  })
})
