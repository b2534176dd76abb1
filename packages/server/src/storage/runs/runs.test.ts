import { expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import { insertValRows } from "../../../test/support/data/insert-val-rows.ts"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import { toEndedRun } from "../../../test/support/fakes/ended-run.ts"
import { asOwner } from "../../domain/access/rights.ts"
import type { RunRecord } from "../../domain/runs/runs.ts"
import { createNodeStore } from "../nodes.ts"
import { createRunStore } from "./runs.ts"

const user = Bun.randomUUIDv7()
const everything = { error: undefined, sources: undefined, since: undefined, until: undefined }

describeEachDatabase("createRunStore", (open) => {
  async function setUp(valCount = 1) {
    const { db } = await open()
    const vals = Array.from({ length: valCount }, () => Bun.randomUUIDv7())
    await db.write(function* () {
      yield sql`insert into users (id, username, username_key, created_at) values (${user}, 'ada', 'ada', 1)`
      for (const [index, val] of vals.entries()) {
        yield* insertValRows({ id: val, ownerId: user, name: `val${index}` })
      }
    })
    return { db, vals, val: vals[0] ?? "", runs: createRunStore(db), nodes: createNodeStore(db) }
  }

  const toRun = (valId: string, more: Partial<RunRecord> = {}) =>
    toEndedRun({ valId, ownerId: user, ...more })

  test("record writes any number of runs of many vals, and skips those of deleted vals", async () => {
    const { db, runs, vals } = await setUp(10)
    for (const count of [1, 7, 8, 9, 63, 64, 65, 200]) {
      const gone = Bun.randomUUIDv7()
      const made = Array.from({ length: count }, (_, index) =>
        toRun(vals[index % 10] ?? "", { startedAt: index, endedAt: index + 1 }),
      )
      await runs.record([...made, toRun(gone)])
      const listed: string[] = []
      for (let offset = 0; ; offset += 100) {
        const { items, hasMore } = await runs.listOfAccount(asOwner(user), everything, {
          limit: 100,
          offset,
        })
        listed.push(...items.map(({ id }) => id))
        if (!hasMore) break
      }
      expect(listed).toEqual(made.map(({ id }) => id).reverse())
      await db.write(function* () {
        yield sql`delete from runs`
      })
    }
  })

  test("record accepts the same run twice, and keeps the later state", async () => {
    const { runs, val } = await setUp()
    const run = toRun(val, { status: "running", endedAt: null })
    await runs.record([
      run,
      { ...run, status: "failed", endedAt: 9, error: { name: "Error", message: "no\u0000\ud800" } },
    ])
    expect(await runs.find(asOwner(user), run.id)).toMatchObject({
      status: "failed",
      endedAt: 9,
      error: { message: "no\u0000\ud800" },
    })
  })

  test("record never reopens a run that has ended", async () => {
    const { runs, val } = await setUp()
    const run = toRun(val, { returnValue: 1 })
    await runs.record([run])
    await runs.record([{ ...run, status: "running", endedAt: null, returnValue: null }])
    expect(await runs.find(asOwner(user), run.id)).toMatchObject({
      status: "succeeded",
      returnValue: 1,
    })
  })

  test("findInput returns the stored request", async () => {
    const { runs, val } = await setUp()
    const input = { headers: [["content-type", "text/plain"]] as const, body: "aGVsbG8=" }
    const [kept, bare] = [toRun(val, { input }), toRun(val)]
    await runs.record([kept, bare])
    expect(await runs.findInput(kept.id)).toEqual(input)
    expect(await runs.findInput(bare.id)).toBeUndefined()
    expect(await runs.findInput(Bun.randomUUIDv7())).toBeUndefined()
  })

  test("findInput reads the format of earlier versions of the server", async () => {
    const { db, runs, val } = await setUp()
    const [typed, bare] = [toRun(val), toRun(val)]
    await runs.record([typed, bare])
    const old = (contentType: string | null) => JSON.stringify({ contentType, body: "aGVsbG8=" })
    await db.write(function* () {
      yield sql`update runs set input = ${old("text/plain")} where id = ${typed.id}`
      yield sql`update runs set input = ${old(null)} where id = ${bare.id}`
    })
    expect(await runs.findInput(typed.id)).toEqual({
      headers: [["content-type", "text/plain"]],
      body: "aGVsbG8=",
    })
    expect(await runs.findInput(bare.id)).toEqual({ headers: [], body: "aGVsbG8=" })
  })

  test("requestCancel reaches the node of a run, whatever the run records meanwhile", async () => {
    const { runs, val, nodes } = await setUp()
    const node = Bun.randomUUIDv7()
    await nodes.add({ id: node, host: "h", pid: 1, pidStarted: "" }, 60_000)
    const run = toRun(val, { status: "queued", endedAt: null, nodeId: node })
    await runs.record([run, toRun(val, { status: "running", endedAt: null, nodeId: node })])
    expect(await runs.requestCancel(run.id, 5)).toBe(true)
    await runs.record([{ ...run, status: "running" }])
    expect(await runs.listCancelRequests()).toEqual([run.id])
    await runs.record([{ ...run, status: "cancelled", endedAt: 6, nodeId: null }])
    expect(await runs.listCancelRequests()).toEqual([])
    expect(await runs.requestCancel(run.id, 7)).toBe(false)
    expect(await runs.requestCancel(Bun.randomUUIDv7(), 7)).toBe(false)
  })

  test("purgeOlder deletes by the time in the id, a batch at a time", async () => {
    const { runs, val } = await setUp()
    const at = (ms: number) => toRun(val, { id: Bun.randomUUIDv7("hex", ms) })
    const [old, older, kept] = [at(999), at(1), at(1_000)]
    await runs.record([old, older, kept])
    expect(await runs.purgeOlder(1_000, 1)).toBe(true)
    expect(await runs.find(asOwner(user), older.id)).toBeUndefined()
    expect(await runs.purgeOlder(1_000, 5)).toBe(false)
    expect(await runs.find(asOwner(user), old.id)).toBeUndefined()
    expect(await runs.find(asOwner(user), kept.id)).toBeDefined()
  })

  test("purgeFrom deletes a run and earlier ones, and listSizes returns their sizes", async () => {
    const { runs, vals } = await setUp(1)
    const [val = ""] = vals
    const all = Array.from({ length: 7 }, (_, index) =>
      toRun(val, { startedAt: 10 + Math.floor(index / 2), returnValue: "x".repeat(1_000 * index) }),
    )
    await runs.record(all)
    const ordered = all.toSorted(
      (left, right) => right.startedAt - left.startedAt || (left.id < right.id ? 1 : -1),
    )
    const sizes = await runs.listSizes(user, undefined, 3)
    const more = await runs.listSizes(user, sizes.at(-1), 100)
    expect([...sizes, ...more].map(({ id }) => id)).toEqual(ordered.map(({ id }) => id))
    for (const { id, bytes } of [...sizes, ...more]) {
      const index = all.findIndex((run) => run.id === id)
      expect(bytes).toBeGreaterThan(1_000 * index)
      expect(bytes).toBeLessThan(1_000 * index + 2_000)
    }
    const [, , from] = ordered
    if (!from) throw new Error("there are too few runs")
    expect(await runs.purgeFrom(user, from, 4)).toBe(true)
    expect(await runs.purgeFrom(user, from, 4)).toBe(false)
    const { items } = await runs.listOfAccount(asOwner(user), everything, { limit: 100, offset: 0 })
    expect(items.map(({ id }) => id)).toEqual(ordered.slice(0, 2).map(({ id }) => id))
  })

  test("purgeBeyond keeps the latest runs of the val", async () => {
    const { runs, vals } = await setUp(2)
    const [busy = "", quiet = ""] = vals
    await runs.record(Array.from({ length: 80 }, (_, index) => toRun(busy, { startedAt: index })))
    await runs.record([toRun(quiet, { startedAt: -5 })])
    expect(await runs.purgeBeyond(busy, 3, 70)).toBe(true)
    expect(await runs.purgeBeyond(busy, 3, 70)).toBe(false)
    const { items } = await runs.listOfAccount(asOwner(user), everything, { limit: 100, offset: 0 })
    expect(items.map(({ startedAt }) => startedAt)).toEqual([79, 78, 77, -5])
  })
})
