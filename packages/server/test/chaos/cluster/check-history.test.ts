import { describe, expect, test } from "bun:test"
import { checkHistory, stuckMsMax } from "./check-history.ts"
import type { EndedRun, FinalState, Operation } from "./history.ts"

const at = (invokedMs: number, respondedMs = invokedMs + 1) => ({ invokedMs, respondedMs })
const save = (value: string, version: number | undefined, ...times: Parameters<typeof at>) =>
  ({ kind: "save", val: "v", value, version, ...at(...times) }) as const
const read = (value: string, ...times: Parameters<typeof at>) =>
  ({ kind: "read", val: "v", value, ...at(...times) }) as const
const put = (isAcknowledged: boolean, ...times: Parameters<typeof at>) =>
  ({ kind: "put", item: "row 1", isAcknowledged, ...at(...times) }) as const
const get = (isFound: boolean, ...times: Parameters<typeof at>) =>
  ({ kind: "get", item: "row 1", isFound, ...at(...times) }) as const
const enqueue = (run: string | undefined, word = "w1") =>
  ({ kind: "enqueue", word, run, ...at(10) }) as const
const look = (status: string) => ({ kind: "look", run: "r1", status, ...at(20) }) as const
const ended: EndedRun = {
  id: "r1",
  word: "w1",
  status: "succeeded",
  attempt: 1,
  queuedMs: 10,
  endedMs: 20,
}
const scheduled = (word: string): EndedRun => ({ ...ended, id: word, word, status: "failed" })

const nothing: FinalState = {
  versions: new Map(),
  items: [],
  runs: [],
  effects: new Map(),
  dueTimes: [],
  scheduledRuns: [],
  outages: [],
}
const withVersions = (...values: string[]) => ({ versions: new Map([["v", values]]) })
const once = { runs: [ended], effects: new Map([["w1", 1]]) }

/** Histories that are possible, each with its end. */
const right: Readonly<Record<string, readonly [readonly Operation[], Partial<FinalState>]>> = {
  "reads of the newest version, and of either while a save goes on": [
    [save("b", 2, 10, 20), read("a", 11, 15), read("b", 12, 14), read("b", 21)],
    withVersions("a", "b"),
  ],
  "a save without a response, whether it took effect or not": [
    [save("b", undefined, 10), save("c", undefined, 20), save("d", 3, 30), read("d", 40)],
    withVersions("a", "c", "d"),
  ],
  "a save without a response that takes effect later": [
    [save("b", undefined, 10), save("c", 2, 20), read("c", 30), read("b", 40)],
    withVersions("a", "c", "b"),
  ],
  "items that are there, or were not acknowledged": [
    [put(false, 10, 20), get(false, 21), get(true, 30), get(true, 40)],
    { items: ["row 1"] },
  ],
  "a run that succeeded, one without a response, and one that crashed": [
    [enqueue("r1"), look("queued"), look("succeeded"), enqueue(undefined, "w2")],
    { ...once, runs: [ended, { ...ended, id: "r2", word: "w2", status: "crashed" }] },
  ],
  "a run that had to wait for the database": [
    [enqueue("r1")],
    {
      ...once,
      runs: [{ ...ended, endedMs: 10 + stuckMsMax + 5_000 }],
      outages: [{ fromMs: 0, toMs: 5_010 }],
    },
  ],
  "a run with two attempts that both began": [
    [enqueue("r1")],
    { runs: [{ ...ended, attempt: 2 }], effects: new Map([["w1", 2]]) },
  ],
  "due times with a run each": [
    [],
    { dueTimes: ["s 1", "s 2"], scheduledRuns: [scheduled("s 2"), scheduled("s 1")] },
  ],
}

/** Histories that must not happen, with what is wrong. */
const wrong: Readonly<
  Record<string, readonly [readonly Operation[], Partial<FinalState>, readonly string[]]>
> = {
  "an acknowledged save is lost": [
    [save("b", 2, 10)],
    withVersions("a"),
    ["v: the save of b as version 2 is lost"],
  ],
  "another save has taken the version": [
    [save("b", 2, 10), save("c", 2, 10)],
    withVersions("a", "c"),
    ["v: the save of b as version 2 is lost"],
  ],
  "a save has taken effect twice": [
    [save("b", undefined, 10), save("c", 3, 20)],
    withVersions("a", "b", "c", "b"),
    ["v: b was saved twice"],
  ],
  "a version that nobody saved": [
    [],
    withVersions("a", "z"),
    ["v: version 2 is z, which was never saved"],
  ],
  "a stale read after a save": [
    [save("b", 2, 10), read("a", 20)],
    withVersions("a", "b"),
    ["v: a stale read of version 1 although 2 was known before"],
  ],
  "a stale read after a read": [
    [save("b", undefined, 10, 50), read("b", 20), read("a", 30)],
    withVersions("a", "b"),
    ["v: a stale read of version 1 although 2 was known before"],
  ],
  "a read of a value that is lost": [
    [save("b", undefined, 10), read("b", 20)],
    withVersions("a"),
    ["v: b was read and is lost"],
  ],
  "a read of the future": [
    [read("b", 5), save("b", 2, 10)],
    withVersions("a", "b"),
    [
      "v: b was read before it was saved",
      "v: the save of b is version 2 although 2 was known before",
    ],
  ],
  "saves in the wrong order": [
    [save("b", 3, 10), save("c", 2, 20)],
    withVersions("a", "c", "b"),
    ["v: the save of c is version 2 although 3 was known before"],
  ],
  "an acknowledged item is lost": [[put(true, 10)], {}, ["row 1 is lost"]],
  "an item that a client found is lost": [[put(false, 10), get(true, 20)], {}, ["row 1 is lost"]],
  "an item is there twice": [
    [put(true, 10)],
    { items: ["row 1", "row 1"] },
    ["row 1 is there 2 times"],
  ],
  "an item that nobody put": [[], { items: ["row 2"] }, ["row 2 is there and was never put"]],
  "an acknowledged item is not found": [
    [put(true, 10), get(false, 20)],
    { items: ["row 1"] },
    ["a stale read of row 1: it was known before"],
  ],
  "an item is found, then not": [
    [put(false, 10, 50), get(true, 20), get(false, 30)],
    { items: ["row 1"] },
    ["a stale read of row 1: it was known before"],
  ],
  "an acknowledged run is lost": [[enqueue("r1")], {}, ["run r1 of w1 is lost"]],
  "a run has not ended": [
    [enqueue("r1")],
    { ...once, runs: [{ ...ended, status: "running", endedMs: undefined }] },
    ["the run of w1 is running"],
  ],
  "a request has two runs": [
    [enqueue("r1")],
    { ...once, runs: [ended, { ...ended, id: "r2" }] },
    ["w1 has 2 runs"],
  ],
  "a run that nobody queued": [[], once, ["w1 has a run and was never queued"]],
  "a run has run twice": [
    [enqueue("r1")],
    { ...once, effects: new Map([["w1", 2]]) },
    ["w1 has run 2 times in 1 attempts"],
  ],
  "a run succeeded without running": [
    [enqueue("r1")],
    { ...once, effects: new Map() },
    ["w1 succeeded and has not run"],
  ],
  "a run left no record": [
    [enqueue(undefined)],
    { effects: new Map([["w1", 1]]) },
    ["w1 has run without a record"],
  ],
  "a run was stuck": [
    [enqueue("r1")],
    { ...once, runs: [{ ...ended, endedMs: 11 + stuckMsMax }] },
    ["w1 was stuck for 30001 ms (succeeded, attempt 1)"],
  ],
  "a run has two ends": [
    [enqueue("r1"), look("succeeded"), look("crashed")],
    once,
    ["run r1 was crashed and is succeeded"],
  ],
  "a due time has no run, one has two, and a run was not due": [
    [],
    {
      dueTimes: ["s 1", "s 2"],
      scheduledRuns: [scheduled("s 2"), scheduled("s 2"), scheduled("s 3")],
    },
    ["s 1 has 0 runs", "s 2 has 2 runs", "s 3 was not due"],
  ],
  "the run of a due time has run twice, and another is stuck": [
    [],
    {
      dueTimes: ["s 1", "s 2"],
      scheduledRuns: [scheduled("s 1"), { ...scheduled("s 2"), status: "queued" }],
      effects: new Map([["s 1", 2]]),
    },
    ["s 1 has run 2 times in 1 attempts", "the run of s 2 is queued"],
  ],
}

describe("checkHistory", () => {
  test.each(Object.entries(right))("accepts %s", (_, [operations, end]) => {
    expect(checkHistory(operations, { ...nothing, ...end })).toEqual([])
  })

  test.each(Object.entries(wrong))("notices that %s", (_, [operations, end, problems]) => {
    const found = checkHistory(operations, { ...nothing, ...end })
    expect(found.toSorted()).toEqual(problems.toSorted())
  })
})
