import { afterEach, expect, test } from "bun:test"
import { type Database, sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import { insertValRows } from "../../test/support/data/insert-val-rows.ts"
import { describeEachDatabase, openAgain, type TestDatabase } from "../../test/support/databases.ts"
import type { Node, NodeStatus } from "../domain/nodes.ts"
import type { TakenOver } from "../domain/queue/queue-store.ts"
import type { RunRecord } from "../domain/runs/runs.ts"
import { createTokenStore } from "../storage/accounts/tokens.ts"
import { createNodeStore } from "../storage/nodes.ts"
import { createQueueStore } from "../storage/queue/queue.ts"
import { createRunStore } from "../storage/runs/runs.ts"
import { NodeWatch, type NodeWatchOptions } from "./node-watch.ts"

/** Longer than any test. */
const longMs = 3_600_000
const report = {
  version: "1.2.3",
  schemaVersion: 41,
  isolation: "bubblewrap",
  uptimeMs: 8,
  isStopping: false,
  runs: 1,
  waitingRuns: 2,
  processes: 3,
  cpuLoad: 0.5,
  cpus: 4,
  memoryBytes: 5,
  valMemoryBytes: 6,
  valMemoryBytesMax: 7,
}
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
      yield* insertValRows({ id: val, ownerId: user, name: "hello" })
    })
    return database
  }

  /** A node with a clock of its own and a connection of its own, or one that it shares. */
  function startNode(db: Database, host = "here") {
    const node: Node = { id: Bun.randomUUIDv7(), host, pid: 1, pidStarted: crypto.randomUUID() }
    const [nodes, runs, tokens] = [createNodeStore(db), createRunStore(db), createTokenStore(db)]
    const clock = { at: 1_000_000 * Math.random() }
    const gone = new Set<string>()
    const taken: TakenOver[] = []
    const clocks: NodeStatus[] = []
    const counts: number[] = []
    const deps: NodeWatchOptions = {
      node,
      nodes,
      tokens,
      queueStore: createQueueStore(db),
      hasEnded: (other) => gone.has(other.id),
      checkSchema: async () => {},
      delayOf: () => 0,
      report: () => report,
      onLost: () => {},
      onTakeover: (it) => taken.push(it),
      onNodes: (count) => counts.push(count),
      onClock: (status) => clocks.push(status),
      now: () => Math.floor(clock.at),
      onError(error) {
        throw error
      },
    }
    return {
      node,
      nodes,
      runs,
      tokens,
      clock,
      gone,
      taken,
      clocks,
      counts,
      deps,
      // Only the test beats, and leases end when it says so.
      watch: new NodeWatch({ ...deps, limits: { beatMs: longMs, leaseMs: 2 * longMs } }),
    }
  }

  /** Ends the lease of a node, now or a little later, as if it had been silent. */
  const expire = ({ db }: TestDatabase, { id }: Node, inMs = -1) =>
    db.write(function* () {
      yield sql`update nodes set lease_until = ${db.dialect.now} + ${inMs} where id = ${id}`
    })

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
    const [row] = await db.read<{ status: string; endedAt: unknown; error: string | null }>(
      sql`select status, ended_at, error from runs where id = ${id}`,
    )
    return [
      row?.status,
      row?.endedAt !== null,
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
    for (const { clock, watch } of [one, two]) {
      clock.at += 60_000
      await watch.sweep()
    }
    for (const run of runs) expect(await statusOf(database, run)).toEqual(goesOn)
    await one.watch.stop()
    // Its run has not ended: the other node takes it.
    await two.watch.sweep()
    expect(await statusOf(database, runs[0] as RunRecord)).toEqual(crashed)
    expect((await two.nodes.list()).map(({ id }) => id)).toEqual([two.node.id])
    await two.watch.stop()
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
    const [ended] = await database.db.read<{ runEndedAt: unknown }>(
      sql`select run_ended_at from vals where id = ${val}`,
    )
    expect(ended?.runEndedAt).not.toBeNull()
    await next.watch.stop()
    await dead.watch.stop()
  })

  test("ends the runs of a node whose lease has ended, by the clock of the database", async () => {
    const database = await setUp()
    const [silent, watching] = [startNode(database.db, "there"), startNode(await again(database))]
    // The clock of the node is a year behind.
    silent.clock.at = watching.clock.at - 31_536_000_000
    await silent.watch.start()
    await watching.watch.start()
    const run = await begin(silent.runs, silent.node.id)
    watching.clock.at += 60_000
    await watching.watch.sweep()
    expect(await statusOf(database, run)).toEqual(goesOn)
    await expire(database, silent.node)
    await watching.watch.sweep()
    expect(await statusOf(database, run)).toEqual(crashed)
    expect(watching.taken.at(-1)).toMatchObject({ crashed: 1, requeued: 0 })
    await watching.watch.stop()
    await silent.watch.stop()
  })

  test("removes no other node before it has renewed its own lease for a while", async () => {
    const database = await setUp()
    const [silent, watching] = [startNode(database.db, "there"), startNode(await again(database))]
    await silent.watch.start()
    const run = await begin(silent.runs, silent.node.id)
    await expire(database, silent.node)
    // All leases have ended, as after an outage of the database.
    await watching.watch.start()
    watching.clock.at += 9_999
    await watching.watch.sweep()
    expect(await statusOf(database, run)).toEqual(goesOn)
    watching.clock.at += 1
    await watching.watch.sweep()
    expect(await statusOf(database, run)).toEqual(crashed)
    await watching.watch.stop()
    await silent.watch.stop()
  })

  test.each([
    ["when its lease ends", 300, 0],
    ["when this node has renewed its own lease for long enough", -1, 300],
  ])("ends the runs of a silent node %s, without waiting for a beat", async (_, inMs, graceMs) => {
    const database = await setUp()
    const [silent, watching] = [startNode(database.db, "there"), startNode(await again(database))]
    await silent.watch.start()
    const run = await begin(silent.runs, silent.node.id)
    await expire(database, silent.node, inMs)
    const limits = { beatMs: longMs, leaseMs: 2 * longMs, graceMs }
    const watch = new NodeWatch({ ...watching.deps, limits, now: Date.now })
    await watch.start()
    await waitUntil(async () => (await statusOf(database, run))[0] === "crashed")
    await watch.stop()
    await silent.watch.stop()
  })

  test("removes no other node after its own lease was renewed late: the database may have been slow", async () => {
    const database = await setUp()
    const [silent, watching] = [startNode(database.db, "there"), startNode(await again(database))]
    let renewals = 0
    const watch = new NodeWatch({
      ...watching.deps,
      nodes: {
        ...watching.nodes,
        renew: async (...args) => {
          const isRenewed = await watching.nodes.renew(...args)
          renewals += 1
          return isRenewed
        },
      },
    })
    await silent.watch.start()
    await watch.start()
    const run = await begin(silent.runs, silent.node.id)
    const beat = async (afterMs: number) => {
      watching.clock.at += afterMs
      const [before, renewed] = [watching.counts.length, renewals]
      // The first rounds may have begun before.
      await waitUntil(() => {
        watch.look()
        return watching.counts.length >= before + 2 && renewals >= renewed + 2
      })
    }
    for (let beats = 0; beats < 10; beats += 1) await beat(2_500)
    await expire(database, silent.node)
    await beat(7_500)
    await beat(7_499)
    expect(await statusOf(database, run)).toEqual(goesOn)
    await beat(2_501)
    await waitUntil(async () => (await statusOf(database, run))[0] === "crashed")
    await watch.stop()
    await silent.watch.stop()
  })

  test.each(["list", "readClock"] as const)(
    "renews its lease while %s takes long",
    async (slow) => {
      const database = await setUp()
      const { deps, nodes } = startNode(database.db)
      const sweep = Promise.withResolvers<void>()
      let [renewals, calls] = [0, 0]
      const wait = async () => {
        calls += 1
        if (calls === 2) await sweep.promise
      }
      const watch = new NodeWatch({
        ...deps,
        nodes: {
          ...nodes,
          renew: (...args) => {
            renewals += 1
            return nodes.renew(...args)
          },
          async list() {
            if (slow === "list") await wait()
            return nodes.list()
          },
          async readClock() {
            if (slow === "readClock") await wait()
            return nodes.readClock()
          },
        },
        limits: { beatMs: 1, pauseMs: 1 },
      })
      await watch.start()
      await waitUntil(() => calls === 2)
      const before = renewals
      await waitUntil(() => renewals >= before + 3)
      expect(calls).toBe(2)
      sweep.resolve()
      await watch.stop()
    },
  )

  test("renews its lease soon after that has failed, without waiting for a beat", async () => {
    const database = await setUp()
    const { deps, nodes } = startNode(database.db)
    let attempts = 0
    const watch = new NodeWatch({
      ...deps,
      nodes: {
        ...nodes,
        renew: (...args) => {
          attempts += 1
          return attempts < 3 ? Promise.reject(new Error("away")) : nodes.renew(...args)
        },
      },
      limits: { beatMs: longMs, leaseMs: 2 * longMs, failedMs: 1 },
      onError: () => {},
    })
    await watch.start()
    watch.look()
    await waitUntil(() => attempts === 3 && watch.status.problem === undefined)
    await watch.stop()
  })

  test("renews its lease when it cannot report, with what it reported last", async () => {
    const { db } = await setUp()
    const { deps, nodes } = startNode(db)
    const errors: unknown[] = []
    let fails = false
    const watch = new NodeWatch({
      ...deps,
      report() {
        if (fails) throw new Error("EMFILE: too many open files")
        return report
      },
      onError: (error) => errors.push(error),
      limits: { beatMs: 1, pauseMs: 1, leaseMs: 2 * longMs },
    })
    await watch.start()
    fails = true
    await waitUntil(() => errors.length > 0)
    await expire({ db } as TestDatabase, deps.node)

    await waitUntil(async () => ((await nodes.list())[0]?.leaseLeftMs ?? -1) > 0)

    expect(watch.status.problem).toBeUndefined()
    const [listed] = (await nodes.listPage({ offset: 0, limit: 9 })).items
    expect(listed?.report?.version).toBe(report.version)
    // Once, though every beat has it.
    expect(errors).toHaveLength(1)
    await watch.stop()
  })

  test("ends runs that a node wrote after it was removed; the node may still record how they ended", async () => {
    const database = await setUp()
    const [paused, watching] = [startNode(database.db, "there"), startNode(await again(database))]
    await paused.watch.start()
    await watching.watch.start()
    await watching.nodes.end(paused.node.id)
    const late = await begin(paused.runs, paused.node.id)
    await watching.watch.sweep()
    expect(await statusOf(database, late)).toEqual(crashed)
    // The paused node can record how the run ended, but no longer that it goes on.
    await paused.runs.record([
      { ...late, logs: [{ at: "2026-01-01T00:00:00.000Z", level: "log", message: "still here" }] },
    ])
    expect(await statusOf(database, late)).toEqual(crashed)
    await paused.runs.record([{ ...late, status: "succeeded", endedAt: 9, nodeId: null }])
    expect(await statusOf(database, late)).toEqual(["succeeded", true, false])
    await watching.watch.stop()
    await paused.watch.stop()
  })

  test("reports a clock that differs from the database's by more than five seconds", async () => {
    const database = await setUp()
    const { deps, clocks, nodes } = startNode(database.db)
    // How long the database takes, and how far its clock is from this one.
    const start = async (roundTripMs: number, skewMs: number) => {
      let at = 1_000_000
      const readClock = async () => {
        const there = at - skewMs
        at += roundTripMs
        return there
      }
      const watch = new NodeWatch({ ...deps, nodes: { ...nodes, readClock }, now: () => at })
      await watch.start()
      await watch.stop()
      return watch.status
    }
    expect(await start(0, 5_000)).toMatchObject({ clockSkewMs: 5_000, isClockWrong: false })
    expect(await start(8_000, -4_000)).toMatchObject({ isClockWrong: false })
    expect(clocks).toEqual([])
    expect(await start(0, 5_001)).toMatchObject({ clockSkewMs: 5_001, isClockWrong: true })
    expect(await start(200, -60_000)).toMatchObject({ clockSkewMs: -59_800, isClockWrong: true })
    expect(clocks.map(({ isClockWrong }) => isClockWrong)).toEqual([true, true])
  })

  test("says once that the clock has come to differ, and once that it no longer does", async () => {
    const database = await setUp()
    const { deps, clocks, nodes } = startNode(database.db)
    let [skewMs, reads] = [0, 0]
    const readClock = async () => {
      reads++
      return 1_000_000 - skewMs
    }
    const watch = new NodeWatch({
      ...deps,
      nodes: { ...nodes, readClock },
      now: () => 1_000_000,
      limits: { beatMs: 1 },
    })
    await watch.start()
    for (const next of [60_000, 0, -60_000, 0]) {
      skewMs = next
      const before = reads
      // The first of them may have begun before.
      await waitUntil(() => reads >= before + 3)
    }
    await watch.stop()
    const said = clocks.map(({ clockSkewMs }) => clockSkewMs)
    expect(said).toEqual([60_000, 0, -60_000, 0])
  })

  test("renews its lease with every beat, reports errors and continues, until the schema is newer", async () => {
    const database = await setUp()
    const { node, nodes, deps } = startNode(database.db)
    const errors: unknown[] = []
    const lost: string[] = []
    let [isAway, isNewer, checksOfNewer, isStopping] = [false, false, 0, false]
    const watch = new NodeWatch({
      ...deps,
      nodes: {
        ...nodes,
        renew: (...args) => (isAway ? Promise.reject(new Error("away")) : nodes.renew(...args)),
      },
      async checkSchema() {
        if (isNewer) {
          checksOfNewer += 1
          throw new Error("newer")
        }
      },
      report: () => ({ ...deps.report(), isStopping }),
      onLost: () => lost.push("lost"),
      onError: (error) => errors.push(error),
      limits: { beatMs: 5, pauseMs: 1, failedMs: 5 },
    })
    const findReport = async () => (await nodes.listPage({ offset: 0, limit: 9 })).items[0]?.report
    const isExpired = async () => ((await nodes.list())[0]?.leaseLeftMs ?? 0) < 0
    await watch.start()
    const { clockSkewMs } = watch.status
    const told = { ...deps.report(), clockSkewMs, isClockWrong: true, isStopping: false }
    expect(await findReport()).toEqual(told)
    isStopping = true
    await expire(database, node)
    await waitUntil(async () => (await isExpired()) === false)
    // A beat that was under way has reported what was true before.
    await waitUntil(async () => (await findReport())?.isStopping === true)
    expect(await findReport()).toMatchObject({ isClockWrong: true })
    expect(watch.status.problem).toBeUndefined()
    isAway = true
    await waitUntil(async () => errors.length > 0)
    // Equal, not the same: the next beat may have failed too, which is reported once.
    expect(watch.status.problem).toEqual(errors[0])
    isAway = false
    await expire(database, node)
    await waitUntil(async () => (await isExpired()) === false)
    await waitUntil(async () => watch.status.problem === undefined)
    expect(lost).toEqual([])
    // Another node has removed it: it gives up its runs and comes back.
    await nodes.end(node.id)
    await waitUntil(async () => lost.length > 0 && (await nodes.list()).length === 1)
    expect(await findReport()).toMatchObject({ isStopping: true, version: report.version })
    isNewer = true
    await waitUntil(async () => checksOfNewer >= 2)
    await expire(database, node)
    await waitUntil(async () => checksOfNewer >= 4)
    expect(await isExpired()).toBe(true)
    await watch.stop()
    expect(await nodes.list()).toEqual([])
  })
})
