import { afterEach, beforeEach, expect, test } from "bun:test"
import { type Database, sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import { insertValRows } from "../../../test/support/data/insert-val-rows.ts"
import { describeSqlite } from "../../../test/support/databases.ts"
import { toEndedRun } from "../../../test/support/fakes/ended-run.ts"
import { asOwner } from "../../domain/access/rights.ts"
import type { RunRecord, RunStore } from "../../domain/runs/runs.ts"
import { createRunStore } from "./runs.ts"

const user = Bun.randomUUIDv7()
const val = Bun.randomUUIDv7()

const toRun = (more: Partial<RunRecord> = {}) =>
  toEndedRun({ valId: val, ownerId: user, source: "http", ...more })
const toRuns = (count: number, more: Partial<RunRecord> = {}) =>
  Array.from({ length: count }, () => toRun(more))

describeSqlite("the thread that writes runs", (open) => {
  let db: Database
  let runs: RunStore

  beforeEach(async () => {
    ;({ db } = await open())
    runs = createRunStore(db)
    await db.write(function* () {
      yield sql`insert into users (id, username, username_key, created_at) values (${user}, 'ada', 'ada', 1)`
      yield* insertValRows({ id: val, ownerId: user, name: "hello", type: "http" })
    })
  })

  const countThreads = () => db.stats().connections - 2

  async function warmUp(): Promise<void> {
    await runs.record(toRuns(16))
    await waitUntil(() => countThreads() === 1)
  }

  afterEach(() => expect(countThreads()).toBe(1))

  test("starts for a batch that is large enough", async () => {
    await runs.record(toRuns(15))
    expect(countThreads()).toBe(0)
    await warmUp()
  })

  test("starts for a single large run too", async () => {
    await runs.record([toRun({ returnValue: "x".repeat(262_144) })])
    await waitUntil(() => countThreads() === 1)
  })

  test("writes runs that other connections then read unchanged", async () => {
    await warmUp()
    const odd = {
      error: { name: "Error", message: 'no\u0000\ud800"\\' },
      request: { method: "GET", url: "http://x/\u2028", status: 200 },
    }
    const written = toRuns(150, odd)
    await runs.record(written)
    expect(await runs.find(asOwner(user), written[149]?.id ?? "")).toMatchObject({
      ...odd,
      args: [],
      startedAt: 1,
      endedAt: 2,
    })
    expect(await db.read`select run_started_at, run_ended_at from vals where id = ${val}`).toEqual([
      { runStartedAt: 1, runEndedAt: 2 },
    ])
  })

  test("tells of messages to webhooks that its runs have caused", async () => {
    await warmUp()
    const notices: string[] = []
    db.listen("hamlet_webhook_deliveries", () => void notices.push("deliveries"))
    await runs.record(toRuns(2))
    expect(notices).toEqual([])
    await db.write(function* () {
      yield sql`insert into webhooks (id, owner_id, url, events, has_run_events, status, key_id, sealed, created_at, updated_at)
        values (${Bun.randomUUIDv7()}, ${user}, 'https://x.example/', '["run.succeeded"]', 1, 'active', 'k', ${Buffer.of(1)}, 1, 1)`
    })
    await runs.record(toRuns(2))
    expect(notices).toEqual(["deliveries"])
  })

  test("deletes old runs", async () => {
    await warmUp()
    await runs.record(
      toRuns(5).map((run, at) => ({ ...run, startedAt: at + 10, endedAt: at + 10 })),
    )
    expect(await runs.purgeBeyond(val, 2, 10)).toBe(true)
    expect(await runs.purgeBeyond(val, 2, 10)).toBe(false)
    expect(await db.read`select started_at from runs order by started_at`).toEqual([
      { startedAt: 13 },
      { startedAt: 14 },
    ])
  })
})
