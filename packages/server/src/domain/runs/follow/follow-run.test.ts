import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { codeOf, openRules, type TestRules } from "../../../../test/support/rules.ts"
import { createMemberStore } from "../../../storage/organisations/members.ts"
import type { Caller } from "../../access/caller.ts"
import type { Val } from "../../vals/vals.ts"
import { type LiveRun, LiveRuns } from "../live-runs.ts"
import { createRuns, type LogLine, type RunRecord } from "../runs.ts"
import { type FollowEvent, RunFollowers } from "./follow-run.ts"

const line = (message: string): LogLine => ({
  at: "2026-01-01T00:00:00.000Z",
  level: "log",
  message,
})
const succeed = { status: "succeeded", error: null } as const
const end: FollowEvent = { kind: "end", status: "succeeded", logsTruncated: false }

describe("RunFollowers", () => {
  let rules: TestRules
  let live: LiveRuns
  let followers: RunFollowers
  let ada: Caller
  let bob: Caller
  let val: Val
  let leaving: AbortController

  beforeEach(async () => {
    rules = await openRules()
    live = new LiveRuns(rules.stores.runs, rules.clock.newId(), { now: Date.now }, () => {})
    followers = open()
    ada = await rules.addCaller("ada")
    bob = await rules.addCaller("bob")
    val = await rules.nouns.vals.create(ada, { code: "1", privacy: "public" })
    leaving = new AbortController()
  })

  afterEach(async () => {
    followers.stop()
    await live.stop()
    await rules[Symbol.asyncDispose]()
  })

  const open = (limits = {}) =>
    new RunFollowers(
      createRuns(rules.stores.runs, rules.nouns.vals, live, rules.clock),
      live,
      rules.stores.runs,
      rules.stores.vals,
      createMemberStore(rules.db),
      { pollMs: 1, ...limits },
    )
  const follow = (id: string, from = 0, as = ada) => followers.follow(as, id, from, leaving.signal)

  function begin(id = rules.clock.newId()): Promise<LiveRun> {
    const about = {
      id,
      valId: val.id,
      version: 1,
      accountId: bob.ownerId,
      ownerId: ada.ownerId,
      parentId: null,
    }
    return live.begin({
      ...about,
      source: "api",
      depth: 0,
      startedAt: Date.now(),
      args: [],
      request: null,
      input: null,
    })
  }

  async function record(more: Partial<RunRecord>): Promise<RunRecord> {
    const about = {
      id: rules.clock.newId(),
      valId: val.id,
      version: 1,
      accountId: bob.ownerId,
      ownerId: ada.ownerId,
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
    const run: RunRecord = {
      ...about,
      ...result,
      source: "api",
      status: "succeeded",
      startedAt: 1,
      endedAt: 2,
      ...more,
    }
    await rules.stores.runs.record([run])
    return run
  }

  /** What is told, one line for each event. */
  const tell = (events: readonly FollowEvent[]) =>
    events.map((event) => (event.kind === "log" ? `${event.index} ${event.line.message}` : event))

  async function tellAll(steps: AsyncGenerator<readonly FollowEvent[]>) {
    return tell((await Array.fromAsync(steps)).flat())
  }

  test("follow ends, and sends nothing more, once a role of the caller has ended", async () => {
    const run = await begin()
    const orgId = rules.clock.newId()
    const removed: Caller = { ...ada, roles: new Map([...ada.roles, [orgId, "viewer"]]) }
    const steps = await follow(run.id, 0, removed)
    run.log(line("secret"))

    expect(await steps.next()).toEqual({ done: true, value: undefined })
    run.finish(succeed)
  })

  test("follow sends existing lines, then new ones, then the end", async () => {
    const run = await begin()
    run.log(line("zero"))
    run.log(line("one"))
    const steps = await follow(run.id)
    expect(tell((await steps.next()).value)).toEqual(["0 zero", "1 one"])
    const next = steps.next()
    run.log(line("two"))
    expect(tell((await next).value)).toEqual(["2 two"])
    run.log(line("three"))
    run.finish(succeed)
    expect(await tellAll(steps)).toEqual(["3 three", end])
  })

  test("follow starts at the given line, also beyond the last one", async () => {
    const run = await record({ logs: [line("zero"), line("one")], logsTruncated: true })
    const cut = { ...end, logsTruncated: true }
    expect(await tellAll(await follow(run.id, 1))).toEqual(["1 one", cut])
    expect(await tellAll(await follow(run.id, 2))).toEqual([cut])
    expect(await tellAll(await follow(run.id, 999_999))).toEqual([cut])
  })

  test("follow sends lines of a run on another node from the database, each once", async () => {
    const run = await record({
      status: "running",
      endedAt: null,
      logs: [line("zero")],
      nodeId: rules.clock.newId(),
    })
    const steps = await follow(run.id)
    expect(tell((await steps.next()).value)).toEqual(["0 zero"])
    const next = steps.next()
    await rules.stores.runs.record([{ ...run, logs: [line("zero"), line("one")] }])
    expect(tell((await next).value)).toEqual(["1 one"])
    await rules.stores.runs.record([
      { ...run, status: "succeeded", endedAt: 9, logs: [line("zero"), line("one"), line("two")] },
    ])
    expect(await tellAll(steps)).toEqual(["2 two", end])
  })

  test("follow ends when its client disconnects, on this node and on another", async () => {
    const here = await begin()
    const elsewhere = await record({ status: "running", endedAt: null })
    const waiting = [(await follow(here.id)).next(), (await follow(elsewhere.id)).next()]
    leaving.abort()
    for (const step of waiting) expect(await step).toEqual({ done: true, value: undefined })
  })

  test("stop ends all followers", async () => {
    const run = await begin()
    const waiting = (await follow(run.id)).next()
    followers.stop()
    expect((await waiting).done).toBe(true)
  })

  test("follow requires access to the run, also while it goes on", async () => {
    const eve = await rules.addCaller("eve")
    const run = await record({ status: "running", endedAt: null, logs: [line("zero")] })
    expect(await codeOf(follow(run.id, 0, eve))).toBe("run_not_found")
    const steps = await follow(run.id, 0, bob)
    expect(tell((await steps.next()).value)).toEqual(["0 zero"])
    await rules.nouns.vals.change(ada, val.id, { privacy: "private" }, undefined)
    expect(await codeOf(steps.next())).toBe("run_not_found")
  })

  test("followAccount begins with open, and ends after its time", async () => {
    followers = open({ accountMsMax: 0 })
    const steps = followers.followAccount(ada, leaving.signal)
    expect(await Array.fromAsync(steps)).toEqual([[{ kind: "open" }]])
  })

  test("followAccount counts the events that a slow client misses", async () => {
    const run = await begin()
    const steps = followers.followAccount(bob, leaving.signal)
    await steps.next()
    for (let count = 0; count < 1_200; count += 1) run.log(line(String(count)))
    const { value: events = [] } = await steps.next()
    expect(events).toHaveLength(1_001)
    expect(events.at(0)).toMatchObject({ kind: "log", runId: run.id, line: line("0") })
    expect(events.at(-1)).toEqual({ kind: "skipped", events: 200 })
    await steps.return(undefined)
  })

  test("followAccount keeps about a million characters for a slow client", async () => {
    const runs = await Promise.all(Array.from({ length: 30 }, () => begin()))
    const steps = followers.followAccount(bob, leaving.signal)
    await steps.next()
    for (const run of runs) run.log(line("x".repeat(49_000)))
    const { value: events = [] } = await steps.next()
    expect(events.at(-1)).toEqual({ kind: "skipped", events: 9 })
    expect(events).toHaveLength(22)
    await steps.return(undefined)
  })

  test("followAccount sends the new lines of runs that went on before, on other nodes", async () => {
    const logs = [line("before")]
    const { id, ...rest } = await record({ status: "running", endedAt: null, logs })
    const steps = followers.followAccount(bob, leaving.signal)
    await steps.next()
    const next = steps.next()
    await rules.stores.runs.record([{ id, ...rest, logs: [...logs, line("after")] }])
    expect((await next).value).toMatchObject([{ kind: "log", runId: id, line: line("after") }])
    await steps.return(undefined)
  })

  test("followAccount sends a run once that waited, and then started on this node", async () => {
    const steps = followers.followAccount(bob, leaving.signal)
    await steps.next()
    const texts: string[] = []
    const readUntil = async (text: string) => {
      while (!texts.includes(text)) {
        const { value: events = [] } = await steps.next()
        for (const event of events) if (event.kind === "log") texts.push(event.line.message)
      }
    }
    // Runs on other nodes. A poll reads runs that started lately, also on a slow machine.
    const startedAt = Date.now() + 60_000
    const { id } = await record({ status: "queued", startedAt, endedAt: null })
    await record({ startedAt, endedAt: startedAt + 1, logs: [line("marker")] })
    await readUntil("marker")
    const run = await begin(id)
    run.log(line("one"))
    run.finish(succeed)
    await readUntil("one")
    await run.settled()
    await record({ startedAt, endedAt: startedAt + 1, logs: [line("second marker")] })
    await readUntil("second marker")
    expect(texts).toEqual(["marker", "one", "second marker"])
    await steps.return(undefined)
  })

  test("follow refuses more followers than its limits until one ends", async () => {
    followers = open({ followersMax: 3, followersPerAccountMax: 2 })
    const run = await begin()
    const start = async (as: Caller) => {
      const steps = await follow(run.id, 0, as)
      return { steps, waiting: steps.next() }
    }
    const first = await start(ada)
    await start(ada)
    expect(await codeOf(start(ada))).toBe("rate_limited")
    await start(bob)
    expect(await codeOf(start(bob))).toBe("rate_limited")
    run.log(line("zero"))
    await first.waiting
    await first.steps.return(undefined)
    await start(bob)
  })
})
