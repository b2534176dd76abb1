import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test"
import { sql } from "@hamlet/database"
import { openRules, type TestRules } from "../../test/support/rules.ts"
import type { Caller } from "../domain/access/caller.ts"
import type { ObjectStore } from "../domain/blobs/objects.ts"
import { noOwnerDatabases } from "../domain/owner-databases.ts"
import {
  createRetentionCounts,
  createRunCounter,
  type RetentionCounts,
  type RunCounter,
} from "../domain/runs/live-runs.ts"
import type { RunRecord, RunStore } from "../domain/runs/runs.ts"
import type { Val } from "../domain/vals/vals.ts"
import { createAccountStore } from "../storage/accounts/accounts.ts"
import { createBlobStore } from "../storage/blobs/blobs.ts"
import { createObjectStore } from "../storage/blobs/objects.ts"
import { createMailStore } from "../storage/mail/inbound/mails.ts"
import { createEmailStore } from "../storage/mail/outbound/emails.ts"
import { createBundleStore } from "../storage/modules/bundles.ts"
import { createValPurgeStore } from "../storage/vals/val-purges.ts"
import { Housekeeping } from "./housekeeping.ts"

const keptBytesPerAccount = 1_620_000
const dayMs = 24 * 60 * 60_000
/** Minutes, even of a quick machine. */
const turnsMax = 1_000_000
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

describe("Housekeeping", () => {
  let rules: TestRules
  let ada: Caller
  let errors: unknown[]
  let steps: unknown[]
  let counts: RetentionCounts
  let bytes: RetentionCounts
  let uncounted: RunCounter
  let housekeeping: Housekeeping

  beforeEach(async () => {
    rules = await openRules()
    ada = await rules.addCaller("ada")
    errors = []
    steps = []
    counts = createRetentionCounts({ between: 1_000, idsMax: 1_000 })
    bytes = createRetentionCounts({ between: 1_000, idsMax: 1_000 })
    uncounted = createRunCounter(1_000)
    housekeeping = createHousekeeping()
  })

  afterEach(async () => {
    jest.useRealTimers()
    await housekeeping.stop()
    await rules[Symbol.asyncDispose]()
  })

  function createHousekeeping(runs: Partial<RunStore> = {}, objects?: ObjectStore): Housekeeping {
    const onError = (error: unknown, step?: string) => {
      errors.push(error)
      steps.push(step)
    }
    const retention = { keptMs: 30 * dayMs, keptPerVal: 10, keptBytesPerAccount }
    const unused = objects ?? createObjectStore(rules.db, undefined, rules.clock)
    const stores = {
      runs: { ...rules.stores.runs, ...runs },
      idempotency: rules.stores.idempotency,
      objects: unused,
      bundles: createBundleStore(rules.db),
      emails: createEmailStore(rules.db, {} as never),
      deliveries: { purgeOlder: async () => false, purgeBeyond: async () => false },
      deliveriesPerWebhook: { take: () => [] },
      mails: createMailStore(rules.db),
      valPurges: createValPurgeStore(rules.db),
    }
    const accounts = { accounts: createAccountStore(rules.db), ownerDatabases: noOwnerDatabases }
    return new Housekeeping({
      ...stores,
      ...accounts,
      liveRuns: { runsPerVal: counts, bytesPerAccount: bytes, uncounted },
      vals: rules.stores.vals,
      retention,
      now: rules.clock.now,
      onError,
    })
  }

  async function addVal(name: string, runCount: number): Promise<Val> {
    const val = await rules.nouns.vals.create(ada, { name, code: "1" })
    await rules.stores.runs.record(Array.from({ length: runCount }, () => toRun(val)))
    return val
  }

  function toRun(val: Val): RunRecord {
    const about = {
      id: rules.clock.newId(),
      valId: val.id,
      version: 1,
      accountId: val.ownerId,
      ownerId: val.ownerId,
      parentId: null,
    }
    const result = {
      error: null,
      request: null,
      args: [],
      returnValue: null,
      logs: [],
      logsTruncated: false,
    }
    return { ...about, ...result, source: "api", status: "succeeded", startedAt: 1, endedAt: 2 }
  }

  async function countIn(
    table: "runs" | "run_purges" | "idempotency_keys",
  ): Promise<number | undefined> {
    const counts = {
      runs: sql`select count(*) as count from runs`,
      run_purges: sql`select count(*) as count from run_purges`,
      idempotency_keys: sql`select count(*) as count from idempotency_keys`,
    }
    return (await rules.db.read<{ count: number }>(counts[table]))[0]?.count
  }

  const useKey = (key: string) =>
    rules.nouns.idempotency.respondOnce({ userId: ada.ownerId, key, content: [] }, async () => ({
      status: 200,
      headers: {},
      body: "",
    }))

  test("run adds new runs to the vals, at most once a minute", async () => {
    const [one, two] = [await addVal("one", 0), await addVal("two", 0)]
    const read = async () =>
      (
        await rules.db.read<{ runCount: number }>(sql`select run_count from vals order by name`)
      ).map(({ runCount }) => runCount)
    uncounted.note(one.id)
    uncounted.note(two.id, 3)
    uncounted.note(rules.clock.newId())
    await housekeeping.run()
    expect(await read()).toEqual([1, 3])

    uncounted.note(one.id)
    rules.clock.at += 59_000
    await housekeeping.run()
    expect(await read()).toEqual([1, 3])

    rules.clock.at += 1_000
    await housekeeping.run()
    expect(await read()).toEqual([2, 3])
  })

  test("run deletes all runs of deleted vals, and no others", async () => {
    const [large, small, kept] = [
      await addVal("large", 1201),
      await addVal("small", 1),
      await addVal("kept", 3),
    ]
    for (const { id } of [large, small]) await rules.nouns.vals.delete(ada, id, undefined)

    await housekeeping.run()

    expect(await rules.db.read(sql`select distinct val_id from runs`)).toEqual([{ valId: kept.id }])
    expect([await countIn("runs"), await countIn("run_purges")]).toEqual([3, 0])
  })

  test("run deletes all expired idempotency keys, and no others", async () => {
    await rules.db.write(function* () {
      for (let n = 0; n < 1100; n++) {
        yield sql`insert into idempotency_keys (user_id, key, fingerprint, answer, expires_at)
          values (${ada.ownerId}, ${`old ${n}`}, ${new Uint8Array(1)}, null, ${rules.clock.at + (n % 7)})`
      }
    })
    rules.clock.at += 7
    await useKey("kept")

    await housekeeping.run()

    expect(await rules.db.read(sql`select key from idempotency_keys`)).toEqual([{ key: "kept" }])
    rules.clock.at += dayMs - 1
    await housekeeping.run()
    expect(await countIn("idempotency_keys")).toBe(1)
    rules.clock.at += 1
    await housekeeping.run()
    expect(await countIn("idempotency_keys")).toBe(0)
  })

  test("run deletes all runs that are too old, and no others", async () => {
    const val = await addVal("old", 0)
    const at = (ms: number) => ({ ...toRun(val), id: Bun.randomUUIDv7("hex", ms) })
    const cutoff = rules.clock.at - 30 * dayMs
    const old = Array.from({ length: 700 }, (_, index) => at(cutoff - 1 - index))
    const kept = [at(cutoff), at(cutoff + 1), at(rules.clock.at)]
    await rules.stores.runs.record([...old, ...kept])

    await housekeeping.run()

    const left = await rules.db.read<{ id: string }>(sql`select id from runs order by id`)
    expect(left.map(({ id }) => id)).toEqual(kept.map(({ id }) => id).sort())
  })

  test("run keeps a limited number of the latest runs of each val", async () => {
    const [busy, quiet] = [await addVal("busy", 0), await addVal("quiet", 12)]
    const record = (count: number, from: number) =>
      rules.stores.runs.record(
        Array.from({ length: count }, (_, index) => ({ ...toRun(busy), startedAt: from + index })),
      )
    await record(1300, 1)
    counts.note(busy.id)

    await housekeeping.run()

    const startedAt = async (valId: string) =>
      (
        await rules.db.read<{ startedAt: number }>(
          sql`select started_at from runs where val_id = ${valId} order by started_at`,
        )
      ).map((row) => row.startedAt)
    expect(await startedAt(busy.id)).toEqual(Array.from({ length: 10 }, (_, index) => 1291 + index))
    expect(await startedAt(quiet.id)).toHaveLength(12)
    // Nothing has happened since, so it is not looked at again.
    await record(5, 2000)
    await housekeeping.run()
    expect(await startedAt(busy.id)).toHaveLength(15)
  })

  test("run keeps a limited number of bytes of the latest runs of each account", async () => {
    const val = await addVal("talkative", 0)
    const quiet = await addVal("quiet", 12)
    const bob = await rules.addCaller("bob")
    const other = await rules.nouns.vals.create(bob, { name: "other", code: "1" })
    const logs = [
      { at: "2026-01-01T00:00:00.000Z", level: "info" as const, message: "ä".repeat(100) },
    ]
    const recordFor = async (of: Val, count: number) => {
      for (let from = 0; from < count; from += 500)
        await rules.stores.runs.record(
          Array.from({ length: 500 }, (_, index) => ({
            ...toRun(of),
            startedAt: 10 + from + index,
            logs,
          })),
        )
    }
    // Each takes some 765 bytes.
    await recordFor(val, 3_000)
    await recordFor(other, 3_000)
    bytes.note(ada.ownerId, 1)

    await housekeeping.run()

    const kept = await rules.db.read<{ startedAt: number }>(
      sql`select started_at from runs where val_id = ${val.id} order by started_at`,
    )
    expect(kept.length).toBeGreaterThan(2_000)
    expect(kept.length).toBeLessThan(2_200)
    expect(Number(kept[0]?.startedAt)).toBe(10 + 3_000 - kept.length)
    // The runs of the quiet val are older than the ones that there was no room for.
    expect(await rules.db.read(sql`select id from runs where val_id = ${quiet.id}`)).toEqual([])
    expect(await rules.db.read(sql`select id from runs where val_id = ${other.id}`)).toHaveLength(
      3_000,
    )
  })

  test("run deletes content that no blob has used for 15 minutes, of any size, and no other", async () => {
    const objects = createObjectStore(rules.db, undefined, rules.clock)
    const blobs = createBlobStore(rules.db)
    const put = async (key: string) => {
      const content = await objects.write(ada.ownerId, onePiece(6_000_000))
      await blobs.put(
        { home: { ownerId: ada.ownerId }, key, contentType: null, content, at: rules.clock.at },
        1e9,
      )
      return content.id
    }
    const idsOf = async (table: "objects" | "object_chunks") => {
      const statements = {
        objects: sql`select id from objects`,
        object_chunks: sql`select distinct object_id as id from object_chunks`,
      }
      return (await rules.db.read<{ id: string }>(statements[table])).map(({ id }) => id).sort()
    }
    const [replaced, kept, deleted] = [await put("a"), await put("a"), await put("b")]
    const unfinished = (await objects.write(ada.ownerId, onePiece(70_000))).id
    await blobs.remove({ ownerId: ada.ownerId }, "b", rules.clock.at)
    rules.clock.at += 900_000
    await housekeeping.run()
    expect(await idsOf("objects")).toEqual([replaced, kept, deleted, unfinished].sort())
    rules.clock.at += 1
    await housekeeping.run()
    expect([await idsOf("objects"), await idsOf("object_chunks")]).toEqual([[kept], [kept]])
  })

  test("run deletes what deleted vals have stored, and again what was stored at that moment", async () => {
    const objects = createObjectStore(rules.db, undefined, rules.clock)
    const blobs = createBlobStore(rules.db)
    const [gone, kept] = [await addVal("gone", 0), await addVal("kept", 0)]
    const put = async (valId: string, key: string, isLarge = false) => {
      const content = isLarge
        ? await objects.write(ada.ownerId, onePiece(70_000))
        : new Uint8Array(10)
      const home = { ownerId: ada.ownerId, valId }
      await blobs.put({ home, key, contentType: null, content, at: rules.clock.at }, 1e9)
    }
    for (let number = 0; number < 250; number++) await put(gone.id, `${number}`)
    await put(gone.id, "large", true)
    await put(kept.id, "a")
    await rules.nouns.vals.delete(ada, gone.id, undefined)
    const usage = () => blobs.findUsage(ada.ownerId)
    expect(await usage()).toEqual({ count: 252, bytes: 72_510 })
    await housekeeping.run()
    expect(await usage()).toEqual({ count: 1, bytes: 10 })
    expect(
      await rules.db.read(sql`select 1 as one from objects where unused_since is null`),
    ).toEqual([])
    // An upload that had found the val before it was deleted.
    await rules.db.write(function* () {
      yield sql`insert into val_blobs (val_id, key, size, modified_at, content) values (${gone.id}, 'late', 1, 1, ${Uint8Array.of(1)})`
      yield sql`update users set blob_bytes = blob_bytes + 1, blob_count = blob_count + 1 where id = ${ada.ownerId}`
    })
    await housekeeping.run()
    expect(await usage()).toEqual({ count: 2, bytes: 11 })
    rules.clock.at += 900_000
    await housekeeping.run()
    expect(await usage()).toEqual({ count: 1, bytes: 10 })
    expect(await rules.db.read(sql`select val_id from val_purges`)).toEqual([])
  })

  test("run cleans up everything else when the bucket is unavailable", async () => {
    const away = { purge: () => Promise.reject(new Error("away")) }
    housekeeping = createHousekeeping(
      {},
      { ...createObjectStore(rules.db, undefined, rules.clock), ...away },
    )
    await rules.nouns.vals.delete(ada, (await addVal("gone", 1)).id, undefined)
    await housekeeping.run()
    expect(String(errors)).toContain("away")
    expect(steps).toEqual(["delete unused objects"])
    expect(await countIn("runs")).toBe(0)
  })

  test("run deletes bundles that no version has used for an hour, some in each round, and no others", async () => {
    const { id } = await rules.nouns.vals.create(ada, {
      name: "locked",
      code: 'import x from "npm:x"',
    })
    await rules.db.write(function* () {
      const toHash = (n: number) => String(n).padStart(64, "0")
      for (let n = 0; n < 450; n++)
        yield sql`insert into bundles (hash, created_at, code) values (${toHash(n)}, ${rules.clock.at + (n === 7 ? 1 : 0)}, ${new Uint8Array(1)})`
      yield sql`update locks set state = 'ready', bundle_hash = ${toHash(300)} where branch_id = ${id}`
    })
    const left = async () =>
      (await rules.db.read<{ hash: string }>(sql`select hash from bundles order by hash`)).map(
        ({ hash }) => Number(hash),
      )
    rules.clock.at += 3_600_000
    await housekeeping.run()
    expect(await left()).toHaveLength(450)
    rules.clock.at += 1
    // Housekeeping goes on where it was, then begins again.
    for (const count of [251, 201, 2]) {
      await housekeeping.run()
      expect(await left()).toHaveLength(count)
    }
    expect(await left()).toEqual([7, 300])
  })

  test("start runs every ten seconds until stop", async () => {
    jest.useFakeTimers()
    housekeeping.start()
    for (const name of ["first", "second", "third"]) {
      await rules.nouns.vals.delete(ada, (await addVal(name, 1)).id, undefined)
      if (name === "first") {
        jest.advanceTimersByTime(9_999)
        await nextTurn()
        expect(await countIn("runs")).toBe(1)
      }
      await advanceUntil(async () => (await countIn("runs")) === 0)
    }

    await stop()
    expect(jest.getTimerCount()).toBe(0)
    expect(errors).toEqual([])
  })

  test("reports an error, and continues in the next round", async () => {
    let isAway = true
    const purge: RunStore["purge"] = (runsMax) =>
      isAway ? Promise.reject(new Error("away")) : rules.stores.runs.purge(runsMax)
    housekeeping = createHousekeeping({ purge })
    await rules.nouns.vals.delete(ada, (await addVal("gone", 1)).id, undefined)
    jest.useFakeTimers()

    housekeeping.start()
    await advanceUntil(async () => errors.length === 1)
    isAway = false
    await advanceUntil(async () => (await countIn("runs")) === 0)
    await stop()

    expect(errors).toEqual([new Error("away")])
  })

  test("run does every step although others fail, and reports each error once", async () => {
    const away = async () => Promise.reject(new Error("away"))
    housekeeping = createHousekeeping({
      purge: away,
      purgeOlder: away,
      purgeBeyond: away,
      listSizes: away,
    })
    await useKey("old")
    counts.note((await addVal("one", 0)).id)
    bytes.note(ada.ownerId)
    rules.clock.at += 2 * dayMs

    await housekeeping.run()

    expect(errors).toEqual([new Error("away")])
    expect(await countIn("idempotency_keys")).toBe(0)
  })

  test("stop waits for the current batch, and starts no other", async () => {
    const batch = Promise.withResolvers<boolean>()
    let batches = 0
    const purge: RunStore["purge"] = () => {
      batches += 1
      return batch.promise
    }
    housekeeping = createHousekeeping({ purge })
    jest.useFakeTimers()
    housekeeping.start()
    await advanceUntil(async () => batches === 1)

    let isStopped = false
    const stopped = stop().then(() => {
      isStopped = true
    })
    await nextTurn()
    await nextTurn()
    expect(isStopped).toBe(false)
    batch.resolve(true)
    await stopped

    expect(batches).toBe(1)
    expect(jest.getTimerCount()).toBe(0)
  })

  /** Stops it while time passes, which a round needs to come to its end. */
  async function stop(): Promise<void> {
    let isStopped = false
    const stopped = housekeeping.stop().then(() => {
      isStopped = true
    })
    await advanceUntil(async () => isStopped)
    await stopped
  }

  /** Lets as much time pass, on the clock of timers, as it takes. */
  async function advanceUntil(isDone: () => Promise<boolean>): Promise<void> {
    // In turns of the event loop: the test has replaced every clock.
    for (let turn = 0; !(await isDone()); turn++) {
      if (turn === turnsMax) throw new Error(`Waited ${turnsMax} turns for: ${isDone}`)
      jest.advanceTimersByTime(500)
      await nextTurn()
    }
  }
})

async function* onePiece(bytes: number): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(bytes)
}
