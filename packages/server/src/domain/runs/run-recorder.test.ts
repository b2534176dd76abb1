import { describe, expect, test } from "bun:test"
import { noMask } from "@hamlet/kit"
import { waitUntil } from "@hamlet/kit/testing"
import { openRules } from "../../../test/support/rules.ts"
import { asOwner } from "../access/rights.ts"
import { LiveRuns, type NewRun } from "./live-runs.ts"
import type { RunStore } from "./runs.ts"

const valueChars = 20_000
const batchBytesMax = 100_000
const large = "x".repeat(valueChars)
const never = () => Promise.reject(new Error("The run has no code"))
const succeed = { status: "succeeded", error: null } as const

describe("RunRecorder", () => {
  const kinds: readonly [string, Partial<NewRun>, (run: ReturnType<LiveRuns["open"]>) => void][] = [
    [
      "logs",
      {},
      (run) => run.log({ at: "2026-01-01T00:00:00.000Z", level: "log", message: large }),
    ],
    ["arguments", { args: [large] }, () => {}],
    ["return values", {}, (run) => run.finish({ ...succeed, returnValue: { large } })],
    [
      "errors",
      {},
      (run) => run.finish({ status: "failed", error: { name: "Error", message: large } }),
    ],
    ["requests that were kept", { input: { headers: [], body: large } }, () => {}],
  ]
  for (const [title, more, act] of kinds) {
    test(`writes all runs with large ${title}, in batches of limited size`, async () => {
      await using rules = await openRules()
      const ada = await rules.addCaller("ada")
      const val = await rules.nouns.vals.create(ada, { name: "hello", code: "1" })
      const batches: number[] = []
      const record: RunStore["record"] = async (runs) => {
        batches.push(runs.length)
        return rules.stores.runs.record(runs)
      }
      const live = new LiveRuns(
        { ...rules.stores.runs, record },
        Bun.randomUUIDv7(),
        { now: () => rules.clock.at },
        (error) => expect(error).toBeUndefined(),
        { batchBytesMax, logBytesMax: 2 * valueChars, valueBytesMax: 5 * valueChars },
      )
      const about = {
        valId: val.id,
        version: 1,
        accountId: ada.ownerId,
        ownerId: ada.ownerId,
        parentId: null,
      }
      const runs = Array.from({ length: 10 }, () =>
        live.open({
          ...about,
          args: null,
          request: null,
          input: null,
          depth: 0,
          source: "http",
          startedAt: rules.clock.at,
          id: rules.clock.newId(),
          ...more,
        }),
      )
      for (const run of runs) {
        act(run)
        run.finish(succeed)
      }
      await live.stop()
      expect(batches).toEqual([4, 4, 2])
      const found = await Promise.all(
        runs.map(({ id }) => rules.stores.runs.find(asOwner(ada.ownerId), id)),
      )
      expect(found.every((run) => run !== undefined)).toBe(true)
    })
  }

  test("finds a run until it is on disk, also while it is written", async () => {
    await using rules = await openRules()
    const [accountId, valId] = [rules.clock.newId(), rules.clock.newId()]
    const written = Promise.withResolvers<readonly string[]>()
    let hasBegun = false
    const record = () => {
      hasBegun = true
      return written.promise
    }
    const live = new LiveRuns(
      { ...rules.stores.runs, record },
      rules.clock.newId(),
      { now: () => rules.clock.at },
      (error) => expect(error).toBeUndefined(),
    )
    const run = live.open({
      id: rules.clock.newId(),
      valId,
      version: 1,
      accountId,
      ownerId: accountId,
      parentId: null,
      args: null,
      request: null,
      input: null,
      depth: 0,
      source: "http",
      startedAt: rules.clock.at,
    })
    run.finish(succeed)
    expect(live.isPending(run.id)).toBe(true)
    const settled = run.settled()
    await waitUntil(() => hasBegun)
    expect(live.isPending(run.id)).toBe(true)
    written.resolve([])
    await settled
    expect(live.isPending(run.id)).toBe(false)
    await live.stop()
  })

  test("stop waits for a write that begins while it waits for another one", async () => {
    await using rules = await openRules()
    const [accountId, valId] = [rules.clock.newId(), rules.clock.newId()]
    const writes: PromiseWithResolvers<readonly string[]>[] = []
    const record = () => {
      const write = Promise.withResolvers<readonly string[]>()
      writes.push(write)
      return write.promise
    }
    const live = new LiveRuns(
      { ...rules.stores.runs, record },
      rules.clock.newId(),
      { now: () => rules.clock.at },
      (error) => expect(error).toBeUndefined(),
    )
    const end = () => {
      const run = live.open({
        id: rules.clock.newId(),
        valId,
        version: 1,
        accountId,
        ownerId: accountId,
        parentId: null,
        args: null,
        request: null,
        input: null,
        depth: 0,
        source: "http",
        startedAt: rules.clock.at,
      })
      run.finish(succeed)
      return run.settled()
    }
    const first = end()
    await waitUntil(() => writes.length === 1)
    const second = end()
    const events: string[] = []
    const stopped = live.stop().then(() => events.push("stopped"))
    await waitUntil(() => writes.length === 2)
    writes[0]?.resolve([])
    await first
    // Time enough to stop too early.
    await new Promise((resolve) => setImmediate(resolve))
    events.push("written")
    writes[1]?.resolve([])
    await Promise.all([second, stopped])
    expect(events).toEqual(["written", "stopped"])
  })

  test("writes a run as running only when it has lasted for a while", async () => {
    await using rules = await openRules()
    const [accountId, valId] = [rules.clock.newId(), rules.clock.newId()]
    const written: string[] = []
    const record: RunStore["record"] = async (runs) => {
      written.push(...runs.map(({ source, status }) => `${source} ${status}`))
      return []
    }
    const live = new LiveRuns(
      { ...rules.stores.runs, record },
      rules.clock.newId(),
      { now: () => rules.clock.at },
      (error) => expect(error).toBeUndefined(),
      { flushMs: 5 },
    )
    const toNewRun = (source: "api" | "http"): NewRun => ({
      id: rules.clock.newId(),
      valId,
      version: 1,
      accountId,
      ownerId: accountId,
      source,
      parentId: null,
      args: null,
      request: null,
      input: null,
      depth: 0,
      startedAt: rules.clock.at,
    })
    const run = await live.begin(toNewRun("api"))
    run.attach({
      mask: noMask,
      call: never,
      fetch: never,
      connect: never,
      stop() {},
      release() {},
    })
    live.open(toNewRun("http")).finish(succeed)
    await waitUntil(() => written.includes("http succeeded"))
    expect(written).toEqual(["api queued", "http succeeded"])
    rules.clock.at += 5
    await waitUntil(() => written.includes("api running"))
    await live.stop()
  })
})
