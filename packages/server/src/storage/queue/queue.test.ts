import { afterEach, expect, test } from "bun:test"
import { type Database, readClock, rows, sql } from "@hamlet/database"
import { insertValRows } from "../../../test/support/data/insert-val-rows.ts"
import {
  describeEachDatabase,
  openAgain,
  type TestDatabase,
} from "../../../test/support/databases.ts"
import { asOwner } from "../../domain/access/rights.ts"
import type { ClaimedRun, ClaimRequest, NewQueuedRun } from "../../domain/queue/queue-store.ts"
import type { RunRecord } from "../../domain/runs/runs.ts"
import { createNodeStore } from "../nodes.ts"
import { createRunStore } from "../runs/runs.ts"
import { enqueueRuns } from "./enqueue-runs.ts"
import { createQueueStore } from "./queue.ts"

const died = { name: "ServerDied", message: "gone" }
const [ada, bob] = [Bun.randomUUIDv7(), Bun.randomUUIDv7()]

describeEachDatabase("createQueueStore", (open) => {
  const opened: Database[] = []

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((db) => db.stop()))
  })

  async function setUp() {
    const database = await open()
    const { db } = database
    const val = Bun.randomUUIDv7()
    await db.write(function* () {
      for (const [id, name] of [
        [ada, "ada"],
        [bob, "bob"],
      ] as const)
        yield sql`insert into users (id, username, username_key, created_at) values (${id}, ${name}, ${name}, 1)`
      yield* insertValRows({ id: val, ownerId: ada, name: "hello" })
    })
    return { database, val, ...createStores(db) }
  }

  function createStores(db: Database) {
    return {
      db,
      queue: createQueueStore(db),
      runs: createRunStore(db),
      nodes: createNodeStore(db),
      async addNode(leaseMs = 60_000): Promise<string> {
        const id = Bun.randomUUIDv7()
        await createNodeStore(db).add({ id, host: "h", pid: 1, pidStarted: id }, leaseMs)
        return id
      },
      add: (runs: readonly NewQueuedRun[]) => db.write(() => enqueueRuns(db.dialect, runs)),
    }
  }

  async function again(database: TestDatabase) {
    const db = await openAgain(database)
    opened.push(db)
    return createStores(db)
  }

  const toRun = (valId: string, more: Partial<NewQueuedRun> = {}): NewQueuedRun => ({
    id: Bun.randomUUIDv7(),
    valId,
    version: 1,
    accountId: ada,
    source: "api",
    args: [1],
    ...more,
  })

  const toRequest = (nodeId: string, more: Partial<ClaimRequest> = {}): ClaimRequest => ({
    nodeId,
    held: [],
    runsMax: 10,
    after: null,
    roomOf: () => 1_000,
    ...more,
  })

  /** What a node records of a run that it has claimed. */
  const toRecord = (run: ClaimedRun, nodeId: string, more: Partial<RunRecord>): RunRecord => ({
    ...run,
    nodeId,
    status: "running",
    startedAt: 5,
    endedAt: null,
    error: null,
    returnValue: null,
    claim: { fence: run.fence, retryMs: undefined },
    ...more,
  })

  const takeOver = (queue: ReturnType<typeof createQueueStore>, waits = false) =>
    queue.takeOver({ error: died, at: 9, runsMax: 100, delayOf: () => 60_000, waits })

  test("a run names its file, by default the entry file of main", async () => {
    const { db, val, add, runs, queue, addNode } = await setUp()
    const [entry, other, branch] = [Bun.randomUUIDv7(), Bun.randomUUIDv7(), Bun.randomUUIDv7()]
    await db.write(function* () {
      yield sql`insert into files (id, branch_id, path) values (${entry}, ${val}, 'entry.ts')`
      yield sql`insert into branches (id, val_id, name, name_key, version, version_last, created_at, updated_at)
        values (${branch}, ${val}, 'trial', 'trial', 7, 7, 1, 1)`
      yield sql`insert into files (id, branch_id, path) values (${other}, ${branch}, 'other.ts')`
    })
    const fileOf = async (more: Partial<NewQueuedRun>) => {
      const run = toRun(val, more)
      await add([run])
      const found = await runs.find(asOwner(ada), run.id)
      return [found?.file?.id, found?.branch?.id, found?.val.version]
    }
    expect(await fileOf({})).toEqual([val, val, 1])
    const ofBranch = { file: { id: other, branchId: branch }, version: "current" } as const
    expect(await fileOf(ofBranch)).toEqual([other, branch, 7])
    await db.write(function* () {
      yield sql`update states set file_id = ${entry} where branch_id = ${val}`
    })
    expect(await fileOf({})).toEqual([entry, val, 1])
    expect(await fileOf({ file: { id: val, branchId: val } })).toEqual([val, val, 1])
    const claimed = await queue.claim(toRequest(await addNode()))
    const started = [null, ofBranch.file, { id: entry, branchId: val }, null]
    expect(claimed.runs.map(({ startedFile }) => startedFile)).toEqual(started)
  })

  test("claim gives every run to exactly one of the nodes that ask at once", async () => {
    const { database, val, add } = await setUp()
    const runs = Array.from({ length: 300 }, (_, index) =>
      toRun(val, { accountId: index % 2 === 0 ? ada : bob }),
    )
    await add(runs)
    const claimed: string[] = []
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        const { queue, addNode } = await again(database)
        const nodeId = await addNode()
        const held: ClaimedRun[] = []
        for (let misses = 0; misses < 3; ) {
          const claim = await queue.claim(toRequest(nodeId, { held }))
          if (claim.runs.length === 0) misses++
          held.push(...claim.runs)
        }
        claimed.push(...held.map(({ id }) => id))
      }),
    )
    expect(claimed.toSorted()).toEqual(runs.map(({ id }) => id).toSorted())
  })

  test("claim returns what the run needs, and counts the claims", async () => {
    const { val, add, queue, addNode } = await setUp()
    const run = toRun(val, {
      args: [{ a: "é" }],
      input: { kind: "interval", scheduledAt: 7, lastRunAt: null },
      retries: 2,
      depth: 3,
      version: "current",
      source: "interval",
    })
    await add([run])
    const nodeId = await addNode()
    const { runs } = await queue.claim(toRequest(nodeId))
    expect(runs).toMatchObject([
      {
        id: run.id,
        valId: val,
        version: 1,
        followsCurrent: true,
        accountId: ada,
        ownerId: ada,
        source: "interval",
        args: [{ a: "é" }],
        input: run.input,
        logs: [],
        fence: 1,
        attempt: 1,
        retries: 2,
        depth: 3,
        isAccountSuspended: false,
      },
    ])
    // The run is claimed until it is released.
    expect((await queue.claim(toRequest(nodeId, { held: runs }))).runs).toEqual([])
    expect((await queue.claim(toRequest(await addNode()))).runs).toEqual([])
    await queue.release(runs, 0)
    expect((await queue.claim(toRequest(nodeId))).runs).toMatchObject([{ id: run.id, fence: 2 }])
  })

  test("claim leaves out runs that are not due", async () => {
    const { db, val, add, queue, addNode } = await setUp()
    const now = await readClock(db)
    const [later, due] = [toRun(val, { dueAt: now + 60_000 }), toRun(val, { dueAt: now - 60_000 })]
    await add([later, due, toRun(val, { accountId: bob, dueAt: now + 60_000 })])
    const { runs, next } = await queue.claim(toRequest(await addNode()))
    expect([runs.map(({ id }) => id), next]).toEqual([[due.id], null])
  })

  test("claim gives every account its turn, however many runs another has", async () => {
    const { val, add, queue, addNode } = await setUp()
    const of = (accountId: string, count: number) =>
      Array.from({ length: count }, () => toRun(val, { accountId }))
    await add(of(ada, 500))
    await add(of(bob, 3))
    const nodeId = await addNode()
    const accounts = ({ runs }: { runs: readonly ClaimedRun[] }) =>
      [ada, bob].map((id) => runs.filter(({ accountId }) => accountId === id).length)
    const held: ClaimedRun[] = []
    const claim = async (more: Partial<ClaimRequest> = {}) => {
      const claimed = await queue.claim(toRequest(nodeId, { held, ...more }))
      held.push(...claimed.runs)
      return claimed
    }
    expect(accounts(await claim())).toEqual([5, 3])
    await add(of(bob, 1))
    // One place: the accounts take turns.
    const [first, second] = [ada, bob].toSorted()
    const one = await claim({ runsMax: 1 })
    expect([one.runs[0]?.accountId, one.next]).toEqual([first, first])
    const other = await claim({ runsMax: 1, after: one.next })
    expect([other.runs[0]?.accountId, other.next]).toEqual([second, null])
    // An account without room is left out.
    await add(of(bob, 1))
    const rest = await claim({ roomOf: (id: string) => (id === ada ? 0 : 5) })
    expect(rest.runs.map((run) => run.accountId)).toEqual([bob])
  })

  test("claim gives nothing to a node that was removed", async () => {
    const { val, add, queue, nodes, addNode } = await setUp()
    await add([toRun(val)])
    const nodeId = await addNode()
    await nodes.end(nodeId)
    expect((await queue.claim(toRequest(nodeId))).runs).toEqual([])
  })

  test("takeOver queues what had not started, ends what had, and repeats what has retries", async () => {
    const { val, add, queue, runs, nodes, addNode } = await setUp()
    const [fresh, started, begun, retried, waiting, foreign] = [
      toRun(val),
      toRun(val),
      toRun(val),
      toRun(val, { retries: 1 }),
      toRun(val, { dueAt: Date.now() + 3_600_000 }),
      toRun(val),
    ] as const
    await add([fresh, started, begun, retried, waiting])
    const [dead, alive] = [await addNode(), await addNode()]
    const { runs: claimed } = await queue.claim(toRequest(dead))
    await add([foreign])
    const { runs: held } = await queue.claim(toRequest(alive))
    const of = (run: NewQueuedRun) => claimed.find(({ id }) => id === run.id) as ClaimedRun
    expect(
      await runs.record([toRecord(of(started), dead, {}), toRecord(of(retried), dead, {})]),
    ).toEqual([])
    // One says so in its own row, the other in that of its node. A number of an earlier claim does
    // not count.
    expect(
      await nodes.saveBegun(
        dead,
        new Map([
          [begun.id, 1],
          [fresh.id, 0],
        ]),
      ),
    ).toBe(true)
    expect(await takeOver(queue)).toMatchObject({ requeued: 0, retried: 0, crashed: 0 })

    await nodes.end(dead)
    expect(await takeOver(queue)).toEqual({
      requeued: 1,
      retried: 1,
      crashed: 2,
      hasMore: false,
      errors: [],
    })
    expect(await nodes.saveBegun(dead, new Map())).toBe(false)
    for (const { id } of [started, begun])
      expect(await runs.find(asOwner(ada), id)).toMatchObject({ status: "crashed", error: died })
    expect((await nodes.list()).map(({ id }) => id)).toEqual([alive])
    expect(await runs.find(asOwner(ada), retried.id)).toMatchObject({
      status: "queued",
      attempt: 2,
    })
    expect(await queue.depth(100)).toMatchObject({ due: 1, later: 2 })
    const next = await queue.claim(toRequest(alive, { held }))
    expect(next.runs).toMatchObject([{ id: fresh.id, attempt: 1, fence: 2 }])
  })

  test("takeOver leaves the runs that another node takes to it, or waits in case it fails", async () => {
    const { database, val, add, queue, runs, nodes, addNode } = await setUp()
    const other = await again(database)
    await add([toRun(val)])
    const dead = await addNode()
    const [claimed] = (await queue.claim(toRequest(dead))).runs as [ClaimedRun]
    await runs.record([toRecord(claimed, dead, {})])
    await nodes.end(dead)
    const failure = new Error("It takes nothing")
    let waiting: ReturnType<typeof takeOver> | undefined
    const taking = other.db.write(function* () {
      yield sql`update runs set cancel_requested = 0 where id = ${claimed.id}`
      waiting ??= takeOver(queue, true)
      for (let round = 0; round < 20; round++) yield* rows(sql`select 1 as one`)
      throw failure
    })
    await expect(taking).rejects.toBe(failure)
    expect(await waiting).toMatchObject({ crashed: 1 })
  })

  test("takeOver takes the runs behind one that it cannot take, and that one later", async () => {
    const { db, val, add, queue, runs, nodes, addNode } = await setUp()
    const [first, broken, behind, waiting] = [toRun(val), toRun(val), toRun(val), toRun(val)]
    await add([first, broken, behind, waiting])
    const dead = await addNode()
    const { runs: claimed } = await queue.claim(toRequest(dead))
    const started = claimed.filter(({ id }) => id !== waiting.id)
    await runs.record(started.map((run) => toRecord(run, dead, {})))
    const setStart = (at: number) =>
      db.write(function* () {
        yield sql`update runs set started_at = ${at} where id = ${broken.id}`
      })
    // No message to a webhook can say when this run has started.
    await setStart(9_000_000_000_000_000)
    await db.write(function* () {
      yield sql`insert into webhooks (id, owner_id, url, events, has_run_events, status, key_id, sealed, created_at, updated_at)
        values (${Bun.randomUUIDv7()}, ${ada}, 'https://receiver.invalid/', '["run.failed"]', 1, 'active', '', ${new Uint8Array()}, 1, 1)`
    })
    await nodes.end(dead)

    const taken = await takeOver(queue)
    expect(taken).toMatchObject({ requeued: 1, crashed: 2, hasMore: false })
    expect(taken.errors.map(String)).toEqual([expect.stringContaining("RangeError")])
    for (const { id } of [first, behind])
      expect(await runs.find(asOwner(ada), id)).toMatchObject({ status: "crashed" })
    expect(await runs.find(asOwner(ada), broken.id)).toMatchObject({ status: "running" })
    expect(await nodes.list()).toMatchObject([{ id: dead, isGone: true }])

    await setStart(5)
    expect(await takeOver(queue)).toMatchObject({ requeued: 0, crashed: 1, errors: [] })
    expect(await nodes.list()).toEqual([])
  })

  test("record refuses the states and outcomes of a node that has lost the run", async () => {
    const { val, add, queue, runs, nodes, addNode } = await setUp()
    const [requeued, crashed] = [toRun(val), toRun(val)]
    await add([requeued, crashed])
    const [paused, next] = [await addNode(), await addNode()]
    const { runs: claimed } = await queue.claim(toRequest(paused))
    const of = (run: NewQueuedRun) => claimed.find(({ id }) => id === run.id) as ClaimedRun
    await runs.record([toRecord(of(crashed), paused, {})])
    await nodes.end(paused)
    await takeOver(queue)
    const log = { at: "2026-01-01T00:00:00.000Z", level: "log", message: "still here" } as const
    const late = [
      toRecord(of(requeued), paused, { status: "running" }),
      toRecord(of(crashed), paused, { logs: [log] }),
      toRecord(of(crashed), paused, { status: "succeeded", endedAt: 9, logs: [log] }),
    ]
    for (const record of late) expect(await runs.record([record])).toEqual([record.id])
    expect(await runs.find(asOwner(ada), crashed.id)).toMatchObject({ status: "crashed", logs: [] })
    const { runs: again } = await queue.claim(toRequest(next))
    expect(again).toMatchObject([{ id: requeued.id }])
    const [own] = again as [ClaimedRun]
    expect(await runs.record([toRecord(of(requeued), paused, { endedAt: 9 })])).toEqual([own.id])
    expect(
      await runs.record([toRecord(own, next, { status: "succeeded", endedAt: 9, nodeId: null })]),
    ).toEqual([])
    expect(await runs.find(asOwner(ada), own.id)).toMatchObject({ status: "succeeded" })
  })

  test("record queues a failed attempt again, and refuses what its first attempt says later", async () => {
    const { val, add, queue, runs, addNode } = await setUp()
    await add([toRun(val, { retries: 1, args: "…", input: { kind: "args", json: "[1]" } })])
    const nodeId = await addNode()
    const [run] = (await queue.claim(toRequest(nodeId))).runs as [ClaimedRun]
    const log = { at: "2026-01-01T00:00:00.000Z", level: "error", message: "failed" } as const
    const failed = toRecord(run, nodeId, {
      status: "failed",
      endedAt: 8,
      error: died,
      logs: [log],
      claim: { fence: run.fence, retryMs: 0 },
    })
    expect(await runs.record([failed])).toEqual([])
    expect(await runs.find(asOwner(ada), run.id)).toMatchObject({
      status: "queued",
      endedAt: null,
      error: null,
      attempt: 2,
      logs: [log],
    })
    const [again] = (await queue.claim(toRequest(nodeId))).runs as [ClaimedRun]
    expect(again).toMatchObject({ attempt: 2, logs: [log], input: { kind: "args", json: "[1]" } })
    expect(await runs.record([failed])).toEqual([run.id])
    const ended = toRecord(again, nodeId, {
      status: "failed",
      endedAt: 9,
      error: died,
      nodeId: null,
    })
    expect(await runs.record([ended])).toEqual([])
    expect(await runs.find(asOwner(ada), run.id)).toMatchObject({ status: "failed", error: died })
    // Arguments that are too large to be shown are not kept either.
    expect(await runs.findInput(run.id)).toBeUndefined()
  })

  test("record notes that a val ran once its run has started, and keeps the response", async () => {
    const { db, val, add, queue, runs, addNode } = await setUp()
    await add([toRun(val)])
    const nodeId = await addNode()
    const [run] = (await queue.claim(toRequest(nodeId))).runs as [ClaimedRun]
    const readTimes = () =>
      db.first`select run_started_at, run_ended_at from vals where id = ${val}`
    expect(await runs.record([toRecord(run, nodeId, { status: "queued" })])).toEqual([])
    expect(await readTimes()).toEqual({ runStartedAt: null, runEndedAt: null })
    const response = { headers: [], body: "ok", bytes: 2, isBinary: false, isTruncated: false }
    const ended = toRecord(run, nodeId, { status: "succeeded", endedAt: 9, response })
    expect(await runs.record([ended])).toEqual([])
    expect(await readTimes()).toEqual({ runStartedAt: 5, runEndedAt: 9 })
    expect(await runs.find(asOwner(ada), run.id)).toMatchObject({ response })
  })

  test("saveClaims ends the claims that the node does not know of", async () => {
    const { val, add, queue, addNode, runs, nodes } = await setUp()
    await add([toRun(val), toRun(val), toRun(val)])
    const nodeId = await addNode()
    const claimed = (await queue.claim(toRequest(nodeId))).runs
    const [known, unknown, started] = claimed as [ClaimedRun, ClaimedRun, ClaimedRun]
    await runs.record([toRecord(started, nodeId, {})])
    expect(await queue.saveClaims(nodeId, [known])).toBe(true)
    const other = await addNode()
    expect((await queue.claim(toRequest(other))).runs.map(({ id }) => id)).toEqual([unknown.id])
    await nodes.end(nodeId)
    expect(await queue.saveClaims(nodeId, [])).toBe(false)
  })

  test("requestCancel ends a run that waits, and no node gets it", async () => {
    const { val, add, queue, runs, addNode } = await setUp()
    const run = toRun(val)
    await add([run])
    const error = { name: "Cancelled", message: "The run was cancelled" }
    expect(await runs.requestCancel(run.id, 9)).toBe(true)
    expect(await runs.find(asOwner(ada), run.id)).toMatchObject({ status: "cancelled", error })
    expect((await queue.claim(toRequest(await addNode()))).runs).toEqual([])
    expect(await queue.countWaiting(ada, 10)).toBe(0)
  })

  test("requestCancel leaves a claimed run to its node, and ends it when the node is gone", async () => {
    const { val, add, queue, runs, nodes, addNode } = await setUp()
    const error = { name: "Cancelled", message: "The run was cancelled" }
    await add([toRun(val), toRun(val)])
    const nodeId = await addNode()
    const [first, second] = (await queue.claim(toRequest(nodeId))).runs as [ClaimedRun, ClaimedRun]
    expect(await runs.requestCancel(first.id, 9)).toBe(true)
    expect(await runs.listCancelRequests()).toEqual([first.id])
    expect(await runs.find(asOwner(ada), first.id)).toMatchObject({ status: "queued", error: null })
    const cancelled = toRecord(first, nodeId, { status: "cancelled", endedAt: 9, error })
    expect(await runs.record([cancelled])).toEqual([])
    expect(await runs.listCancelRequests()).toEqual([])
    await nodes.end(nodeId)
    expect(await runs.requestCancel(second.id, 9)).toBe(true)
    expect(await runs.find(asOwner(ada), second.id)).toMatchObject({ status: "cancelled" })
    expect(await runs.record([toRecord(second, nodeId, { endedAt: 9 })])).toEqual([second.id])
  })

  test("takeOver cancels the runs that were to be cancelled, started or not, retries or not", async () => {
    const { db, val, add, queue, runs, nodes, addNode } = await setUp()
    await add([toRun(val, { retries: 3 }), toRun(val), toRun(val, { retries: 3 }), toRun(val)])
    const nodeId = await addNode()
    const claimed = (await queue.claim(toRequest(nodeId))).runs as ClaimedRun[]
    const [begun, recorded] = claimed as [ClaimedRun, ClaimedRun]
    await nodes.saveBegun(nodeId, new Map([[begun.id, begun.fence]]))
    await runs.record([toRecord(recorded, nodeId, {})])
    const direct = { ...toRecord(begun, nodeId, {}), id: Bun.randomUUIDv7(), claim: undefined }
    await runs.record([direct])
    const all = [...claimed, direct]
    for (const { id } of all) expect(await runs.requestCancel(id, 8)).toBe(true)
    await nodes.end(nodeId)
    expect(await takeOver(queue)).toMatchObject({ requeued: 0, retried: 0, crashed: 0 })
    for (const { id } of all)
      expect(await runs.find(asOwner(ada), id)).toMatchObject({
        status: "cancelled",
        attempt: 1,
        endedAt: 9,
        error: { name: "Cancelled" },
      })
    expect((await queue.claim(toRequest(await addNode()))).runs).toEqual([])
    expect(await db.read(sql`select id from nodes where id = ${nodeId}`)).toEqual([])
  })

  test("a run that is to be cancelled and waits again is claimed at once, to be ended", async () => {
    const { val, add, queue, runs, addNode } = await setUp()
    await add([toRun(val, { retries: 3 }), toRun(val, { retries: 3 }), toRun(val, { retries: 3 })])
    const nodeId = await addNode()
    const claimed = (await queue.claim(toRequest(nodeId))).runs
    const [released, repeated, other] = claimed as [ClaimedRun, ClaimedRun, ClaimedRun]
    expect(claimed.map((run) => run.isToBeCancelled)).toEqual([false, false, false])
    for (const { id } of [released, repeated]) await runs.requestCancel(id, 8)
    await queue.release([released, other], 60_000)
    const retry = { fence: repeated.fence, retryMs: 60_000 }
    const failed = toRecord(repeated, nodeId, { status: "failed", endedAt: 9, error: died })
    await runs.record([{ ...failed, claim: retry }])
    const again = (await queue.claim(toRequest(nodeId))).runs
    expect(new Map(again.map((run) => [run.id, run.isToBeCancelled]))).toEqual(
      new Map([released, repeated].map(({ id }) => [id, true])),
    )
  })

  test("claim tells a claim that is over from the claim of another node to the same run", async () => {
    const { val, add, queue, nodes, addNode } = await setUp()
    await add([toRun(val)])
    const [first, second, third] = [await addNode(), await addNode(), await addNode()]
    await queue.release((await queue.claim(toRequest(first))).runs, 0)
    const [run] = (await queue.claim(toRequest(second))).runs
    expect(run).toMatchObject({ fence: 2 })
    // PostgreSQL reads the row that was written last behind the others.
    await nodes.renew(first, 60_000)
    expect((await queue.claim(toRequest(third))).runs).toEqual([])
    await nodes.saveBegun(second, new Map([[run?.id ?? "", 2]]))
    for (const id of [second, first]) await nodes.end(id)
    expect(await takeOver(queue)).toMatchObject({ requeued: 0, crashed: 1 })
  })

  test("claim leaves the claims of a node that is gone until its runs were taken over", async () => {
    const { val, add, queue, nodes, addNode } = await setUp()
    await add([toRun(val), toRun(val)])
    const [dead, alive] = [await addNode(), await addNode()]
    const { runs: claimed } = await queue.claim(toRequest(dead))
    const [begun] = claimed as [ClaimedRun]
    await nodes.saveBegun(dead, new Map([[begun.id, begun.fence]]))
    await nodes.end(dead)
    expect((await queue.claim(toRequest(alive))).runs).toEqual([])
    expect(await takeOver(queue)).toMatchObject({ requeued: 1, crashed: 1 })
    expect((await nodes.list()).map(({ id }) => id)).toEqual([alive])
    const { runs } = await queue.claim(toRequest(alive))
    expect(runs.map(({ id }) => id)).toEqual(
      claimed.map(({ id }) => id).filter((id) => id !== begun.id),
    )
  })

  test("enqueue adds no run of a val that is gone, and takes the current version", async () => {
    const { db, val, add, queue, runs } = await setUp()
    expect(await queue.enqueue(toRun(Bun.randomUUIDv7()))).toBeNull()
    const run = toRun(val, { version: "current" })
    expect(await queue.enqueue(run)).toBe(run.id)
    expect(await runs.find(asOwner(ada), run.id)).toMatchObject({
      status: "queued",
      val: { version: 1 },
    })
    expect(await add(Array.from({ length: 75 }, () => toRun(val)))).toHaveLength(75)
    expect([await queue.countWaiting(ada, 10), await queue.countWaiting(ada, 100)]).toEqual([
      10, 76,
    ])
    expect(await queue.depth(50)).toMatchObject({ due: 50, later: 0, isPartial: true })
    expect(Math.abs((await readClock(db)) - Date.now())).toBeLessThan(600_000)
  })

  test("purgeBeyond and purgeFrom leave runs that wait", async () => {
    const { val, add, runs, queue } = await setUp()
    await add([toRun(val), toRun(val)])
    expect(await runs.purgeBeyond(val, 0, 10)).toBe(false)
    const last = { id: Bun.randomUUIDv7(), startedAt: Date.now() + 3_600_000 }
    expect(await runs.purgeFrom(ada, last, 10)).toBe(false)
    expect(await queue.countWaiting(ada, 10)).toBe(2)
  })
})
