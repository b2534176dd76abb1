import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test"
import { noMask } from "@hamlet/kit"
import { waitUntil } from "@hamlet/kit/testing"
import type { RunSlot } from "@hamlet/sandbox"
import { openRules, type TestRules } from "../../../test/support/rules.ts"
import { createNodeStore } from "../../storage/nodes.ts"
import type { Caller } from "../access/caller.ts"
import { asOwner } from "../access/rights.ts"
import { AppError } from "../app-error.ts"
import type { Val } from "../vals/vals.ts"
import {
  createRetentionCounts,
  type LiveEvent,
  type LiveRunLimits,
  LiveRuns,
  type NewRun,
} from "./live-runs.ts"
import type { AdoptedRun } from "./new-run.ts"
import type { LogLine, RunDetail, RunRecord, RunStore } from "./runs.ts"

const away = () => new AppError("database_unavailable", "Cannot use the database: it is away")
const thrown = { name: "Error", message: "thrown" }
const line = (message: string): LogLine => ({
  at: "2026-01-01T00:00:00.000Z",
  level: "log",
  message,
})

describe("LiveRuns", () => {
  let rules: TestRules
  let ada: Caller
  let val: Val
  let errors: unknown[]
  let batches: (readonly string[])[]
  /** What writing them down comes to: undefined lets it happen. */
  let failure: (runs: readonly RunRecord[]) => unknown
  let live: LiveRuns
  const nodeId = Bun.randomUUIDv7()

  beforeEach(async () => {
    jest.useRealTimers()
    rules = await openRules()
    ada = await rules.addCaller("ada")
    val = await rules.nouns.vals.create(ada, { name: "hello", code: "1" })
    errors = []
    batches = []
    failure = () => undefined
    jest.useFakeTimers()
    live = open()
  })

  afterEach(async () => {
    jest.useRealTimers()
    failure = () => undefined
    await live.stop()
    await rules[Symbol.asyncDispose]()
  })

  function open(limits: Partial<LiveRunLimits> = {}, store: Partial<RunStore> = {}): LiveRuns {
    const record: RunStore["record"] = async (runs) => {
      batches.push(runs.map((run) => run.status))
      const error = failure(runs)
      if (error !== undefined) throw error
      return rules.stores.runs.record(runs)
    }
    const runs = { ...rules.stores.runs, record, ...store }
    return new LiveRuns(
      runs,
      nodeId,
      { now: () => rules.clock.at },
      (error) => errors.push(error),
      limits,
    )
  }

  async function reopen(limits: Partial<LiveRunLimits>): Promise<void> {
    await live.stop()
    live = open(limits)
  }

  function toNew(more: Partial<NewRun> = {}): NewRun {
    const about = {
      valId: val.id,
      version: 1,
      accountId: ada.ownerId,
      ownerId: ada.ownerId,
      parentId: null,
    }
    const input = {
      args: null,
      request: { method: "GET", url: "http://ada-hello.test/" },
      input: null,
    }
    return {
      ...about,
      ...input,
      id: rules.clock.newId(),
      source: "http",
      depth: 0,
      startedAt: rules.clock.at,
      ...more,
    }
  }

  /** A run of the queue that this node has claimed. */
  function toAdopted(more: Partial<AdoptedRun> = {}): AdoptedRun {
    const claim = { fence: 1, attempt: 1, retries: 0, delayOf: () => 0, noteBegin: async () => {} }
    return { ...toNew(), ...claim, logs: [], logsTruncated: false, logGap: null, ...more }
  }

  const find = (id: string): Promise<RunDetail | undefined> =>
    rules.stores.runs.find(asOwner(ada.ownerId), id)
  const succeed = { status: "succeeded", error: null, responseStatus: 200 } as const

  /** Lets time pass until what is due has been written down. */
  async function pass(ms: number): Promise<void> {
    rules.clock.at += ms
    jest.advanceTimersByTime(ms)
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
  }

  describe("open", () => {
    test("writes all ended runs in the next batch", async () => {
      const runs = [live.open(toNew()), live.open(toNew()), live.open(toNew())]
      for (const run of runs) run.finish(succeed)
      expect(await find(runs[0]?.id ?? "")).toBeUndefined()
      await pass(100)
      expect(batches).toEqual([["succeeded", "succeeded", "succeeded"]])
      expect(await find(runs[2]?.id ?? "")).toMatchObject({
        status: "succeeded",
        endedAt: runs[2]?.endedAt ?? 0,
        request: { method: "GET", url: "http://ada-hello.test/", status: 200 },
      })
      await pass(1_000)
      expect(batches).toHaveLength(1)
      expect(live.stats()).toEqual({ open: 0, waiting: 0, dropped: 0 })
    })

    test("writes a long run as running, and later its end", async () => {
      const run = live.open(toNew())
      await pass(100)
      expect(batches).toEqual([])
      await pass(100)
      expect(await find(run.id)).toMatchObject({ status: "running", endedAt: null })
      expect(live.stats()).toEqual({ open: 1, waiting: 0, dropped: 0 })
      run.finish(succeed)
      await pass(100)
      expect(await find(run.id)).toMatchObject({
        status: "succeeded",
        endedAt: rules.clock.at - 100,
      })
      expect(live.stats()).toEqual({ open: 0, waiting: 0, dropped: 0 })
      expect(live.find(run.id)).toBeUndefined()
    })

    test("writes logs of a running run once per second, and later logs after its end", async () => {
      const run = live.open(toNew())
      await pass(200)
      for (let tenth = 0; tenth < 25; tenth++) {
        run.log(line(String(tenth)))
        await pass(100)
      }
      expect(batches).toHaveLength(3)
      run.finish(succeed)
      await pass(100)
      run.log(line("late"))
      run.log(line("later"))
      await pass(100)
      expect(batches).toHaveLength(5)
      expect((await find(run.id))?.logs.map(({ message }) => message).slice(-3)).toEqual([
        "24",
        "late",
        "later",
      ])
      expect(live.stats()).toEqual({ open: 0, waiting: 0, dropped: 0 })
    })

    test("drops the record of a val that was deleted meanwhile, without an error", async () => {
      const run = live.open(toNew())
      await rules.nouns.vals.delete(ada, val.id, undefined)
      run.finish(succeed)
      await pass(100)
      expect(live.stats()).toEqual({ open: 0, waiting: 0, dropped: 0 })
      expect(errors).toEqual([])
    })
  })

  describe("begin", () => {
    test("writes the run before it resolves, and its end before settled resolves", async () => {
      jest.useRealTimers()
      const run = await live.begin(toNew({ args: [1], source: "api", request: null }))
      expect(await find(run.id)).toMatchObject({ status: "queued", endedAt: null, args: [1] })
      run.finish({ status: "failed", error: thrown, returnValue: undefined })
      await run.settled()
      expect(await find(run.id)).toMatchObject({ status: "failed", error: thrown })
      await run.settled()
      expect(batches).toEqual([["queued"], ["failed"]])
    })

    test("writes a run as running with the next batch after it gets a slot", async () => {
      const begun = live.begin(toNew())
      await pass(0)
      const run = await begun
      run.attach(new TestSlot())
      await pass(100)
      expect(await find(run.id)).toMatchObject({ status: "running" })
      run.finish(succeed)
    })

    test("writes runs that begin together in one transaction", async () => {
      jest.useRealTimers()
      await Promise.all([live.begin(toNew()), live.begin(toNew()), live.begin(toNew())])
      expect(batches).toEqual([["queued", "queued", "queued"]])
    })

    test("rejects when the database is unavailable, and leaves no running record", async () => {
      // The commit happened, and only its answer was lost.
      failure = (runs) => {
        void rules.stores.runs.record(runs)
        return away()
      }
      const { id } = toNew()
      const begun = live.begin(toNew({ id })).catch((error: AppError) => error.code)
      await pass(0)
      expect(await begun).toBe("database_unavailable")
      failure = () => undefined
      await pass(1_000)
      expect(await find(id)).toMatchObject({
        status: "crashed",
        error: { name: "DatabaseUnavailable" },
      })
    })
  })

  describe("begin of a run of the queue", () => {
    test("does not start its code when it was taken while its start was noted", async () => {
      const noted = Promise.withResolvers<void>()
      const run = live.adopt(toAdopted({ noteBegin: () => noted.promise }))
      const begun = run.begin?.(new TestSlot()).catch((error: Error) => error.message)
      live.forget(run.id)
      noted.resolve()
      expect(await begun).toBe(`Run ${run.id} was taken from this node`)
    })
  })

  describe("finish", () => {
    test("keeps the first outcome", async () => {
      const run = live.open(toNew())
      run.finish({ status: "timed_out", error: thrown })
      run.finish(succeed)
      expect(run.status).toBe("timed_out")
    })

    test("ends as failed when an error was not caught, before or after it", async () => {
      const [before, after, late, cancelled] = [
        live.open(toNew()),
        live.open(toNew()),
        live.open(toNew()),
        live.open(toNew()),
      ]
      before.fail(thrown)
      for (const run of [before, after, late]) run.finish(succeed)
      after.fail(thrown)
      cancelled.finish({ status: "cancelled", error: null })
      cancelled.fail(thrown)
      await pass(100)
      late.fail(thrown)
      late.fail({ name: "Error", message: "another" })
      await pass(100)
      for (const { id } of [before, after, late])
        expect(await find(id)).toMatchObject({ status: "failed", error: thrown })
      expect(await find(cancelled.id)).toMatchObject({ status: "cancelled", error: null })
    })

    test.each([true, false])(
      "that comes during the write of an earlier state is written after it, with a waiter: %p",
      async (waits) => {
        jest.useRealTimers()
        const gate = Promise.withResolvers<void>()
        const written: string[] = []
        let calls = 0
        const record: RunStore["record"] = async (runs) => {
          const statuses = runs.map(({ status }) => status)
          calls += 1
          if (calls === 2) await gate.promise
          written.push(...statuses)
          return []
        }
        const runs = { ...rules.stores.runs, record }
        const limits = { updateMs: 0, flushMs: 1 }
        const slow = new LiveRuns(
          runs,
          nodeId,
          { now: () => rules.clock.at },
          (error) => errors.push(error),
          limits,
        )
        const run = await slow.begin(toNew())
        run.attach(new TestSlot())
        const running = run.settled()
        await waitUntil(() => calls >= 2)
        run.finish(succeed)
        const ended = waits ? run.settled() : undefined
        // Long enough for an implementation that does not wait.
        for (let turn = 0; turn < 20; turn++) await Bun.sleep(1)
        gate.resolve()
        await Promise.all([running, ended])
        await slow.stop()
        expect(written).toEqual(["queued", "running", "succeeded"])
      },
    )
  })

  describe("the stored part of a run", () => {
    test("is truncated with a mark, each part separately", async () => {
      await reopen({ valueBytesMax: 100, logBytesMax: 400 })
      const run = live.open(toNew({ args: ["x".repeat(200)] }))
      run.log(line("short"))
      run.log(line("y".repeat(500)))
      run.log(line("never"))
      run.finish({
        status: "failed",
        error: { name: "Error", message: "m".repeat(200) },
        returnValue: { a: "z".repeat(200) },
      })
      await pass(100)
      const kept = await find(run.id)
      expect(kept?.args).toMatch(/^\["x+… \(cut, 204 bytes in all\)$/)
      expect(kept?.returnValue).toMatch(/^\{"a":"z+… \(cut/)
      expect(kept?.error?.message).toMatch(/^m+… \(cut/)
      expect(kept?.logs.map(({ message }) => message)).toEqual(["short", "never"])
      expect(kept?.logGap).toEqual({ after: 1, lines: 1 })
      expect(kept?.logsTruncated).toBe(true)
      expect(kept?.lastLine).toBe("never")
    })

    test("limits the number of empty lines too", async () => {
      await reopen({ logBytesMax: 6_400 })
      const run = live.open(toNew())
      for (let count = 0; count < 1_000; count++) run.log(line(""))
      expect(run.logs).toHaveLength(100)
      expect(run.logGap).toEqual({ after: 50, lines: 900 })
      expect(run.logsTruncated).toBe(true)
    })
  })

  describe("cancel", () => {
    test("stops the slot, also one that comes later, and aborts the wait for one", async () => {
      const [early, late] = [live.open(toNew()), live.open(toNew())]
      const [earlySlot, lateSlot] = [new TestSlot(), new TestSlot()]
      const { signal } = late
      early.attach(earlySlot)
      early.cancel()
      early.cancel()
      late.cancel()
      late.attach(lateSlot)
      expect([earlySlot.stops, lateSlot.stops]).toEqual([["cancelled"], ["cancelled"]])
      expect([signal.aborted, early.signal.aborted, early.isCancelled]).toEqual([true, true, true])
    })

    test("does nothing to a run that has ended", () => {
      const run = live.open(toNew())
      const slot = new TestSlot()
      run.attach(slot)
      run.finish(succeed)
      run.cancel()
      expect([slot.stops, run.isCancelled]).toEqual([[], false])
    })

    /** A run that is on disk, on a node that other nodes know. */
    async function startOnNode() {
      await createNodeStore(rules.db).add(
        { id: nodeId, host: "here", pid: 1, pidStarted: "" },
        60_000,
      )
      const run = live.open(toNew())
      const slot = new TestSlot()
      run.attach(slot)
      await pass(200)
      return { run, slot }
    }

    test("works from another node at once", async () => {
      await reopen({ cancelMs: 1_000_000 })
      const { run, slot } = await startOnNode()
      expect(await rules.stores.runs.requestCancel(run.id, rules.clock.at)).toBe(true)
      await pass(0)
      expect(slot.stops).toEqual(["cancelled"])
    })

    test("works from another node within a second when its notice gets lost", async () => {
      await live.stop()
      live = open({}, { onCancelRequest: () => () => {} })
      const { run, slot } = await startOnNode()
      expect(await rules.stores.runs.requestCancel(run.id, rules.clock.at)).toBe(true)
      expect(await find(run.id)).toMatchObject({ status: "running" })
      await pass(1_000)
      expect(slot.stops).toEqual(["cancelled"])
    })

    test("works for a run that is claimed but not known yet when the request is read", async () => {
      const { run } = await startOnNode()
      await rules.stores.runs.requestCancel(run.id, rules.clock.at)
      await pass(0)
      expect(live.adopt(toAdopted({ id: run.id })).isCancelled).toBe(true)
    })

    test("keeps an attempt that has failed from being repeated", async () => {
      const run = live.adopt(toAdopted({ retries: 3 }))
      run.cancel()
      run.finish({ status: "failed", error: thrown })
      expect([run.isRetried, run.status]).toEqual([false, "failed"])
      live.forget(run.id)
    })
  })

  describe("subscribe", () => {
    test("reports lines and the end until it is stopped", () => {
      const run = live.open(toNew())
      const heard: LiveEvent[] = []
      const other: LiveEvent[] = []
      run.log(line("before"))
      run.subscribe((event) => heard.push(event))
      const unsubscribe = run.subscribe((event) => other.push(event))
      run.log(line("one"))
      unsubscribe()
      run.finish({ status: "failed", error: thrown })
      expect(heard).toEqual([
        { kind: "log", index: 1, line: line("one") },
        { kind: "end", status: "failed" },
      ])
      expect(other).toHaveLength(1)
    })
  })

  describe("while the database is unavailable", () => {
    test("keeps runs and writes them when the database is back, and reports it once", async () => {
      failure = away
      const run = live.open(toNew())
      run.finish(succeed)
      await pass(100)
      await pass(1_000)
      await pass(1_000)
      expect(batches).toHaveLength(3)
      expect(errors).toHaveLength(1)
      failure = () => undefined
      await pass(1_000)
      expect(await find(run.id)).toMatchObject({ status: "succeeded" })
    })

    test("drops the oldest runs over its limits, but none from the API", async () => {
      await reopen({ waitingMax: 0 })
      const begun = live.begin(toNew())
      await pass(0)
      const api = await begun
      failure = away
      const runs = Array.from({ length: 6 }, () => live.open(toNew()))
      api.finish(succeed)
      for (const run of runs) run.finish(succeed)
      const unsettled = api.settled().catch((error: AppError) => error.code)
      await pass(100)
      expect(await unsettled).toBe("database_unavailable")
      await pass(1_000)
      expect(live.stats().dropped).toBe(6)
      expect(errors.map(String)).toContainEqual(
        expect.stringContaining("Dropped the records of 6 runs"),
      )
      failure = () => undefined
      await pass(1_000)
      const found = await Promise.all([api, ...runs].map(({ id }) => find(id)))
      expect(found.map((run) => run !== undefined)).toEqual([
        true,
        false,
        false,
        false,
        false,
        false,
        false,
      ])
    })

    test("limits their memory too", async () => {
      await reopen({ waitingBytesMax: 10_000 })
      failure = away
      for (let count = 0; count < 5; count++) {
        const run = live.open(toNew())
        run.log(line("x".repeat(4_000)))
        run.finish(succeed)
      }
      await pass(100)
      expect(live.stats().dropped).toBe(4)
    })
  })

  test("drops only the run that cannot be written", async () => {
    const runs = Array.from({ length: 5 }, () => live.open(toNew()))
    failure = (batch) =>
      batch.some(({ id }) => id === runs[3]?.id) ? new Error("poison") : undefined
    for (const run of runs) run.finish(succeed)
    await pass(100)
    const found = await Promise.all(runs.map(({ id }) => find(id)))
    expect(found.map((run) => run !== undefined)).toEqual([true, true, true, false, true])
    expect(errors).toEqual([new Error("poison")])
    expect(live.stats()).toEqual({ open: 0, waiting: 0, dropped: 1 })
  })

  test("stop ends running runs and writes everything", async () => {
    const [ended, lasting] = [live.open(toNew()), live.open(toNew())]
    ended.finish(succeed)
    jest.useRealTimers()
    const begun = await live.begin(toNew())
    await live.stop()
    expect(await find(ended.id)).toMatchObject({ status: "succeeded" })
    expect(await find(lasting.id)).toMatchObject({
      status: "crashed",
      error: { name: "ServerStopped" },
    })
    expect(await find(begun.id)).toMatchObject({ status: "crashed" })
  })
})

class TestSlot implements RunSlot {
  readonly mask = noMask
  readonly stops: string[] = []

  stop(status: string): void {
    this.stops.push(status)
  }
  release(): void {}
  call = () => Promise.reject(new Error("nobody calls it"))
  fetch = () => Promise.reject(new Error("nobody asks it"))
  connect = () => Promise.reject(new Error("nobody connects to it"))
}

describe("createRetentionCounts", () => {
  test("take returns a val after its first run and then after every `between` runs", () => {
    const counts = createRetentionCounts({ between: 3, idsMax: 10 })
    const due = Array.from({ length: 8 }, () => {
      counts.note("a")
      return counts.take().length
    })
    expect(due).toEqual([1, 0, 0, 1, 0, 0, 1, 0])
  })

  test("take returns each val once; note drops all counts at the limit", () => {
    const counts = createRetentionCounts({ between: 100, idsMax: 2 })
    for (const val of ["a", "b", "a", "b"]) counts.note(val)
    expect(counts.take()).toEqual(["a", "b"])
    for (const val of ["c", "a"]) counts.note(val)
    expect(counts.take()).toEqual(["c", "a"])
    expect(counts.take()).toEqual([])
  })

  test("note counts amounts", () => {
    const counts = createRetentionCounts({ between: 100, idsMax: 10 })
    const due = [30, 60, 60, 500, 10].map((amount) => {
      counts.note("a", amount)
      return counts.take().length
    })
    expect(due).toEqual([1, 0, 1, 1, 0])
  })
})
