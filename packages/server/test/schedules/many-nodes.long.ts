import { describe, expect, test } from "bun:test"
import { type Database, sql } from "@hamlet/database"
import { notRun, waitUntil } from "@hamlet/kit/testing"
import { changeSchedule } from "../../src/domain/schedules/schedules.ts"
import { listNextTimes } from "../../src/domain/schedules/timing.ts"
import { createScheduleStore } from "../../src/storage/schedules/schedules.ts"
import { insertValRows } from "../support/data/insert-val-rows.ts"
import { databases } from "../support/databases.ts"
import { createRandom, testSeed } from "../support/random.ts"
import { ClockedNode } from "./clocked-node.ts"

/** A whole run of `npm run long-test -- schedules` has more of it. */
const scheduleCount = Number(process.env.HAMLET_CHAOS_SCHEDULES ?? 20)
const seconds = Number(process.env.HAMLET_CHAOS_SECONDS ?? 8)
const seed = testSeed
const isLong = process.env.HAMLET_CHAOS_SCHEDULES !== undefined
const killMs = isLong ? 3_000 : 1_500
/** On a slow machine it takes longer. */
const killsMin = 3
/** How wrong the clocks of the nodes are. */
const skews = ["+30s", "-30s", "+0s"]
const user = Bun.randomUUIDv7()
const valIds = Array.from({ length: scheduleCount }, () => Bun.randomUUIDv7())

const server = databases.find(({ name }) => name === "PostgreSQL")
const library = process.env.HAMLET_TEST_LIBFAKETIME

if (server === undefined) notRun("schedules on nodes", "HAMLET_TEST_POSTGRES_URL is not set")
else if (library === undefined) notRun("schedules on nodes", "libfaketime is not installed")
else
  describe("schedules on three nodes with wrong clocks", () => {
    test(
      `have exactly one run for each due time while nodes are killed (HAMLET_TEST_SEED=${seed})`,
      async () => {
        const database = await server.open()
        const { db, url = "" } = database
        const nodes = skews.map((skew) => new ClockedNode(url, skew, library))
        try {
          await addVals(db)
          await Promise.all(nodes.map((node) => node.start()))
          const [fast, slow] = nodes.map(({ clockSeconds }) => clockSeconds)
          expect((fast ?? 0) - (slow ?? 0)).toBeGreaterThan(50)
          const firstTimes = await addSchedules(db)
          await killNodes(nodes, createRandom(seed))
          const end = await readClock(db)
          await waitUntil(async () => (await countDue(db, end)) === 0, { msMax: 120_000 })
          expect(await findWrongTimes(db, firstTimes)).toEqual([])
          if (isLong)
            await waitUntil(async () => (await countOpenRuns(db, end)) === 0, { msMax: 90_000 })
        } finally {
          await Promise.all(nodes.map((node) => node.remove()))
          await database.close()
        }
      },
      seconds * 1_000 + 200_000,
    )
  })

/** Kills a node now and then, and starts it again. */
async function killNodes(nodes: readonly ClockedNode[], random: () => number): Promise<void> {
  const until = performance.now() + seconds * 1_000
  let kills = 0
  while (performance.now() < until || kills < killsMin) {
    await Bun.sleep(killMs * (0.5 + random()))
    const node = nodes[Math.floor(random() * nodes.length)]
    await node?.kill()
    kills += 1
    // Now and then another one is killed while it starts, so that one is left.
    const isUp = node?.start()
    if (random() < 0.7) await isUp
  }
  await Promise.all(nodes.map((node) => node.start()))
}

async function addVals(db: Database): Promise<void> {
  await db.write(function* () {
    yield sql`insert into users (id, username, username_key, created_at) values (${user}, 'ada', 'ada', 1)`
    for (const [index, id] of valIds.entries()) {
      yield* insertValRows({
        id,
        ownerId: user,
        name: `val${index}`,
        privacy: "private",
        type: "interval",
        code: "export default () => 1",
      })
    }
  })
}

/** Returns the first due time of each val. */
async function addSchedules(db: Database): Promise<ReadonlyMap<string, number>> {
  const store = createScheduleStore(
    db,
    () => Bun.randomUUIDv7(),
    () => "",
  )
  const first = new Map<string, number>()
  for (const [index, valId] of valIds.entries()) {
    const input = { ...toTiming(index), overlap: "allow" } as const
    const put = await store.put(
      valId,
      {},
      ({ current, now }) => changeSchedule(current, input, 1, now),
      scheduleCount,
    )
    if (typeof put !== "object" || put.nextAt === null) throw new Error("the schedule is not due")
    first.set(valId, put.nextAt)
  }
  return first
}

/** Most are due at the same moments as others. */
function toTiming(index: number) {
  if (isLong) return index % 2 === 0 ? { every: `${20 + (index % 40)}s` } : { cron: "* * * * *" }
  return { cron: index % 4 === 0 ? "* * * * * *" : `*/${2 + (index % 3)} * * * * *` }
}

async function readClock(db: Database): Promise<number> {
  const [row] = await db.read<{ now: number | string }>(sql`select ${db.dialect.now} as now`)
  return Number(row?.now)
}

async function countDue(db: Database, until: number): Promise<number> {
  return (await db.read(sql`select val_id from schedules where next_at <= ${until}`)).length
}

/** Runs from before that time that have not ended. */
async function countOpenRuns(db: Database, before: number): Promise<number> {
  const open = sql`select id from runs where ended_at is null and started_at < ${before}`
  return (await db.read(open)).length
}

interface FiredRow {
  readonly valId: string
  readonly input: string
}

/** Due times without a run, or with several, and runs of no due time. */
async function findWrongTimes(
  db: Database,
  firstTimes: ReadonlyMap<string, number>,
): Promise<readonly string[]> {
  const store = createScheduleStore(
    db,
    () => Bun.randomUUIDv7(),
    () => "",
  )
  // The schedules first: what is started after this read is not expected.
  const schedules = await Promise.all(valIds.map((valId) => store.find(valId, {})))
  const runs = await db.read<FiredRow>(sql`select val_id, input from runs`)
  const counts = new Map<string, Map<number, number>>(valIds.map((valId) => [valId, new Map()]))
  for (const { valId, input } of runs) {
    const { scheduledAt } = JSON.parse(input) as { scheduledAt: number }
    const ofVal = counts.get(valId)
    ofVal?.set(scheduledAt, (ofVal.get(scheduledAt) ?? 0) + 1)
  }
  const wrong: string[] = []
  let expected = 0
  for (const schedule of schedules) {
    if (!schedule || schedule.nextAt === null) throw new Error("a schedule is gone")
    const { val, timing, anchorAt, nextAt } = schedule
    const ofVal = counts.get(val.id) ?? new Map<number, number>()
    let at = firstTimes.get(val.id) ?? 0
    while (at < nextAt) {
      const count = ofVal.get(at) ?? 0
      if (count !== 1) wrong.push(`${val.name} at ${new Date(at).toISOString()}: ${count} runs`)
      ofVal.delete(at)
      expected += 1
      at = listNextTimes(timing, anchorAt, at, 1)[0] ?? Number.POSITIVE_INFINITY
    }
    for (const other of ofVal.keys())
      if (other < nextAt) wrong.push(`${val.name} at ${new Date(other).toISOString()}: not due`)
  }
  if (isLong) console.log(`${expected} due times, ${wrong.length} wrong`)
  expect(expected).toBeGreaterThan(scheduleCount)
  return wrong
}
