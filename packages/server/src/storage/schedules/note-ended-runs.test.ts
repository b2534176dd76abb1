import { expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import { insertValRows } from "../../../test/support/data/insert-val-rows.ts"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import { serverErrors } from "../../domain/runs/runs.ts"
import { failureLimits } from "../../domain/schedules/failures.ts"
import { changeSchedule } from "../../domain/schedules/schedules.ts"
import { createQueueStore } from "../queue/queue.ts"
import { createScheduleStore } from "./schedules.ts"

const user = Bun.randomUUIDv7()
const val = Bun.randomUUIDv7()

describeEachDatabase("noteScheduledRuns", (open) => {
  /** A schedule that is one failure away from being paused. */
  async function setUp() {
    const { db } = await open()
    const schedules = createScheduleStore(db, Bun.randomUUIDv7, () => "")
    await db.write(function* () {
      yield sql`insert into users (id, username, username_key, created_at) values (${user}, 'ada', 'ada', 1)`
      yield* insertValRows({
        id: val,
        ownerId: user,
        name: "report",
        privacy: "private",
        type: "interval",
      })
    })
    await schedules.put(
      val,
      {},
      ({ current, now }) => changeSchedule(current, { every: "1h" }, 1, now),
      1,
    )
    await db.write(function* () {
      yield sql`update schedules set failure_count = ${failureLimits.pausedAfter - 1}`
    })
    return { db, schedules }
  }

  for (const [title, error, expected] of [
    ["does not count a run whose server was killed", serverErrors.died, false],
    ["counts a run whose process has ended", { name: "ProcessEnded", message: "" }, true],
  ] as const)
    test(title, async () => {
      const { db, schedules } = await setUp()
      const id = Bun.randomUUIDv7()
      // Its node is not there any more.
      await db.write(function* () {
        yield sql`insert into runs (id, val_id, version, account_id, owner_id, source, status, started_at, bytes, node_id)
          values (${id}, ${val}, 1, ${user}, ${user}, 'interval', 'running', 1, 0, ${Bun.randomUUIDv7()})`
        yield sql`update schedules set last_run_id = ${id}, waits_for_id = ${id}`
      })
      const taken = await createQueueStore(db).takeOver({
        error,
        at: 2,
        runsMax: 10,
        delayOf: () => 0,
      })
      expect(taken.crashed).toBe(1)
      const { pausedAfter } = failureLimits
      expect(await schedules.find(val, {})).toMatchObject({
        failureCount: expected ? pausedAfter : pausedAfter - 1,
        isPaused: expected,
        lastStatus: "crashed",
      })
      const [row] = await db.read(sql`select waits_for_id from schedules`)
      expect(row).toEqual({ waitsForId: null })
    })
})
