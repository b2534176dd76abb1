import { afterAll, beforeAll, expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import fc from "fast-check"
import { insertValRows } from "../../../test/support/data/insert-val-rows.ts"
import { describeEachDatabase, type TestDatabase } from "../../../test/support/databases.ts"
import { toEndedRun } from "../../../test/support/fakes/ended-run.ts"
import { addUser } from "../../../test/support/users.ts"
import type { Caller } from "../../domain/access/caller.ts"
import type { Privacy } from "../../domain/access/rights.ts"
import { asOwner } from "../../domain/access/rights.ts"
import type { RunRecord, RunStatus } from "../../domain/runs/runs.ts"
import { createRunStats, type StatLimits } from "../../domain/stats/stats.ts"
import { type CodeParser, createSources } from "../../domain/vals/val-source.ts"
import { createVals, type Vals } from "../../domain/vals/vals.ts"
import { createValStore } from "../vals/vals.ts"
import { createRunStore } from "./runs.ts"
import { createStatStore } from "./stats.ts"

const start = Date.parse("2026-01-01T00:00:00Z")
const hour = 3_600_000
const statuses: readonly RunStatus[] = [
  "queued",
  "running",
  "succeeded",
  "failed",
  "timed_out",
  "cancelled",
  "crashed",
]
const people = ["ada", "bob"] as const
/** Owners and privacy of the vals; those of the third kind are deleted once they have runs. */
const kinds = people.flatMap((owner) =>
  (["public", "private", "gone"] as const).map((privacy) => ({ owner, privacy })),
)

interface Draw {
  readonly val: number
  readonly account: number
  readonly offset: number
  readonly ms: number | null
  readonly status: RunStatus
}

/**
 * Few times, so that many runs are at the edge of a bucket and at the end of a batch.
 */
const draws = fc.array(
  fc.record({
    val: fc.nat(kinds.length - 1),
    account: fc.nat(people.length - 1),
    offset: fc.oneof(fc.nat(20), fc.nat(3 * hour)),
    ms: fc.option(fc.integer({ min: -3, max: 40 })),
    status: fc.constantFrom(...statuses),
  }),
  { maxLength: 40 },
)

interface Scene {
  readonly database: TestDatabase
  readonly users: readonly string[]
  /** In the order of their kinds. */
  readonly vals: readonly string[]
}

describeEachDatabase("createStatStore", (open) => {
  let scene: Scene

  beforeAll(async () => {
    const database = await open()
    const users = await Promise.all(people.map((name) => addUser(database.db, name)))
    const vals = await Promise.all(
      kinds.map(({ owner, privacy }) =>
        addVal(database, users[people.indexOf(owner)] ?? "", privacy),
      ),
    )
    scene = { database, users, vals }
  })

  afterAll(() => scene.database.close())

  /** Replaces all runs by these, and deletes the vals of the third kind. */
  async function record(drawn: readonly Draw[]): Promise<readonly RunRecord[]> {
    const { database, vals } = scene
    const runs = drawn.map((draw) => toRun(scene, draw))
    await database.db.write(function* () {
      yield sql`delete from runs`
    })
    for (const [index, { privacy, owner }] of kinds.entries())
      if (privacy === "gone")
        await insertVal(
          database,
          vals[index] ?? "",
          scene.users[people.indexOf(owner)] ?? "",
          "public",
        )
    await createRunStore(database.db).record(runs)
    for (const [index, { privacy }] of kinds.entries())
      if (privacy === "gone") await removeVal(database, vals[index] ?? "")
    return runs
  }

  function toStats(runsAtOnceMax: number, now = start + 4 * hour, limits?: StatLimits) {
    const { db } = scene.database
    return createRunStats(
      createStatStore(db, { runsAtOnceMax }),
      toVals(db),
      { now: () => now },
      limits,
    )
  }

  /** Reading is all that statistics do with vals. */
  function toVals(db: TestDatabase["db"]): Vals {
    const sources = createSources({} as CodeParser, { baseUrls: [] }, createValStore(db))
    const clock = { now: () => 0, newId: () => "" }
    return createVals(createValStore(db), sources, { retire() {} }, { wake() {} }, clock)
  }

  const queries = fc
    .tuple(
      fc.nat(30),
      fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 3 * hour })),
      fc.integer({ min: 1, max: 12 }),
    )
    .map(([from, span, buckets]) => ({
      since: start + from - 5,
      until: start + from - 5 + span,
      buckets,
    }))

  test("getOfAccount equals counting run by run, whatever the batch size", async () => {
    await fc.assert(
      fc.asyncProperty(
        draws,
        queries,
        fc.integer({ min: 1, max: 9 }),
        async (drawn, query, atOnce) => {
          const runs = await record(drawn)
          for (const userId of scene.users) {
            const visible = runs.filter(
              (run) => run.accountId === userId && canSee(scene, userId, run.valId),
            )
            const found = await toStats(atOnce).getOfAccount(toCaller(userId), query)
            expect(found).toEqual({ ...countOneByOne(visible, query), isPartial: false })
          }
        },
      ),
      { numRuns: 40 },
    )
  })

  test("getValStats counts all runs for the owner and their own for others", async () => {
    await fc.assert(
      fc.asyncProperty(
        draws,
        queries,
        fc.integer({ min: 1, max: 9 }),
        async (drawn, query, atOnce) => {
          const runs = await record(drawn)
          for (const userId of scene.users) {
            for (const valId of scene.vals.filter((id) => canSee(scene, userId, id))) {
              const isOwner = ownerOf(scene, valId) === userId
              const visible = runs.filter(
                (run) => run.valId === valId && (isOwner || run.accountId === userId),
              )
              const found = await toStats(atOnce).getOfVal(toCaller(userId), valId, query)
              expect(found).toEqual({ ...countOneByOne(visible, query), isPartial: false })
            }
          }
        },
      ),
      { numRuns: 20 },
    )
  })

  test("getActivity equals counting run by run for each own val, the last run first", async () => {
    await fc.assert(
      fc.asyncProperty(
        draws,
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 12 }),
        async (drawn, hours, buckets) => {
          const runs = await record(drawn)
          for (const userId of scene.users) {
            const span = { since: start + (4 - hours) * hour, until: start + 4 * hour }
            const isShown = ({ accountId, valId, startedAt }: RunRecord) =>
              accountId === userId &&
              ownerOf(scene, valId) === userId &&
              canSee(scene, userId, valId) &&
              startedAt > span.since
            const shown = newestFirst(runs.filter(isShown))
            const vals = [...new Set(shown.map(({ valId }) => valId))].map((valId) => {
              const own = shown.filter((run) => run.valId === valId)
              const counted = countOneByOne(own, { ...span, buckets }).buckets
              const lists = {
                runs: counted.map((it) => it.runs),
                errors: counted.map((it) => it.errors),
              }
              return {
                valId,
                ...lists,
                lastRunAt: own[0]?.startedAt ?? 0,
                lastStatus: own[0]?.status ?? "queued",
                lastRunId: own[0]?.id ?? "",
                lastRequest: own[0]?.request ?? null,
              }
            })
            const found = await toStats(3).getActivity(toCaller(userId), { hours, buckets })
            expect(found).toEqual({
              ...span,
              vals,
              bucketMs: Math.ceil((hours * hour) / buckets),
              isPartial: false,
            })
          }
        },
      ),
      { numRuns: 30 },
    )
  })

  test.each([
    [10, 10, false],
    [9, 9, true],
    [4, 4, true],
    [1, 1, true],
  ])("counts only the newest %i runs where there are ten", async (runsMax, counted, isPartial) => {
    await record(
      Array.from({ length: 10 }, (_, index) => ({
        val: 0,
        account: 0,
        offset: index,
        ms: index,
        status: "failed",
      })),
    )
    const query = { since: start - 1, until: start + 9, buckets: 10 }
    const stats = toStats(3, undefined, { runsMax, activityValsMax: 10 })
    const [ada = ""] = scene.users
    for (const found of [
      await stats.getOfAccount(toCaller(ada), query),
      await stats.getOfVal(toCaller(ada), scene.vals[0] ?? "", query),
    ]) {
      expect([found.total.runs, found.isPartial]).toEqual([counted, isPartial])
      expect(found.buckets.map((it) => it.runs)).toEqual([
        ...Array(10 - counted).fill(0),
        ...Array(counted).fill(1),
      ])
    }
  })

  test("counts each run once where many started at the same time", async () => {
    await record(
      Array.from({ length: 12 }, () => ({
        val: 0,
        account: 0,
        offset: 3,
        ms: 1,
        status: "succeeded",
      })),
    )
    const query = { since: start, until: start + 5, buckets: 1 }
    for (const atOnce of [1, 2, 5, 12, 13]) {
      const found = await toStats(atOnce).getOfAccount(toCaller(scene.users[0] ?? ""), query)
      expect([atOnce, found.total.runs]).toEqual([atOnce, 12])
    }
  })

  test("counts runs that the user may not see towards the limit only", async () => {
    const hidden = { account: 0, val: 4, ms: 1, status: "failed" } as const
    const shown = { ...hidden, val: 0 }
    await record([
      ...Array.from({ length: 5 }, (_, index) => ({ ...hidden, offset: 5 + index })),
      { ...shown, offset: 1 },
    ])
    const query = { since: start - 1, until: start + 20, buckets: 1 }
    const count = async (runsMax: number) => {
      const stats = toStats(2, undefined, { runsMax, activityValsMax: 1 })
      const found = await stats.getOfAccount(toCaller(scene.users[0] ?? ""), query)
      return [found.total.runs, found.total.errors, found.total.p95Ms, found.isPartial]
    }
    expect(await count(6)).toEqual([1, 1, 1, false])
    expect(await count(5)).toEqual([0, 0, null, true])
  })

  test("getActivity returns at most the maximum of vals, and whether there are more", async () => {
    await record(
      [0, 1, 0, 1].map((val, offset) => ({ val, account: 0, offset, ms: 1, status: "succeeded" })),
    )
    const tell = async (activityValsMax: number) => {
      const stats = toStats(3, start + hour - 1, { runsMax: 100, activityValsMax })
      const caller = toCaller(scene.users[0] ?? "")
      const found = await stats.getActivity(caller, { hours: 1, buckets: 1 })
      return [found.vals.map((it) => [scene.vals.indexOf(it.valId), it.runs[0]]), found.isPartial]
    }
    expect(await tell(2)).toEqual([
      [
        [1, 2],
        [0, 2],
      ],
      false,
    ])
    expect(await tell(1)).toEqual([[[1, 2]], true])
  })

  test("leaves turns of the event loop to other requests, however many callers read", async () => {
    await record(
      Array.from({ length: 20 }, (_, offset) => ({
        val: 0,
        account: 0,
        offset,
        ms: 1,
        status: "succeeded",
      })),
    )
    const { db } = scene.database
    const reads: number[] = []
    let turn = 0
    let isOver = false
    const count = () => {
      turn += 1
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const watched: typeof db = {
      ...db,
      read(...given) {
        reads.push(turn)
        return db.read(...given)
      },
    }
    const store = createStatStore(watched, { runsAtOnceMax: 5 })
    const stats = createRunStats(store, toVals(db), { now: () => start + 4 * hour })
    const query = { since: start - 1, until: start + 20, buckets: 1 }
    const found = await Promise.all(
      Array.from({ length: 4 }, () => stats.getOfAccount(toCaller(scene.users[0] ?? ""), query)),
    )
    isOver = true
    expect(found.map((it) => it.total.runs)).toEqual([20, 20, 20, 20])
    expect(reads).toHaveLength(20)
    expect(new Set(reads).size).toBe(20)
  })
})

async function addVal(
  database: TestDatabase,
  ownerId: string,
  privacy: Privacy | "gone",
): Promise<string> {
  const id = Bun.randomUUIDv7()
  if (privacy !== "gone") await insertVal(database, id, ownerId, privacy)
  return id
}

async function insertVal(
  { db }: TestDatabase,
  id: string,
  ownerId: string,
  privacy: Privacy,
): Promise<void> {
  await db.write(function* () {
    yield* insertValRows({ id, ownerId, name: `v${id}`, privacy })
  })
}

async function removeVal({ db }: TestDatabase, id: string): Promise<void> {
  await db.write(function* () {
    yield sql`delete from vals where id = ${id}`
  })
}

function toRun(scene: Scene, { val, account, offset, ms, status }: Draw): RunRecord {
  const valId = scene.vals[val] ?? ""
  const startedAt = start + offset
  return toEndedRun({
    valId,
    ownerId: ownerOf(scene, valId),
    accountId: scene.users[account] ?? "",
    status,
    startedAt,
    endedAt: ms === null ? null : startedAt + ms,
  })
}

function toCaller(userId: string) {
  return asOwner(userId) as Caller
}

function kindOf({ vals }: Scene, valId: string) {
  return kinds[vals.indexOf(valId)] ?? { owner: "ada", privacy: "gone" }
}

function ownerOf(scene: Scene, valId: string): string {
  return scene.users[people.indexOf(kindOf(scene, valId).owner as "ada")] ?? ""
}

function canSee(scene: Scene, userId: string, valId: string): boolean {
  const { privacy } = kindOf(scene, valId)
  return privacy === "public" || (privacy === "private" && ownerOf(scene, valId) === userId)
}

function newestFirst(runs: readonly RunRecord[]): readonly RunRecord[] {
  return runs.toSorted(
    (one, other) => other.startedAt - one.startedAt || (one.id < other.id ? 1 : -1),
  )
}

/** The expected result, computed in the simplest way: every bucket checks every run. */
function countOneByOne(
  runs: readonly RunRecord[],
  query: { readonly since: number; readonly until: number; readonly buckets: number },
) {
  const { since, until } = query
  let bucketMs = 1
  while (bucketMs * query.buckets < until - since)
    bucketMs = Math.max(bucketMs + 1, Math.floor((until - since) / query.buckets))
  const between = (after: number, to: number) =>
    runs.filter((run) => run.startedAt > after && run.startedAt <= to)
  const buckets = []
  for (let at = since; at < until; at += bucketMs)
    buckets.push({ at, ...summary(between(at, Math.min(until, at + bucketMs))) })
  return { since, until, bucketMs, buckets, total: summary(between(since, until)) }
}

function summary(runs: readonly RunRecord[]) {
  const durations = runs.flatMap((run) =>
    run.endedAt === null ? [] : [Math.max(0, run.endedAt - run.startedAt)],
  )
  const errors = runs.filter((run) =>
    ["failed", "timed_out", "crashed"].includes(run.status),
  ).length
  return {
    runs: runs.length,
    errors,
    p50Ms: shortestFor(durations, 0.5),
    p95Ms: shortestFor(durations, 0.95),
  }
}

/** The shortest duration that this part of all durations does not exceed. */
function shortestFor(durations: readonly number[], part: number): number | null {
  const enough = durations.filter(
    (one) => durations.filter((other) => other <= one).length >= durations.length * part - 1e-9,
  )
  return enough.length === 0 ? null : Math.min(...enough)
}
