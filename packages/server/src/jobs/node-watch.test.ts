import { afterEach, expect, jest, test } from "bun:test"
import { describeEachDatabase, openAgain, type TestDatabase } from "../../test/support/databases.ts"
import type { Node } from "../domain/nodes.ts"
import type { RunRecord } from "../domain/runs/runs.ts"
import { createTokenStore } from "../storage/accounts/tokens.ts"
import type { Database } from "../storage/database/database.ts"
import { sql } from "../storage/database/sql.ts"
import { createNodeStore } from "../storage/nodes.ts"
import { createRunStore } from "../storage/runs/runs.ts"
import { NodeWatch } from "./node-watch.ts"

/** Minutes, even of a quick machine. */
const turnsMax = 1_000_000
const user = Bun.randomUUIDv7()
const val = Bun.randomUUIDv7()

describeEachDatabase("NodeWatch", (open) => {
  const opened: Database[] = []

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((db) => db.stop()))
  })

  async function again(database: TestDatabase): Promise<Database> {
    const db = await openAgain(database)
    opened.push(db)
    return db
  }

  async function setUp() {
    const database = await open()
    await database.db.write(function* () {
      yield sql`insert into users (id, username, username_key, created_at) values (${user}, 'ada', 'ada', 1)`
      yield sql`insert into vals (id, owner_id, name, name_key, privacy, type, version, version_last, created_at, updated_at)
        values (${val}, ${user}, 'hello', 'hello', 'public', 'script', 1, 1, 1, 1)`
      yield sql`insert into versions (val_id, version, created_at, code) values (${val}, 1, 1, '1')`
    })
    return database
  }

  /** A node with a clock of its own and a connection of its own, or one that it shares. */
  function startNode(db: Database, host = "here") {
    const node: Node = { id: Bun.randomUUIDv7(), host, pid: 1, pidStarted: crypto.randomUUID() }
    const [nodes, runs, tokens] = [createNodeStore(db), createRunStore(db), createTokenStore(db)]
    const clock = { at: 1_000_000 * Math.random() }
    const gone = new Set<string>()
    const hasEnded = (other: Node) => gone.has(other.id)
    const watch = new NodeWatch({
      ...{ node, nodes, runs, tokens, hasEnded },
      checkSchema: async () => {},
      now: () => Math.floor(clock.at),
      onError(error) {
        throw error
      },
    })
    return { node, nodes, runs, tokens, clock, gone, watch }
  }

  const begin = async (
    runs: ReturnType<typeof createRunStore>,
    nodeId: string,
    status: "queued" | "running" = "running",
  ) => {
    const about = {
      id: Bun.randomUUIDv7(),
      valId: val,
      version: 1,
      accountId: user,
      ownerId: user,
      parentId: null,
      nodeId,
    }
    const result = {
      error: null,
      request: null,
      args: [],
      returnValue: null,
      logs: [],
      logsTruncated: false,
    }
    const run: RunRecord = {
      ...about,
      ...result,
      source: "api",
      status,
      startedAt: 5,
      endedAt: null,
    }
    await runs.record([run])
    return run
  }

  const statusOf = async ({ db }: TestDatabase, { id }: RunRecord) => {
    const [row] = await db.read<{ status: string; ended_at: unknown; error: string | null }>(
      sql`select status, ended_at, error from runs where id = ${id}`,
    )
    return [
      row?.status,
      row?.ended_at !== null,
      row?.error?.includes("server died") ?? false,
    ] as const
  }

  const goesOn = ["running", false, false] as const
  const crashed = ["crashed", true, true] as const

  test("does not end the runs of live nodes", async () => {
    const database = await setUp()
    const [one, two] = [startNode(database.db), startNode(await again(database), "there")]
    await one.watch.start()
    await two.watch.start()
    const runs = [await begin(one.runs, one.node.id), await begin(two.runs, two.node.id)]
    for (let beat = 0; beat < 8; beat++) {
      for (const { nodes, node, clock, watch } of [one, two]) {
        clock.at += 10_000
        await nodes.beat(node, Math.floor(clock.at))
        await watch.sweep()
      }
    }
    for (const run of runs) expect(await statusOf(database, run)).toEqual(goesOn)
    await one.watch.stop()
    await two.watch.stop()
    expect(await one.nodes.list()).toEqual([])
  })

  test("start ends the runs of a dead process of this host at once", async () => {
    const database = await setUp()
    const dead = startNode(database.db)
    await dead.watch.start()
    const runs = [
      await begin(dead.runs, dead.node.id, "queued"),
      await begin(dead.runs, dead.node.id),
    ]
    const next = startNode(await again(database))
    next.gone.add(dead.node.id)
    const other = await begin(next.runs, next.node.id)
    await next.watch.start()
    for (const run of runs) expect(await statusOf(database, run)).toEqual(crashed)
    expect(await statusOf(database, other)).toEqual(goesOn)
    const [ended] = await database.db.read<{ run_ended_at: unknown }>(
      sql`select run_ended_at from vals where id = ${val}`,
    )
    expect(ended?.run_ended_at).not.toBeNull()
    await next.watch.stop()
    await dead.watch.stop()
  })

  test("ends the runs of a node without a heartbeat for 45 s, by its own clock only", async () => {
    const database = await setUp()
    const [silent, watching] = [startNode(database.db, "there"), startNode(await again(database))]
    // Its clock is a year behind.
    silent.clock.at = watching.clock.at - 31_536_000_000
    await silent.watch.start()
    await watching.watch.start()
    const run = await begin(silent.runs, silent.node.id)
    watching.clock.at += 44_999
    await watching.watch.sweep()
    expect(await statusOf(database, run)).toEqual(goesOn)
    watching.clock.at += 1
    await watching.watch.sweep()
    expect(await statusOf(database, run)).toEqual(crashed)
    await watching.watch.stop()
    await silent.watch.stop()
  })

  test("ends runs that a node wrote after it was considered dead; a live node may still record their outcome", async () => {
    const database = await setUp()
    const [paused, watching] = [startNode(database.db, "there"), startNode(await again(database))]
    await paused.watch.start()
    await watching.watch.start()
    watching.clock.at += 45_000
    await watching.watch.sweep()
    const late = await begin(paused.runs, paused.node.id)
    await watching.watch.sweep()
    expect(await statusOf(database, late)).toEqual(crashed)
    // It can tell how it ended, but no longer that it goes on.
    await paused.runs.record([
      { ...late, logs: [{ at: "2026-01-01T00:00:00.000Z", level: "log", message: "still here" }] },
    ])
    expect(await statusOf(database, late)).toEqual(crashed)
    await paused.runs.record([{ ...late, status: "succeeded", endedAt: 9, nodeId: null }])
    expect(await statusOf(database, late)).toEqual(["succeeded", true, false])
    await paused.nodes.beat(paused.node, 1)
    const next = await begin(paused.runs, paused.node.id)
    await watching.watch.sweep()
    expect(await statusOf(database, next)).toEqual(goesOn)
    await watching.watch.stop()
    await paused.watch.stop()
  })

  test("sends a heartbeat every ten seconds, reports errors and continues, until the schema is newer", async () => {
    const database = await setUp()
    const { node, nodes, runs, tokens, clock } = startNode(database.db)
    const errors: unknown[] = []
    let [isAway, isNewer] = [false, false]
    const beat: typeof nodes.beat = (...args) =>
      isAway ? Promise.reject(new Error("away")) : nodes.beat(...args)
    const checkSchema = () => (isNewer ? Promise.reject(new Error("newer")) : Promise.resolve())
    const deps = {
      node,
      nodes: { ...nodes, beat },
      runs,
      tokens,
      checkSchema,
      hasEnded: () => false,
      now: () => Math.floor(clock.at),
    }
    const watch = new NodeWatch({ ...deps, onError: (error) => errors.push(error) })
    jest.useFakeTimers()
    try {
      await watch.start()
      const passUntil = async (isSo: () => Promise<boolean>) => {
        // In turns of the event loop: the test has replaced every clock.
        for (let turn = 0; !(await isSo()); turn++) {
          if (turn === turnsMax) throw new Error(`Waited ${turnsMax} turns for: ${isSo}`)
          jest.advanceTimersByTime(10_000)
          await new Promise((resolve) => setImmediate(resolve))
        }
      }
      const seenAt = async () => (await nodes.list())[0]?.seenAt
      clock.at += 10_000
      await passUntil(async () => (await seenAt()) === Math.floor(clock.at))
      isAway = true
      await passUntil(async () => errors.length > 0)
      isAway = false
      clock.at += 10_000
      await passUntil(async () => (await seenAt()) === Math.floor(clock.at))
      isNewer = true
      const [lastSeenAt, before] = [await seenAt(), errors.length]
      clock.at += 10_000
      await passUntil(async () => errors.length >= before + 2)
      expect(await seenAt()).toBe(lastSeenAt)
    } finally {
      jest.useRealTimers()
    }
    await watch.stop()
    expect(await nodes.list()).toEqual([])
  })
})
