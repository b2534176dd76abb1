import { expect, test } from "bun:test"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import { migrate } from "../database/migrate.ts"
import { sql } from "../database/sql.ts"
import { createScheduleStore } from "../schedules/schedules.ts"
import { migrations } from "./index.ts"

const owner = "00000000-0000-7000-8000-000000000001"
const one = "00000000-0000-7000-8000-000000000002"
const two = "00000000-0000-7000-8000-000000000003"
const empty = "00000000-0000-7000-8000-000000000004"
const entry = "00000000-0000-7000-8000-00000000000e"
const run = "00000000-0000-7000-8000-00000000000f"

describeEachDatabase("schedule-files", (open) => {
  test("lets the schedules that exist be those of the entry files", async () => {
    const { db } = await open({ isEmpty: true })
    await migrate(
      db,
      migrations.filter(({ version }) => version < 36),
    )
    await db.write(function* () {
      yield sql`insert into users (id, username, username_key, created_at) values (${owner}, 'ada', 'ada', 1)`
      // The code of the second val was made as a file, and has an id of its own; the third has none.
      for (const [valId, fileId] of [
        [one, one],
        [two, entry],
        [empty, null],
      ] as const) {
        yield sql`insert into vals (id, owner_id, name, name_key, privacy, created_at, updated_at)
          values (${valId}, ${owner}, ${valId}, ${valId}, 'private', 1, 1)`
        yield sql`insert into branches (id, val_id, name, name_key, version, version_last, created_at, updated_at)
          values (${valId}, ${valId}, 'main', 'main', 1, 1, 1, 1)`
        yield sql`insert into versions (branch_id, version, created_at, entry_path, entry_since)
          values (${valId}, 1, 1, ${fileId && "main.tsx"}, ${fileId && 1})`
        if (fileId) {
          yield sql`insert into files (id, branch_id, path) values (${fileId}, ${valId}, 'main.tsx')`
          yield sql`insert into states (branch_id, path, since, file_id, type, created_at, content)
            values (${valId}, 'main.tsx', 1, ${fileId}, 'interval', 1, '')`
        }
        yield sql`insert into schedules (val_id, owner_id, cron, time_zone, overlap, catch_up, is_paused, anchor_at, next_at,
            waits_for_id, released_at, last_run_at, last_run_id, last_status, failure_count, created_at, updated_at)
          values (${valId}, ${owner}, '* * * * *', 'Europe/Berlin', 'queue', 'one', 0, 1, 2, ${run}, 3, 4, ${run}, 'failed', 5, 6, 7)`
      }
    })

    await migrate(db, migrations)

    const store = createScheduleStore(db, Bun.randomUUIDv7, () => "")
    for (const [valId, fileId] of [
      [one, one],
      [two, entry],
    ] as const)
      expect(await store.find(valId, {})).toMatchObject({
        ...{ val: { id: valId }, file: { id: fileId, path: "main.tsx" } },
        ...{ branch: { id: valId, name: "main" }, type: "interval" },
        timing: { cron: "* * * * *", every: null, timeZone: "Europe/Berlin" },
        ...{ overlap: "queue", catchUp: "one", isPaused: false, anchorAt: 1, nextAt: 2 },
        ...{ lastRunAt: 4, lastRunId: run, lastStatus: "failed", failureCount: 5 },
        ...{ createdAt: 6, updatedAt: 7 },
      })
    const rows = await db.read(
      sql`select val_id, waits_for_id, released_at from schedules order by val_id`,
    )
    const kept = { waitsForId: run, releasedAt: expect.anything() }
    expect(rows as object[]).toEqual([
      { valId: one, ...kept },
      { valId: two, ...kept },
    ])
  })
})
